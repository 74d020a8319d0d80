/** What the agent remembers of somebody, to be corrected or forgotten; and what somebody knows of its owner. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CachedValue, Known, Memory } from "../../net/agent_operations";
import type { AgentState } from "../../state/agent";
import { agentAddress } from "../../state/agent_route";
import { fieldName, fieldValue, nameIn, own, plain, theirField, valueText } from "../../text/agent";
import { onDay } from "../../text/time";
import { failed } from "./parts";

/** One remembered value: its date and source beside it, a correction and a way to have it forgotten under it. */
function Value({ name, key_, one, correct, forget }: { name: string; key_: string; one: CachedValue; correct: (key: string, value: string) => void; forget: (key: string) => void }): VNode {
  const [draft, setDraft] = useState<string | null>(null);
  const by = one.source === "owner" ? "you noted it" : `${name} told it`;
  const what = theirField(key_);
  return (
    <div>
      <dt>{what}</dt>
      <dd>
        {draft === null ? (
          <>
            <bdi class="value">{fieldValue(key_, one.value)}</bdi>
            <p class="fine">
              {by}, {valueText(one.last_updated, 20)}
              {one.confidence === "low" ? "; that is long ago, so it is asked for again" : ""}
              <button type="button" class="link" aria-label={`Correct: ${what}`} onClick={() => setDraft(valueText(one.value))}>
                Correct
              </button>
              <button type="button" class="link" aria-label={`Forget: ${what}`} onClick={() => forget(key_)}>
                Forget
              </button>
            </p>
          </>
        ) : (
          <form
            class="unfolded"
            onSubmit={(event) => {
              event.preventDefault();
              if (draft.trim() !== "") correct(key_, draft.trim());
              setDraft(null);
            }}
          >
            <input value={draft} maxLength={400} aria-label={theirField(key_)} onInput={(event) => setDraft(event.currentTarget.value)} />
            <button type="submit" class="primary">
              This is right
            </button>
            <button type="button" class="quiet" onClick={() => setDraft(null)}>
              Leave it
            </button>
          </form>
        )}
      </dd>
    </div>
  );
}

const names = (found: string[]): string => found.map((one) => one.toLowerCase()).join(", ");

const LEVELS: Record<string, (name: string) => string> = {
  new: (name) => `You and ${name} have not arranged much yet`,
  familiar: (name) => `You have arranged a few things with ${name}`,
  established: (name) => `You often arrange things with ${name}`,
};
const SIGNALS: [RegExp, (count: number) => string][] = [
  [/^(\d+) successful thread/, (count) => (count === 1 ? "1 thing was arranged" : `${count} things were arranged`)],
  [/^(\d+) declined resolution/, (count) => `${count} turned down`],
  [/^user promoted to always_share (\d+) field/, (count) => (count === 1 ? "1 thing goes there without a question" : `${count} things go there without a question`)],
  [/^flagged for malformed packets/, () => "their agent has sent what could not be read"],
];

/** The counters of trust in plain words; what counts nothing is left out. */
export function trustText(name: string, level: string, signals: string[]): string {
  const told = signals.flatMap((signal) => {
    const [pattern, words] = SIGNALS.find(([one]) => one.test(signal)) ?? [];
    const count = Number(pattern?.exec(signal)?.[1] ?? 1);
    return words === undefined ? [plain(signal, 80)] : count > 0 ? [words(count)] : [];
  });
  const known = own(LEVELS, level)?.(name) ?? plain(level, 20);
  return told.length > 0 ? `${known}: ${told.join(", ")}.` : `${known}.`;
}

export function Remembered({ state, who }: { state: AgentState; who: string }): VNode | null {
  const [found, setFound] = useState<Memory | null>(null);
  const [fault, setFault] = useState("");
  const [sure, setSure] = useState(false);
  const look = () => state.call("memory", { who }).then((all) => setFound(all.memory[0] ?? null));
  const done = (said: Promise<unknown>) => {
    said
      .then(look)
      .then(() => {
        setFault("");
        setSure(false);
      })
      .catch((error: unknown) => setFault(failed(error)));
  };
  const correct = (key: string, value: string) => done(state.call("memory_edit", { who, key, value }));
  const forget = (key?: string) => done(state.call("memory_forget", key === undefined ? { who } : { who, key }));
  // A thread that ends while one looks teaches something.
  useEffect(() => void look().catch((error: unknown) => setFault(failed(error))), [who, state.stirred.value.count]);
  if (found === null) return fault === "" ? null : <p class="refusal">{fault}</p>;
  const name = nameIn(who);
  const values = Object.entries(found.context_cache);
  const usual = found.learned_patterns;
  const empty = found.interaction_count === 0 && values.length === 0;
  return (
    <section class="memory" aria-label={`What your agent remembers of ${name}`}>
      <h3>What your agent remembers of {name}</h3>
      {empty && <p class="fine">Nothing yet. What {name} tells while you arrange something is kept here, until you have it forgotten.</p>}
      {found.interaction_count > 0 && <p class="fine">{trustText(name, found.trust_level, found.trust_signals)}</p>}
      <dl>
        {values.map(([key, one]) => (
          <Value key={key} key_={key} name={name} one={one} correct={correct} forget={forget} />
        ))}
      </dl>
      {found.changes.map((one, place) => (
        <p class="fine" key={place}>
          {theirField(one.field)} changed: <s>{fieldValue(one.field, one.old)}</s> → <bdi>{fieldValue(one.field, one.new)}</bdi>, {valueText(one.date, 20)}
        </p>
      ))}
      {usual.usually_requests.length > 0 && <p class="fine">{name} usually asks for: {names(usual.usually_requests.map(fieldName))}</p>}
      {usual.usually_declines.length > 0 && <p class="fine">{name} usually does not tell: {names(usual.usually_declines.map(theirField))}</p>}
      {!empty && (
        <div class="ask-choices">
          {sure ? (
            <button type="button" class="danger" onClick={() => forget()}>
              Forget all of this
            </button>
          ) : (
            <button type="button" class="quiet no" onClick={() => setSure(true)}>
              Forget all of it…
            </button>
          )}
        </div>
      )}
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </section>
  );
}

/** One thing that is not said once and for all, with the way to it. */
function Undone({ one, name, ask }: { one: Known["can_be_undone"][number]; name: string; ask: (field: string) => void }): VNode {
  const field = fieldName(one.field ?? "");
  if (one.what === "open") {
    return (
      <>
        Something is being arranged. <a href={agentAddress("threads", one.thread_id)}>Look, or stop it</a>
      </>
    );
  }
  if (one.what === "space") {
    return (
      <>
        {field} stands in a space that you share. <a href={agentAddress("spaces", one.thread_id)}>Open it</a>
      </>
    );
  }
  if (one.for !== "them") {
    return (
      <>
        {field}: goes to everybody without a question. <a href={agentAddress("permissions")}>Permissions</a>
      </>
    );
  }
  return (
    <>
      {field}: goes to {name} without a question.
      <button type="button" class="link" onClick={() => ask(one.field ?? "")}>
        Ask me again
      </button>
    </>
  );
}

export function Knows({ state, who }: { state: AgentState; who: string }): VNode | null {
  const [found, setFound] = useState<Known | null>(null);
  const [fault, setFault] = useState("");
  const look = () =>
    state
      .call("known", { who })
      .then(setFound)
      .catch((error: unknown) => setFault(failed(error)));
  useEffect(() => void look(), [who, state.stirred.value.count]);
  if (found === null) return fault === "" ? null : <p class="refusal">{fault}</p>;
  const name = nameIn(who);
  const askAgain = (field: string) =>
    void state
      .call("permissions", { field, level: "ask", counterpart: who })
      .then(look)
      .catch((error: unknown) => setFault(failed(error)));
  return (
    <section class="memory" aria-label={`What ${name} knows of you`}>
      <h3>What {name} knows of you</h3>
      <p class="fine">{found.told.length === 0 ? `Nothing yet: your agent has told ${name}'s agent nothing about you.` : `Your agent has told this. It cannot be taken back; ${name} has it.`}</p>
      <dl>
        {found.told.map((one) => (
          <div key={one.field}>
            <dt>{fieldName(one.field)}</dt>
            <dd>
              <bdi class="value">{one.value === null || one.value === undefined ? "no longer kept here" : fieldValue(one.field, one.value)}</bdi>
              <p class="fine">
                {one.times > 1 ? `told ${one.times} times, last ` : "told "}
                {onDay(one.last)}
              </p>
            </dd>
          </div>
        ))}
      </dl>
      {found.can_be_undone.length > 0 && (
        <>
          <h4>What you can still change</h4>
          <ul class="plain">
            {found.can_be_undone.map((one, place) => (
              <li class="fine" key={place}>
                <Undone one={one} name={name} ask={askAgain} />
              </li>
            ))}
          </ul>
        </>
      )}
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </section>
  );
}
