/** The agent's own page: everything of it, without any room around. */

import { effect } from "@preact/signals";
import { render, type VNode } from "preact";
import { useState } from "preact/hooks";
import { OwnLine } from "../../net/agent";
import { AgentState } from "../../state/agent";
import { agentRoute, goAgent, parseAgent } from "../../state/agent_route";
import { theme } from "../../state/session";
import { bareAddress } from "../../text/agent";
import { Icon } from "../icons";
import { Logo } from "../sidebar";
import { failed } from "./parts";
import { AgentView, Tabs } from "./views";
import { isNew } from "./you";

const line: OwnLine = new OwnLine({
  onState: (now) => (state.line.value = now),
  onChange: (change) => state.heard(change),
  onOpen: (question) => {
    state.opened();
    if (question !== null) goAgent("questions", question, true);
  },
});
const state = new AgentState(line);

/** A link hands itself over behind `#open=`; it is taken out of the address before anything else. */
function linkIn(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get("open");
}

export function startOwnPage(): void {
  const link = linkIn(location.hash);
  if (parseAgent(location.hash) === null) goAgent("questions", null, true);
  window.addEventListener("hashchange", () => {
    const pasted = linkIn(location.hash);
    if (pasted !== null) {
      goAgent("questions", null, true);
      void line.open(pasted).catch(() => undefined);
    }
  });
  for (const part of ["me", "profile", "spaces"]) state.want(part);
  void line.start(link).catch(() => undefined);
  let greeted = false;
  effect(() => {
    // A new owner begins with the first minute; once is enough.
    if (greeted || state.profile.value === null) return;
    greeted = true;
    if (isNew(state.profile.value) && agentRoute.peek()?.view === "questions" && agentRoute.peek()?.detail === null) goAgent("you", null, true);
  });
  effect(() => {
    const waiting = state.waiting.value;
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}Your agent · Tacit`;
  });
  render(<OwnPage />, document.getElementById("app")!);
}

function OwnPage(): VNode {
  const at = agentRoute.value ?? { view: "questions" as const, detail: null };
  const now = state.line.value;
  const known = state.questions.value !== null;
  if (now === "denied" && !known) return <SignIn />;
  const me = state.me.value;
  return (
    <div class="own">
      <header class="head own-head">
        <Logo size={28} />
        <div class="head-title">
          <h1>Your agent</h1>
          <p class="soft">{me ? bareAddress(String(me.address)) : "\u00a0"}</p>
        </div>
        <Tabs state={state} at={at} />
        <button
          type="button"
          class="tool"
          aria-label={`Colours: ${theme.value}`}
          title="Light, dark, or as the system"
          onClick={() => (theme.value = theme.peek() === "system" ? "light" : theme.peek() === "light" ? "dark" : "system")}
        >
          <Icon name={theme.value === "system" ? "system" : theme.value === "light" ? "sun" : "moon"} />
        </button>
      </header>
      {now === "waiting" && (
        <p class="away" role="status">
          Your agent does not answer. Is <code>tacit agent run</code> still running? This page comes back by itself.
        </p>
      )}
      {now === "denied" && <Again />}
      <main id="main" class="own-main" tabIndex={-1}>
        <AgentView state={state} at={at} />
      </main>
    </div>
  );
}

/** The agent was started anew while this page was open: what was being typed stays, and a link brings it back. */
function Again(): VNode {
  return (
    <div class="away" role="alert">
      <p>
        Your agent was started anew, so this page has to be let in again. What you were writing is kept. Open the link that <code>tacit agent page</code> prints in this browser, or paste it here:
      </p>
      <LinkForm />
    </div>
  );
}

/** The address of a link to another page than this one: its secret is for that page alone. */
function otherPage(given: string, origin: string): string | null {
  if (!given.includes("/") || given.startsWith("/")) return null;
  const whole = /^https?:/i.test(given) ? given : `http://${given}`;
  const found = URL.canParse(whole) ? new URL(whole) : null;
  return found === null || found.origin === origin ? null : found.href;
}

function LinkForm(): VNode {
  const [fault, setFault] = useState("");
  return (
    <form
      class="link-form"
      onSubmit={(event) => {
        event.preventDefault();
        const given = String(new FormData(event.currentTarget).get("link") ?? "").trim();
        const elsewhere = otherPage(given, location.origin);
        if (elsewhere !== null) {
          location.href = elsewhere;
          return;
        }
        const bare = given.split("/q/").at(-1)!.split("#open=").at(-1)!;
        line.open(bare).catch((error: unknown) => setFault(failed(error)));
      }}
    >
      <input name="link" type="password" autocomplete="off" aria-label="The link that the terminal printed" placeholder="http://127.0.0.1:…/q/…" required />
      <button type="submit" class="primary">
        Let me in
      </button>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </form>
  );
}

function SignIn(): VNode {
  return (
    <main class="sign-in">
      <Logo size={52} />
      <h1>Your agent</h1>
      <p>
        It lets in whoever comes with a link from its own terminal. Each link works once: <code>tacit agent page</code> prints a new one.
      </p>
      <LinkForm />
    </main>
  );
}
