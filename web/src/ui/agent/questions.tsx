/** What waits for the owner: the cards, what has happened, hints, and a place to ask for something. */

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import { agentAddress, goAgent } from "../../state/agent_route";
import { bareAddress, namesOf, plain } from "../../text/agent";
import { agoOf, fullOf } from "../../text/time";
import { Icon } from "../icons";
import { Card, Gone } from "./cards";
import { failed, Long } from "./parts";

export function Questions({ state, at }: { state: AgentState; at: string | null }): VNode {
  useEffect(() => {
    void state.look("notices");
    void state.look("hints");
  }, [state]);
  const open = state.questions.value;
  useLayoutEffect(() => {
    if (at !== null && open !== null) document.getElementById(`card-${at}`)?.focus();
  }, [at, open === null]);
  // The one that a link named comes first.
  const cards = open === null ? [] : at === null ? open : open.toSorted((a, b) => Number(b.question_id === at) - Number(a.question_id === at));
  return (
    <div class="page agent-page">
      <AskBox state={state} />
      <Hints state={state} />
      <section aria-label="Waiting for you" aria-busy={open === null}>
        <div class="page-head">
          <h2>{open === null ? "Waiting for you" : open.length === 0 ? "Nothing waits for you" : open.length === 1 ? "One thing waits for you" : `${open.length} things wait for you`}</h2>
        </div>
        {state.closed.value.map((closed) => (
          <Gone key={closed.question.question_id} state={state} closed={closed} />
        ))}
        {open !== null && at !== null && !open.some((one) => one.question_id === at) && !state.closed.value.some((one) => one.question.question_id === at) && (
          <p class="gone" role="status">
            <Icon name="check" size={16} />
            <span>The question of this link is answered, or no longer open.</span>
          </p>
        )}
        <Long of={cards} first={6} label="Questions">
          {(one) => (
            <li key={one.question_id}>
              <Card state={state} one={one} />
            </li>
          )}
        </Long>
        {open?.length === 0 && <p class="soft calm">Your agent goes on by itself and asks when it needs you.</p>}
      </section>
      <Notices state={state} />
    </div>
  );
}

export function AskBox({ state }: { state: AgentState }): VNode | null {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const [to, setTo] = useState("");
  const [who, setWho] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (who) void state.look("contacts");
  }, [who]);
  if (!state.offers("ask")) return null;
  const ask = () => {
    if (text.trim() === "" || busy) return;
    setBusy(true);
    setFault("");
    state
      .ask(text.trim(), to)
      .then(() => {
        setText("");
        setTo("");
        setWho(false);
        void state.look("threads");
      })
      .catch((error: unknown) => {
        setFault(failed(error));
        if ((error as { code?: string }).code === "who" || failed(error).includes("with whom")) setWho(true);
        field.current?.focus();
      })
      .finally(() => setBusy(false));
  };
  const people = (state.contacts.value ?? []).filter((one) => one.welcome && !one.blocked);
  return (
    <form
      class="ask-box"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <label class="hidden" for="ask-text">
        What should your agent arrange?
      </label>
      <div class="field">
        <Icon name="spark" />
        <input id="ask-text" ref={field} value={text} maxLength={2000} placeholder="Dinner with Ben on Friday evening" autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
        {who && (
          <select aria-label="With whom" value={to} onChange={(event) => setTo(event.currentTarget.value)}>
            <option value="">with whom?</option>
            {people.map((one) => (
              <option key={one.address} value={one.address}>
                {one.label || bareAddress(one.address)}
              </option>
            ))}
          </select>
        )}
        <button type="submit" class="primary" disabled={busy || text.trim() === ""}>
          Arrange it
        </button>
      </div>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {capital(fault)}
        </p>
      )}
    </form>
  );
}

const capital = (text: string): string => (text === "" ? "" : text[0]!.toUpperCase() + text.slice(1));

function Hints({ state }: { state: AgentState }): VNode | null {
  const due = state.hints.value;
  if (due.length === 0) return null;
  const seen = (name: string) => {
    state.hints.value = state.hints.peek().filter((one) => one.hint !== name);
    void state.call("seen", { hint: name }).catch(() => undefined);
  };
  return (
    <ul class="hints" aria-label="Good to know">
      {due.map((one) => (
        <li key={one.hint}>
          <p>{plain(one.text, 600)}</p>
          <button type="button" class="quiet small" onClick={() => seen(one.hint)}>
            Understood
          </button>
        </li>
      ))}
    </ul>
  );
}

function Notices({ state }: { state: AgentState }): VNode | null {
  const told = state.notices.value ?? [];
  if (told.length === 0) return null;
  const subjects = new Map((state.threads.value ?? []).map((one) => [one.thread_id, one]));
  return (
    <section class="happened" aria-label="What has happened">
      <div class="page-head">
        <h2>What has happened</h2>
      </div>
      <Long of={told} first={8} label="Notices">
        {(one) => {
          const about = subjects.get(one.thread_id);
          return (
            <li key={one.thread_id + one.code + one.at}>
              <a href={agentAddress("threads", one.thread_id)} onClick={() => goAgent("threads", one.thread_id)}>
                {about ? (
                  <>
                    <bdi>{plain(about.summary, 80)}</bdi> with {namesOf(about.group?.part === "hub" ? about.group.others : [about.with])}
                  </>
                ) : (
                  "A thread"
                )}
              </a>{" "}
              {plain(one.text)}{" "}
              <time class="soft" dateTime={one.at} title={fullOf(one.at)}>
                {agoOf(one.at)}
              </time>
            </li>
          );
        }}
      </Long>
    </section>
  );
}
