/** The door: sign in, or say who one is when a link would sign somebody else in. */

import type { VNode } from "preact";
import type { Who } from "../net/socket";
import { say, signIns } from "../state/hub";
import { called, calledAll, canStayBeside, come, doorstep, type Invited, stay, switchTo, typed, use } from "../state/sign_in";
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

function Asked({ code, here, other }: { code: string; here: Who[]; other: Invited }): VNode {
  const [mine, theirs] = [calledAll(here), called(other.principal)];
  const where = other.group_id === null ? "" : (other.title ?? "another room");
  return (
    <main class="sign-in">
      <Logo size={52} />
      <h1>Who are you?</h1>
      <p role="alert">
        You are signed in as <b>{mine}</b>. This link signs in as <b>{theirs}</b>
        {where && (
          <>
            {" "}
            in <b>{where}</b>
          </>
        )}
        . If you did not expect that, stay.
      </p>
      <div class="ways">
        <button type="button" class="primary" onClick={stay}>
          Stay {mine}
        </button>
        {canStayBeside(here, other) && (
          <button type="button" class="quiet" onClick={() => void come(code, other)}>
            Be {theirs} too
            <span class="soft">{where ? `You speak as ${theirs} in ${where}, and elsewhere as ${mine}.` : `You speak as ${mine} where you are, and elsewhere as ${theirs}.`}</span>
          </button>
        )}
        <button type="button" class="quiet" onClick={() => void switchTo(code, other)}>
          Switch to {theirs}
          <span class="soft">This browser forgets {mine}.</span>
        </button>
      </div>
    </main>
  );
}

function SignIn({ words, again }: { words: string | undefined; again: string | undefined }): VNode {
  const denied = signIns.value.some((one) => one.hasEnded);
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
