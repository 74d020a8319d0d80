/** People without an agent: asked by a link that its owner sends, every answer with where it came from and whether it counts. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import type { Guest, GuestAnswer, GuestLine, ReadReply } from "../../net/agent_operations";
import { own, plain } from "../../text/agent";
import { Icon } from "../icons";
import { Empty, Face, failed, Said } from "./parts";

const STATES: Record<string, { text: string; tone: string }> = {
  waiting: { text: "not at the relay yet", tone: "asks" },
  open: { text: "open", tone: "still" },
  revoked: { text: "taken back", tone: "bad" },
  over: { text: "over", tone: "still" },
};
const CHOICES: Record<string, { text: string; tone: string }> = {
  confirm: { text: "said yes", tone: "good" },
  decline: { text: "said no", tone: "bad" },
  suggest: { text: "suggests something else", tone: "asks" },
  words: { text: "answered", tone: "good" },
};

export function Guests({ state }: { state: AgentState }): VNode | null {
  useEffect(() => void state.look("guests"), [state]);
  const [open, setOpen] = useState<string | null>(null);
  if (!state.offers("guests")) return null;
  const all = state.guests.value;
  return (
    <section class="guests" aria-label="People without an agent">
      <div class="page-head">
        <h2>People without an agent</h2>
      </div>
      <Ask state={state} asked={setOpen} />
      {all?.length === 0 && <Empty>Whoever has no agent can be asked by a link: they tap an answer and need no account. Your agent remembers nothing of them.</Empty>}
      <ul class="long" aria-label="Guests">
        {(all ?? []).map((one) => (
          <li key={one.guest_id}>
            <button type="button" class="thread-row" aria-expanded={open === one.guest_id} onClick={() => setOpen(open === one.guest_id ? null : one.guest_id)}>
              <Face address={plain(one.name, 80) || "Somebody"} />
              <span class="thread-what">
                <b>{plain(one.name, 80) || "Somebody"}</b>
                <span class="soft">{plain(one.summary)}</span>
              </span>
              {one.counts !== null && <Tag of={own(CHOICES, one.counts)} />}
              <Tag of={own(STATES, one.state)} />
            </button>
            {open === one.guest_id && <Detail state={state} one={one} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Tag({ of: found }: { of: { text: string; tone: string } | undefined }): VNode | null {
  return found === undefined ? null : <span class={`state-tag ${found.tone}`}>{found.text}</span>;
}

function Ask({ state, asked }: { state: AgentState; asked: (guest: string) => void }): VNode {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const ask = () =>
    state.call("guest_ask", { name: name.trim(), text: text.trim() }).then(
      (made) => {
        setName("");
        setText("");
        setFault("");
        void state.look("guests").then(() => asked(made.guest_id));
      },
      (error: unknown) => setFault(failed(error)),
    );
  return (
    <form
      class="ask-box guest-ask"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <div class="field">
        <Icon name="people" />
        <input aria-label="Who is asked" value={name} maxLength={80} placeholder="Who? Grandma" autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
        <input aria-label="What to ask" value={text} maxLength={1500} placeholder="What? Lunch on Sunday at 12:30 at ours?" autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
        <button type="submit" class="primary" disabled={name.trim() === "" || text.trim() === ""}>
          Make a link
        </button>
      </div>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </form>
  );
}

function Detail({ state, one }: { state: AgentState; one: GuestLine }): VNode {
  const [found, setFound] = useState<Guest | null>(null);
  const [fault, setFault] = useState("");
  const [sure, setSure] = useState(false);
  const [copied, setCopied] = useState(false);
  const ask = (command: "guest" | "guest_revoke") =>
    state.call(command, { guest_id: one.guest_id }).then(
      (now) => {
        setFound(now);
        setFault("");
        // An answer that comes meanwhile must not take the button away under somebody's finger.
        if (command === "guest_revoke") setSure(false);
      },
      (error: unknown) => setFault(failed(error)),
    );
  // Again when an answer has come.
  useEffect(() => void ask("guest"), [one.guest_id, one.state, one.answers.length]);
  const now: GuestLine & Partial<Guest> = found ?? one;
  const name = plain(now.name, 80) || "They";
  return (
    <div class="contact-detail">
      {now.answers.map((answer, place) => (
        <Answer key={place} name={name} one={answer} />
      ))}
      {now.text && (
        <>
          <p class="fine">Send these words, by mail or however you write to {name}. Whoever has the link can answer; take it back if it went astray.</p>
          <pre class="guest-text">{now.text}</pre>
        </>
      )}
      <div class="ask-choices">
        {now.text && (
          <button
            type="button"
            class="primary"
            onClick={() =>
              void navigator.clipboard?.writeText(now.text ?? "").then(() => {
                setCopied(true);
                setTimeout(() => setCopied(false), 2000);
              })
            }
          >
            {copied ? "Copied" : "Copy the text"}
          </button>
        )}
        {now.state !== "revoked" &&
          (sure ? (
            <button type="button" class="danger" onClick={() => void ask("guest_revoke")}>
              Take it back: no answer by it counts
            </button>
          ) : (
            <button type="button" class="quiet no" onClick={() => setSure(true)}>
              Take it back…
            </button>
          ))}
      </div>
      <Paste state={state} guest={one.guest_id} kept={() => void ask("guest")} />
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

function Answer({ name, one }: { name: string; one: GuestAnswer }): VNode {
  const words = [...one.answers, one.suggestion ?? ""].filter((text) => text !== "");
  return (
    <div class="guest-answer">
      <p class="guest-choice">
        {one.readable ? <Tag of={own(CHOICES, one.choice ?? "words")} /> : <span class="state-tag bad">cannot be read</span>}{" "}
        <span class="fine">
          {one.source === "link" ? "by the link" : "as you told it"}, {one.counts ? "counts" : "counts for nothing"}
        </span>
      </p>
      {words.map((text, place) => (
        <Said key={place} by={one.source === "link" ? `Whoever had ${name}'s link` : name} text={text} quiet />
      ))}
    </div>
  );
}

/** A reply that came another way: shown as it is read, and kept when its owner says so. */
function Paste({ state, guest, kept }: { state: AgentState; guest: string; kept: () => void }): VNode {
  const [text, setText] = useState("");
  const [read, setRead] = useState<ReadReply | null>(null);
  const [fault, setFault] = useState("");
  const send = (keep: boolean) =>
    state.call("guest_paste", { guest_id: guest, text, keep, ...(keep && read ? { choice: read.choice, suggestion: read.suggestion } : {}) }).then(
      (found) => {
        setFault("");
        setRead(keep ? null : found);
        if (keep) {
          setText("");
          kept();
        }
      },
      (error: unknown) => setFault(failed(error)),
    );
  return (
    <form
      class="unfolded"
      onSubmit={(event) => {
        event.preventDefault();
        void send(read !== null);
      }}
    >
      <input aria-label="Their reply, pasted" value={text} maxLength={4000} placeholder="They replied another way? Paste it here." onInput={(event) => (setText(event.currentTarget.value), setRead(null))} />
      {read !== null && (
        <label>
          What it says
          <select value={read.choice} onChange={(event) => setRead({ ...read, choice: event.currentTarget.value, suggestion: event.currentTarget.value === "suggest" ? text : "" })}>
            <option value="">in words only</option>
            <option value="confirm">yes</option>
            <option value="decline">no</option>
            <option value="suggest">something else is suggested</option>
          </select>
        </label>
      )}
      <button type="submit" class="quiet" disabled={text.trim() === ""}>
        {read === null ? "Read it" : "Yes, keep it so"}
      </button>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </form>
  );
}
