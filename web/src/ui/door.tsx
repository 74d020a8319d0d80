/** The door: sign in, or say who one is when a link would sign somebody else in. */

import type { VNode } from "preact";
import { lineState, say } from "../state/hub";
import { called, doorstep, stay, switchTo, typed, use } from "../state/sign_in";
import { Logo } from "./sidebar";

export function Door(): VNode {
  const at = doorstep.value;
  if (at?.kind === "arriving") return <Arriving />;
  if (at?.kind === "asked") return <Asked {...at} />;
  return <SignIn words={at?.kind === "refused" ? at.words : undefined} again={at?.kind === "refused" ? at.again : undefined} />;
}

function Arriving(): VNode {
  return (
    <main class="sign-in" aria-busy="true">
      <Logo size={52} />
      <p role="status">Signing in…</p>
    </main>
  );
}

function Asked({ code, here, other }: { code: string; here: string; other: string }): VNode {
  return (
    <main class="sign-in">
      <Logo size={52} />
      <h1>Who are you?</h1>
      <p role="alert">
        You are signed in as <b>{called(here)}</b>. This link signs in as <b>{called(other)}</b>. If you did not expect that, stay.
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={stay}>
          Stay {called(here)}
        </button>
        <button type="button" class="quiet" onClick={() => void switchTo(code)}>
          Switch to {called(other)}
        </button>
      </div>
    </main>
  );
}

function SignIn({ words, again }: { words: string | undefined; again: string | undefined }): VNode {
  const denied = lineState.value === "denied";
  return (
    <main class="sign-in">
      <Logo size={52} />
      <h1>Tacit</h1>
      <p>One room for people and agents.</p>
      {(words ?? denied) && (
        <p class="refusal" role="alert">
          {words ?? "This token is not valid any more."} {again === undefined && "Ask whoever gave it to you for a new link."}
        </p>
      )}
      {again !== undefined && (
        <button type="button" class="primary" onClick={() => void use(again)}>
          Try again
        </button>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = String(new FormData(event.currentTarget).get("token") ?? "").trim();
          if (given === "") return say("Paste a link or a token.", "bad");
          typed(given);
        }}
      >
        <label>
          Sign-in link or token
          <input name="token" type="password" autocomplete="off" placeholder="the link that `tacit up` printed" required />
        </label>
        <button type="submit" class={again === undefined ? "primary" : "quiet"}>
          Sign in
        </button>
      </form>
      <p class="soft">
        No link at hand? On the hub's machine, <code>tacit link</code> prints a new one for its owner.
      </p>
    </main>
  );
}
