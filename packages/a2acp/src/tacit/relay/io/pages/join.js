"use strict";
// Talks to the relay's account endpoints; the private half of a passkey never leaves the authenticator.
const $ = (id) => document.getElementById(id);
let registration = "";

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

async function ask(method, path, body) {
  const answer = await fetch(path, {
    method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body),
  });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.message);
  return value;
}
const post = (path, body) => ask("POST", path, body);

function say(message) { $("status").textContent = message; }

function step(id, work) {
  const element = $(id);
  element.addEventListener(element.tagName === "FORM" ? "submit" : "click", async (event) => {
    event.preventDefault();
    await attempt(work);
  });
}

async function attempt(work) {
  say("");
  try { await work(); } catch (error) { say(error.message || "That did not work."); }
}

function credentialJson(credential, fields) {
  const response = {};
  for (const name of fields) if (credential.response[name]) response[name] = text(credential.response[name]);
  return { id: credential.id, rawId: text(credential.rawId), type: credential.type, response };
}

async function created(options) {
  options.challenge = bytes(options.challenge);
  options.user.id = bytes(options.user.id);
  options.excludeCredentials = (options.excludeCredentials || []).map((one) => ({ ...one, id: bytes(one.id) }));
  const credential = await navigator.credentials.create({ publicKey: options });
  return credentialJson(credential, ["clientDataJSON", "attestationObject"]);
}

function entry(title, detail, action) {
  const item = document.createElement("li"), words = document.createElement("span");
  const small = document.createElement("small");
  words.textContent = title;
  small.textContent = detail;
  words.append(small);
  item.append(words);
  if (action) item.append(action);
  return item;
}

const when = (moment) => moment ? new Date(moment).toLocaleString() : "";

function revoking(passkey) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Revoke";
  button.dataset.passkey = passkey.id;
  button.setAttribute("aria-label", `Revoke the passkey made ${when(passkey.made_at) || "earlier"}`);
  button.addEventListener("click", () => attempt(async () => {
    await ask("DELETE", `/v1/account/passkeys/${passkey.id}`);
    await showAccount();
    say("The passkey opens nothing any more.");
  }));
  return button;
}

async function showAccount() {
  const account = await ask("GET", "/v1/account");
  const several = account.passkeys.length > 1;
  $("passkeys").replaceChildren(...account.passkeys.map((one) => entry(
    `Made ${when(one.made_at) || "earlier"}${one.present ? ", used for this session" : ""}`,
    one.used_at ? `last used ${when(one.used_at)}` : "not used to sign in yet", several && revoking(one),
  )));
  $("sessions").replaceChildren(...account.sessions.map((one) => entry(
    `Since ${when(one.began_at)}${one.present ? ", this one" : ""}`,
    `${one.passkey ? "" : "by a recovery, "}until ${when(one.expires_at)}`,
  )));
  $("end-others").hidden = account.sessions.length < 2;
  $("recovery").hidden = !account.recovery;
  if (account.recovery) $("recovery-opens").textContent = when(account.recovery.opens_at);
  $("address").textContent = account.address;
  for (const id of ["enrol", "account"]) $(id).hidden = false;
  for (const id of ["new", "known", "lost"]) $(id).hidden = true;
}

async function signedIn() {
  await showAccount();
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
  await post("/v1/accounts/passkey", { registration, credential: await created(options) });
  await signedIn();
});

step("login", async () => {
  const { login, options } = await post("/v1/sessions/options", {});
  options.challenge = bytes(options.challenge);
  options.allowCredentials = (options.allowCredentials || []).map((one) => ({ ...one, id: bytes(one.id) }));
  const credential = await navigator.credentials.get({ publicKey: options });
  await post("/v1/sessions", {
    login,
    credential: credentialJson(credential, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]),
  });
  await signedIn();
});

step("recover", async () => {
  const answer = await post("/v1/accounts/recovery", { username: $("lost-username").value, email: $("lost-email").value });
  say(`${answer.status[0].toUpperCase()}${answer.status.slice(1)}.`);
});

step("recovered", async () => {
  await post("/v1/accounts/recovery/confirm", { code: $("recovery-code").value });
  await showAccount();
  say("You are signed in by a recovery. Add a passkey now, and revoke the one you have lost.");
});

step("add-passkey", async () => {
  const { login, options } = await post("/v1/passkeys/options", {});
  await post("/v1/passkeys", { login, credential: await created(options) });
  await showAccount();
  say("The passkey is added.");
});

step("cancel-recovery", async () => {
  await ask("DELETE", "/v1/account/recovery");
  await showAccount();
  say("The recovery is cancelled; its code is worth nothing.");
});

step("end-others", async () => {
  await ask("DELETE", "/v1/account/sessions");
  await showAccount();
  say("All other sessions are over.");
});

step("sign-out", async () => {
  await ask("DELETE", "/v1/account/session");
  for (const id of ["enrol", "account"]) $(id).hidden = true;
  for (const id of ["new", "known", "lost"]) $(id).hidden = false;
  say("You are signed out.");
});

step("new-code", async () => {
  const answer = await post("/v1/enrolment-codes", {});
  $("command").textContent = `tacit agent register ${answer.address.replace("agent:", "")} --relay ${location.origin} --code ${answer.code}`;
  $("code-line").hidden = false;
  $("reset-line").hidden = !answer.may_reset;
});
