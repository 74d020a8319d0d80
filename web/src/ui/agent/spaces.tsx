/** Shared spaces: all of them, and one with its fields, who wrote what, and what changed since one last looked. */

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SpaceField, SpaceOutcome, WholeSpace } from "../../net/agent_operations";
import type { AgentState } from "../../state/agent";
import { agentAddress } from "../../state/agent_route";
import { nameIn, namesOf, own, plain, valueText } from "../../text/agent";
import { agoOf, fullOf } from "../../text/time";
import { Empty, Face, failed, Long } from "./parts";

const LEVELS: Record<string, string> = { "read-all": "may read", "write-own-fields": "may read, and change what is theirs", "full-write": "may change everything" };
const levelText = (level: string): string => own(LEVELS, level) ?? plain(level, 30);

export function Spaces({ state, at }: { state: AgentState; at: string | null }): VNode {
  if (at !== null) return <SpacePage key={at} state={state} id={at} />;
  return <SpaceList state={state} />;
}

/** The others in a space; whose page this is stands with "you". */
const others = (state: AgentState, all: string[]): string[] => all.filter((one) => one !== state.me.value?.address);
const called = (state: AgentState, who: string): string => (who === state.me.value?.address ? "You" : nameIn(who));

function SpaceList({ state }: { state: AgentState }): VNode {
  useEffect(() => {
    void state.look("spaces");
    void state.look("me");
  }, [state]);
  const all = state.spaces.value;
  const joined = all?.filter((one) => one.status === "joined") ?? [];
  return (
    <div class="page agent-page">
      <div class="page-head">
        <h2>Shared spaces</h2>
      </div>
      {all !== null && joined.length === 0 && (
        <Empty>
          You share no space with anybody yet. A space is a short list of facts about something you do together, which
          everybody in it keeps and may change. To begin one, at the terminal: <code>tacit agent space new TITLE --with ADDRESS</code>
        </Empty>
      )}
      <Long of={joined} label="Shared spaces">
        {(one) => (
          <li key={one.space_id}>
            <a class="thread-row" href={agentAddress("spaces", one.space_id)}>
              <span class="thread-what">
                <b>
                  <bdi>{plain(one.title, 120) || "A space"}</bdi>
                </b>
                <span class="soft">{others(state, one.participants).length === 0 ? "nobody else is in it yet" : `with ${namesOf(others(state, one.participants))}`}</span>
              </span>
              {one.new > 0 && <span class="state-tag asks">{one.new} new</span>}
            </a>
          </li>
        )}
      </Long>
    </div>
  );
}

function SpacePage({ state, id }: { state: AgentState; id: string }): VNode {
  const [found, setFound] = useState<WholeSpace | null>(null);
  const [fault, setFault] = useState("");
  const [draft, setDraft] = useState<Draft>({ field: "", value: "" });
  useEffect(() => void state.look("me"), [state]);
  const look = () =>
    state
      .call("space", { do: "show", space_id: id, look: false })
      .then((answer) => {
        const whole = answer as WholeSpace;
        setFound((before) => (before === null ? whole : { ...whole, changes: whole.changes.map((one) => ({ ...one, new: one.new || before.changes.some((old) => old.n === one.n && old.new) })) }));
        setFault("");
        // What was drawn was seen; it stays marked here until one leaves the page.
        return state.call("space", { do: "show", space_id: id });
      })
      .catch((error: unknown) => setFault(failed(error)));
  const stirred = state.stirred.value.count;
  useEffect(() => void look(), [id, stirred, state.line.value === "online"]);
  return (
    <div class="page agent-page thread-page">
      <p class="back">
        <a href={agentAddress("spaces")}>← Shared spaces</a>
      </p>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
      {found && (
        <>
          <header class="thread-head">
            <h2>
              <bdi>{plain(found.title, 160) || "A space"}</bdi>
            </h2>
          </header>
          <div class="facts">
            <Fields state={state} found={found} change={setDraft} />
            <Members state={state} found={found} />
          </div>
          {found.level === "read-all" ? <p class="fine">You may read this space. Whoever began it can let you write.</p> : <Write state={state} id={id} draft={draft} setDraft={setDraft} wrote={look} />}
          <Changes state={state} found={found} />
        </>
      )}
    </div>
  );
}

interface Draft {
  field: string;
  value: string;
  /** The field that one asked to change. */
  chosen?: string;
}

function Fields({ state, found, change }: { state: AgentState; found: WholeSpace; change: (draft: Draft) => void }): VNode {
  const mayChange = (one: SpaceField): boolean => typeof one.value === "string" && (found.level === "full-write" || (found.level === "write-own-fields" && one.by === state.me.value?.address));
  return (
    <section aria-label="Fields">
      <h3>What stands there</h3>
      {found.fields.length === 0 ? (
        <p class="soft">Nothing yet. Write the first thing below.</p>
      ) : (
        <dl>
          {found.fields.map((one) => (
            <div key={one.field}>
              <dt>
                <bdi>{plain(one.field, 120)}</bdi>
              </dt>
              <dd>
                <bdi>{valueText(one.value)}</bdi>
                <p class="fine">
                  {called(state, one.by)}, <time dateTime={one.at} title={fullOf(one.at)}>{agoOf(one.at)}</time>
                  {one.pending ? "; not told to the others yet" : ""}
                  {mayChange(one) && (
                    <button type="button" class="link" aria-label={`Change: ${plain(one.field, 120)}`} onClick={() => change({ field: one.field, value: String(one.value), chosen: one.field })}>
                      Change
                    </button>
                  )}
                </p>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Members({ state, found }: { state: AgentState; found: WholeSpace }): VNode {
  return (
    <section aria-label="Members">
      <h3>Who is in it</h3>
      <ul class="plain group-people">
        {found.members
          .filter((one) => one.status !== "left")
          .map((one) => (
            <li key={one.agent}>
              <Face address={one.agent} />
              <span class="who">
                {called(state, one.agent)} <span class="soft">{one.status === "invited" ? "invited, has not joined yet" : levelText(one.level)}</span>
              </span>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Write({ state, id, draft, setDraft, wrote }: { state: AgentState; id: string; draft: Draft; setDraft: (draft: Draft) => void; wrote: () => Promise<unknown> }): VNode {
  const [said, setSaid] = useState("");
  const { field, value } = draft;
  const box = useRef<HTMLInputElement>(null);
  // A field that is to be changed stands here now, ready to be typed over.
  useEffect(() => {
    if (draft.chosen) box.current?.select();
  }, [draft.chosen]);
  const send = (event: Event) => {
    event.preventDefault();
    if (field.trim() === "" || value.trim() === "") return;
    state
      .call("space", { do: "set", space_id: id, field: field.trim(), value: value.trim() })
      .then((outcome) => {
        setSaid((outcome as SpaceOutcome).status === "asked" ? "Not written yet: not everybody there may know this. It waits for you under “For you”." : "Written.");
        setDraft({ field: "", value: "" });
        return wrote();
      })
      .catch((error: unknown) => setSaid(failed(error)));
  };
  return (
    <form class="space-write" onSubmit={send}>
      <input aria-label="Field" placeholder="What about: rent, status…" maxLength={120} value={field} onInput={(event) => setDraft({ field: event.currentTarget.value, value })} />
      <input ref={box} aria-label="Value" placeholder="What everybody should know of it" value={value} onInput={(event) => setDraft({ field, value: event.currentTarget.value })} />
      <button type="submit" class="primary" disabled={field.trim() === "" || value.trim() === ""}>
        Write
      </button>
      <p class="fine" role="status">
        {said}
      </p>
    </form>
  );
}

function Changes({ state, found }: { state: AgentState; found: WholeSpace }): VNode | null {
  const listed = found.changes.toReversed();
  if (listed.length === 0) return null;
  return (
    <section class="space-changes" aria-label="Changes">
      <h3>Who changed what</h3>
      <Long of={listed} label="Changes">
        {(one) => (
          <li key={one.n} class={one.new ? "space-change unseen" : "space-change"}>
            {one.new && <span class="state-tag asks">new</span>} <b>{called(state, one.by)}</b> {one.before === null || one.before === undefined ? "wrote" : "changed"} <bdi class="about">{plain(one.field, 120)}</bdi>:{" "}
            {one.before !== null && one.before !== undefined && (
              <del>
                <bdi>{valueText(one.before, 160)}</bdi>
              </del>
            )}{" "}
            {one.deleted ? (
              <i>taken away</i>
            ) : (
              <ins>
                <bdi>{valueText(one.value, 160)}</bdi>
              </ins>
            )}{" "}
            <span class="soft">
              <time dateTime={one.at} title={fullOf(one.at)}>
                {agoOf(one.at)}
              </time>
              {one.lost ? " · did not stand: somebody wrote it at the same time" : ""}
            </span>
          </li>
        )}
      </Long>
    </section>
  );
}
