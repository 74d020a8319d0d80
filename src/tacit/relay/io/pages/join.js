"use strict";
// Talks to the relay's account endpoints; the private half of a passkey never leaves the authenticator.
const $ = (id) => document.getElementById(id);
let registration = "";

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.message);
  return value;
}

function say(message) { $("status").textContent = message; }

function step(id, work) {
  const element = $(id);
  element.addEventListener(element.tagName === "FORM" ? "submit" : "click", async (event) => {
    event.preventDefault();
    say("");
    try { await work(); } catch (error) { say(error.message || "That did not work."); }
  });
}

function credentialJson(credential, fields) {
  const response = {};
  for (const name of fields) if (credential.response[name]) response[name] = text(credential.response[name]);
  return { id: credential.id, rawId: text(credential.rawId), type: credential.type, response };
}

function signedIn(address) {
  $("address").textContent = address;
  $("enrol").hidden = false;
  say("You are signed in.");
}

step("begin", async () => {
  const answer = await post("/v1/accounts", { username: $("username").value, email: $("email").value });
  registration = answer.registration;
  $("confirm").hidden = false;
  $("code").focus();
  say("A code is on its way to your mailbox.");
});

step("confirm", async () => {
  const options = await post("/v1/accounts/confirm", { registration, code: $("code").value });
  options.challenge = bytes(options.challenge);
  options.user.id = bytes(options.user.id);
  options.excludeCredentials = (options.excludeCredentials || []).map((one) => ({ ...one, id: bytes(one.id) }));
  const credential = await navigator.credentials.create({ publicKey: options });
  const answer = await post("/v1/accounts/passkey", {
    registration, credential: credentialJson(credential, ["clientDataJSON", "attestationObject"]),
  });
  signedIn(answer.address);
});

step("login", async () => {
  const { login, options } = await post("/v1/sessions/options", {});
  options.challenge = bytes(options.challenge);
  options.allowCredentials = (options.allowCredentials || []).map((one) => ({ ...one, id: bytes(one.id) }));
  const credential = await navigator.credentials.get({ publicKey: options });
  const answer = await post("/v1/sessions", {
    login,
    credential: credentialJson(credential, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]),
  });
  signedIn(answer.address);
});

step("new-code", async () => {
  const answer = await post("/v1/enrolment-codes", {});
  $("command").textContent = `tacit agent register ${answer.address.replace("agent:", "")} --relay ${location.origin} --code ${answer.code}`;
  $("code-line").hidden = false;
});
