/** What the agent remembers of somebody, to be corrected or forgotten; and what somebody knows of its owner. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import { bareAddress, fieldName, nameIn, plain, theirField, valueText } from "../../text/agent";
import { dayOf } from "../../text/time";
import { failed } from "./parts";

interface Cached {
  value: unknown;
  last_updated: string;
  confidence: string;
  source: string;
}

interface Change {
  field: string;
  old: unknown;
  new: unknown;
  date: string;
}

export interface Memory {
  agent: string;
  interaction_count: number;
  first_interaction: string | null;
  last_interaction: string | null;
  learned_patterns: { usually_shares: string[]; usually_declines: string[]; usually_requests: string[]; average_response_time: string | null };
  context_cache: Record<string, Cached>;
  changes: Change[];
  trust_level: string;
  trust_signals: string[];
}

export interface Known {
  agent: string;
  told: { field: string; value: unknown; last: string; times: number; basis: string }[];
  can_be_undone: { what: string; field?: string; for?: string; thread_id?: string }[];
}

/** One remembered value: its date and source beside it, a correction and a way to have it forgotten under it. */
function Value({ name, key_, one, say }: { name: string; key_: string; one: Cached; say: (command: string, given: Record<string, unknown>) => void }): VNode {
  const [draft, setDraft] = useState<string | null>(null);
  const by = one.source === "owner" ? "you noted it" : `${name} told it`;
  return (
    <div>
      <dt>{theirField(key_)}</dt>
      <dd>
        {draft === null ? (
          <>
            <bdi class="value">{valueText(one.value)}</bdi>
            <span class="soft">
              {" "}
              {by}, {plain(one.last_updated, 20)}
              {one.confidence === "low" ? ", too long ago: it is asked for again" : ""}
            </span>
            <button type="button" class="quiet" onClick={() => setDraft(valueText(one.value))}>
              Correct
            </button>
            <button type="button" class="quiet" onClick={() => say("memory_forget", { key: key_ })}>
              Forget
            </button>
          </>
        ) : (
          <form
            class="unfolded"
            onSubmit={(event) => {
              event.preventDefault();
              if (draft.trim() !== "") say("memory_edit", { key: key_, value: draft.trim() });
              setDraft(null);
            }}
          >
            <input value={draft} maxLength={400} aria-label={theirField(key_)} onInput={(event) => setDraft(event.currentTarget.value)} />
            <button type="submit" class="primary">
              This is right
            </button>
          </form>
        )}
      </dd>
    </div>
  );
}

const names = (found: string[]): string => found.map((one) => theirField(one).toLowerCase()).join(", ");

export function Remembered({ state, who }: { state: AgentState; who: string }): VNode | null {
  const [found, setFound] = useState<Memory | null>(null);
  const [fault, setFault] = useState("");
  const [sure, setSure] = useState(false);
  const look = () => state.call<{ memory: Memory[] }>("memory", { who }).then((all) => setFound(all.memory[0] ?? null));
  const say = (command: string, given: Record<string, unknown> = {}) => {
    state
      .call(command, { who, ...given })
      .then(look)
      .then(() => {
        setFault("");
        setSure(false);
      })
      .catch((error: unknown) => setFault(failed(error)));
  };
  useEffect(() => void look().catch((error: unknown) => setFault(failed(error))), [who]);
  if (found === null) return fault === "" ? null : <p class="refusal">{fault}</p>;
  const name = nameIn(who);
  const values = Object.entries(found.context_cache);
  const usual = found.learned_patterns;
  const empty = found.interaction_count === 0 && values.length === 0;
  return (
    <section class="memory" aria-label={`What your agent remembers of ${name}`}>
      <h3>What your agent remembers of {name}</h3>
      {empty && <p class="fine">Nothing yet.</p>}
      {found.interaction_count > 0 && (
        <p class="fine">
          {plain(found.trust_level, 20)}: {found.trust_signals.map((one) => plain(one, 80)).join("; ")}
        </p>
      )}
      <dl>
        {values.map(([key, one]) => (
          <Value key={key} key_={key} name={name} one={one} say={say} />
        ))}
      </dl>
      {found.changes.map((one, place) => (
        <p class="fine" key={place}>
          {theirField(one.field)}: <s>{valueText(one.old)}</s> → <bdi>{valueText(one.new)}</bdi>, {plain(one.date, 20)}
        </p>
      ))}
      {usual.usually_requests.length > 0 && <p class="fine">usually asks for: {names(usual.usually_requests)}</p>}
      {usual.usually_declines.length > 0 && <p class="fine">usually keeps to themselves: {names(usual.usually_declines)}</p>}
      {!empty && (
        <div class="ask-choices">
          {sure ? (
            <button type="button" class="danger" onClick={() => say("memory_forget")}>
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

export function Knows({ state, who }: { state: AgentState; who: string }): VNode | null {
  const [found, setFound] = useState<Known | null>(null);
  const [fault, setFault] = useState("");
  const look = () =>
    state
      .call<Known>("known", { who })
      .then(setFound)
      .catch((error: unknown) => setFault(failed(error)));
  useEffect(() => void look(), [who]);
  if (found === null) return fault === "" ? null : <p class="refusal">{fault}</p>;
  const name = nameIn(who);
  const alone = found.can_be_undone.filter((one) => one.what === "always_share" && one.for === "them");
  return (
    <section class="memory" aria-label={`What ${name} knows of you`}>
      <h3>What {name} knows of you</h3>
      {found.told.length === 0 ? <p class="fine">Nothing has left for {bareAddress(who)}.</p> : <p class="fine">{name}'s agent has this; it cannot be taken back.</p>}
      <dl>
        {found.told.map((one) => (
          <div key={one.field}>
            <dt>{fieldName(one.field)}</dt>
            <dd>
              <bdi class="value">{one.value === null || one.value === undefined ? "forgotten here" : valueText(one.value)}</bdi>
              <span class="soft">
                {" "}
                {one.times > 1 ? `${one.times} times, last ` : ""}
                {dayOf(one.last)}
              </span>
            </dd>
          </div>
        ))}
      </dl>
      {alone.map((one) => (
        <p class="fine" key={one.field}>
          {fieldName(one.field ?? "")}: goes to {name} without a question.{" "}
          <button
            type="button"
            class="quiet"
            onClick={() =>
              void state
                .call("permissions", { field: one.field, level: "ask", counterpart: who })
                .then(look)
                .catch((error: unknown) => setFault(failed(error)))
            }
          >
            Ask me again
          </button>
        </p>
      ))}
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </section>
  );
}
