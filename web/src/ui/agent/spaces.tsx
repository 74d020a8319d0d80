/** Shared spaces: all of them, and one with its fields, who wrote what, and what changed since one last looked. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import { agentAddress } from "../../state/agent_route";
import { nameIn, own, plain, valueText } from "../../text/agent";
import { agoOf, fullOf } from "../../text/time";
import { Empty, Face, failed, Long } from "./parts";

interface SpaceField {
  field: string;
  value: unknown;
  by: string;
  at: string;
  link: string | null;
  pending: boolean;
}

interface SpaceChange {
  n: number;
  field: string;
  by: string;
  at: string;
  deleted: boolean;
  value: unknown;
  before: unknown;
  lost: boolean;
  new: boolean;
}

interface WholeSpace {
  space_id: string;
  title: string;
  level: string;
  members: { agent: string; level: string; status: string; silent: boolean }[];
  fields: SpaceField[];
  changes: SpaceChange[];
}

const LEVELS: Record<string, string> = { "read-all": "reads", "write-own-fields": "writes own fields", "full-write": "writes everything" };
const levelText = (level: string): string => own(LEVELS, level) ?? plain(level, 30);

export function Spaces({ state, at }: { state: AgentState; at: string | null }): VNode {
  if (at !== null) return <SpacePage key={at} state={state} id={at} />;
  return <SpaceList state={state} />;
}

function SpaceList({ state }: { state: AgentState }): VNode {
  useEffect(() => void state.look("spaces"), [state]);
  const all = state.spaces.value;
  const joined = all?.filter((one) => one.status === "joined") ?? [];
  return (
    <div class="page agent-page">
      <div class="page-head">
        <h2>Shared spaces</h2>
      </div>
      {all !== null && joined.length === 0 && (
        <Empty>
          There is none. At the terminal: <code>tacit agent space new TITLE --with ADDRESS</code>
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
                <span class="soft">with {one.participants.map(nameIn).join(", ")}</span>
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
  const look = () =>
    state
      .call<WholeSpace>("space", { do: "show", space_id: id, look: false })
      .then((whole) => {
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
            <Fields found={found} />
            <Members found={found} />
          </div>
          {found.level !== "read-all" && <Write state={state} id={id} wrote={look} />}
          <Changes found={found} />
        </>
      )}
    </div>
  );
}

function Fields({ found }: { found: WholeSpace }): VNode {
  return (
    <section aria-label="Fields">
      <h3>What stands there</h3>
      {found.fields.length === 0 ? (
        <p class="soft">Nothing yet.</p>
      ) : (
        <dl>
          {found.fields.map((one) => (
            <div key={one.field}>
              <dt>
                <bdi>{plain(one.field, 120)}</bdi>
              </dt>
              <dd>
                <bdi>{valueText(one.value)}</bdi>
                <span class="soft">
                  {" "}
                  · {nameIn(one.by)}, <time dateTime={one.at} title={fullOf(one.at)}>{agoOf(one.at)}</time>
                  {one.pending ? " · not told to the others yet" : ""}
                </span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Members({ found }: { found: WholeSpace }): VNode {
  return (
    <section aria-label="Members">
      <h3>Who keeps it</h3>
      <ul class="plain">
        {found.members
          .filter((one) => one.status !== "left")
          .map((one) => (
            <li key={one.agent}>
              <Face address={one.agent} /> {nameIn(one.agent)} <span class="soft">{one.status === "invited" ? "is invited" : levelText(one.level)}</span>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Write({ state, id, wrote }: { state: AgentState; id: string; wrote: () => Promise<unknown> }): VNode {
  const [field, setField] = useState("");
  const [value, setValue] = useState("");
  const [said, setSaid] = useState("");
  const send = (event: Event) => {
    event.preventDefault();
    if (field.trim() === "" || value.trim() === "") return;
    state
      .call<{ status: string }>("space", { do: "set", space_id: id, field: field.trim(), value: value.trim() })
      .then((outcome) => {
        setSaid(outcome.status === "asked" ? "Not written yet: not everybody there may know this. It waits for you under “For you”." : "Written.");
        setField("");
        setValue("");
        return wrote();
      })
      .catch((error: unknown) => setSaid(failed(error)));
  };
  return (
    <form class="space-write" onSubmit={send}>
      <input aria-label="Field" placeholder="Field" maxLength={120} value={field} onInput={(event) => setField(event.currentTarget.value)} />
      <input aria-label="Value" placeholder="What stands there" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      <button type="submit" class="primary">
        Write
      </button>
      <p class="fine" role="status">
        {said}
      </p>
    </form>
  );
}

function Changes({ found }: { found: WholeSpace }): VNode {
  const listed = found.changes.toReversed();
  return (
    <section aria-label="Changes">
      <h3>Who changed what</h3>
      <Long of={listed} label="Changes">
        {(one) => (
          <li key={one.n} class={one.new ? "space-change fresh" : "space-change"}>
            {one.new && <span class="state-tag asks">new</span>} <b>{nameIn(one.by)}</b> <bdi>{plain(one.field, 120)}</bdi>:{" "}
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
