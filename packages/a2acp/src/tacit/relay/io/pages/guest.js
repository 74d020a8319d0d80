// Opens a sealed question with the key behind the # and seals the answer (A2ACP-276). Written for old phones: no
// library, nothing from elsewhere, nothing kept. Words of the question are only ever set as text.
(function () {
  "use strict";

  var STEP = 2048;
  var MOST = 4 * STEP;
  var guest = location.pathname.split("/").pop();
  var secret = unb64(location.hash.slice(1));
  var keys = null;
  var question = null;

  function at(id) {
    return document.getElementById(id);
  }

  function show(id, visible) {
    at(id).hidden = !visible;
  }

  function say(text, trouble) {
    at("status").textContent = text;
    at("status").className = trouble ? "trouble" : "";
  }

  function unb64(text) {
    try {
      var raw = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
      var found = new Uint8Array(raw.length);
      for (var i = 0; i < raw.length; i++) found[i] = raw.charCodeAt(i);
      return found;
    } catch (error) {
      return new Uint8Array(0);
    }
  }

  function b64(bytes) {
    var raw = "";
    for (var i = 0; i < bytes.length; i++) raw += String.fromCharCode(bytes[i]);
    return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function utf8(text) {
    return new TextEncoder().encode(text);
  }

  function bound(direction) {
    return utf8("tacit-guest-v1\n" + guest + "\n" + direction);
  }

  function derive() {
    var subtle = crypto.subtle;
    return subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]).then(function (root) {
      function bits(label) {
        var how = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: utf8(label) };
        return subtle.deriveBits(how, root, 256);
      }
      return Promise.all([bits("tacit-guest-key-v1"), bits("tacit-guest-proof-v1")]).then(function (made) {
        return subtle.importKey("raw", made[0], "AES-GCM", false, ["encrypt", "decrypt"]).then(function (key) {
          return { key: key, proof: b64(new Uint8Array(made[1])) };
        });
      });
    });
  }

  function post(what, body) {
    body.proof = keys.proof;
    return fetch("/v1/guests/" + guest + "/" + what, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      credentials: "omit",
      body: JSON.stringify(body),
    }).then(function (response) {
      return response.json().then(function (found) {
        if (!response.ok) throw new Error(found.code || "refused");
        return found;
      });
    });
  }

  function unseal(sealed) {
    var how = { name: "AES-GCM", iv: sealed.subarray(0, 12), additionalData: bound("question") };
    return crypto.subtle.decrypt(how, keys.key, sealed.subarray(12)).then(function (opened) {
      return JSON.parse(new TextDecoder().decode(opened));
    });
  }

  function seal(text) {
    var bytes = utf8(text);
    var length = Math.ceil(bytes.length / STEP) * STEP;
    if (length > MOST) return Promise.reject(new Error("too_large"));
    var filled = new Uint8Array(length).fill(32);
    filled.set(bytes);
    var nonce = crypto.getRandomValues(new Uint8Array(12));
    var how = { name: "AES-GCM", iv: nonce, additionalData: bound("answer") };
    return crypto.subtle.encrypt(how, keys.key, filled).then(function (body) {
      var sealed = new Uint8Array(12 + body.byteLength);
      sealed.set(nonce);
      sealed.set(new Uint8Array(body), 12);
      return b64(sealed);
    });
  }

  function draw(found) {
    question = found;
    var title = (found.to ? found.to + ", " : "") + (found.from || "somebody you know") + " asks you";
    at("title").textContent = title.charAt(0).toUpperCase() + title.slice(1);
    at("text").textContent = found.text;
    (found.facts || []).forEach(function (one) {
      var item = document.createElement("li");
      item.textContent = one.label + ": " + one.text;
      at("facts").appendChild(item);
    });
    show("facts", (found.facts || []).length > 0);
    if (found.proposal) {
      at("summary").textContent = found.proposal.summary;
      at("when").textContent = found.proposal.when;
      at("place").textContent = found.proposal.place || "";
      show("proposal", true);
    }
    (found.questions || []).forEach(function (text, place) {
      var label = document.createElement("label");
      label.htmlFor = "q" + place;
      label.textContent = text;
      var field = document.createElement("textarea");
      field.id = "q" + place;
      field.rows = 2;
      field.maxLength = 500;
      at("questions").appendChild(label);
      at("questions").appendChild(field);
    });
    // Open questions alone are answered in words; anything else with yes, no or another suggestion.
    show("choices", !!found.proposal || !(found.questions || []).length);
    if (found.until_text) at("until").textContent = "The link ends on " + found.until_text + ". ";
    say("");
    show("asked", true);
  }

  function chosen() {
    var found = document.querySelector("input[name=choice]:checked");
    return found ? found.value : "";
  }

  function answers() {
    return (question.questions || []).map(function (_, place) {
      return at("q" + place).value.trim();
    });
  }

  function send(event) {
    event.preventDefault();
    var choice = chosen();
    var said = answers();
    var suggestion = choice === "suggest" ? at("suggestion").value.trim() : "";
    if (choice === "suggest" && !suggestion) {
      say("Please write what would suit you.", true);
      at("suggestion").focus();
      return;
    }
    if (!choice && !said.some(Boolean)) {
      say("Please answer first.", true);
      return;
    }
    at("send").disabled = true;
    say("Sending…");
    var body = JSON.stringify({ v: 1, choice: choice, answers: said, suggestion: suggestion });
    seal(body)
      .then(function (sealed) {
        return post("answers", { answer: sealed });
      })
      .then(
        function (found) {
          sent(choice, found.left);
        },
        function (error) {
          at("send").disabled = false;
          say(WHY[error.message] || "This could not be sent. Is the telephone online? Please try again.", true);
        },
      );
  }

  var WHY = {
    too_large: "This is too long. Please write a little less.",
    too_many_answers: "This link has had all the answers it takes. Please answer directly.",
    rate_limited: "Too many tries at once. Please wait a minute and send again.",
    not_found: "This link is no longer open: it has run out, or was taken back.",
  };

  function sent(choice, left) {
    say("");
    show("asked", false);
    var who = question.from || "Whoever asked you";
    at("done-text").textContent = who + " will see it: " + WORDS[choice] + ".";
    var offered = choice === "confirm" && typeof question.ics === "string" && question.ics !== "";
    if (offered) at("ics").href = URL.createObjectURL(new Blob([question.ics], { type: "text/calendar" }));
    show("ics", offered);
    show("again", left > 0);
    show("done", true);
    at("done-heading").focus();
  }

  var WORDS = {
    confirm: "you said yes",
    decline: "you said no",
    suggest: "you suggested something else",
    "": "what you wrote",
  };

  at("relay").textContent = location.host;
  at("asked").addEventListener("submit", send);
  at("asked").addEventListener("change", function () {
    show("other", chosen() === "suggest");
    say("");
  });
  at("again").addEventListener("click", function () {
    at("send").disabled = false;
    show("done", false);
    show("asked", true);
  });
  // Another link opened in the same tab differs only behind the #.
  window.addEventListener("hashchange", function () {
    location.reload();
  });
  if (!window.crypto || !crypto.subtle || !window.fetch || !window.TextDecoder) {
    say("This browser is too old to unlock the question. Please answer the person who sent you the link directly.", true);
  } else if (secret.length !== 32) {
    say("This link is not whole: the part behind the # is missing. Please open it exactly as you got it.", true);
  } else {
    derive()
      .then(function (made) {
        keys = made;
        return post("question", {});
      })
      .then(function (found) {
        return unseal(unb64(found.question));
      })
      .then(draw)
      .catch(function (error) {
        say(WHY[error.message] || "This link could not be opened. Please try again, or answer directly.", true);
      });
  }
})();
