/** What is being arranged: all of it, and one thread with everything that was said, shared, tried and done. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import type { ThreadLine, WholeThread } from "../../net/agent_operations";
import { agentAddress } from "../../state/agent_route";
import { bareAddress, basisText, deedText, fieldName, nameIn, namesOf, own, packetText, plain, stateText, theirField, valueText } from "../../text/agent";
import { agoOf, clockOf, dayOf, fullOf } from "../../text/time";
import { Icon } from "../icons";
import { GroupPart } from "./group";
import { Empty, Face, failed, Long, State } from "./parts";
import { AskBox } from "./questions";

const FLAGS: Record<string, string> = { paused: "paused", awaiting_user: "waits for you", urgent: "urgent" };

/** Whom a thread is with: in the coordinator's own of a group, all the others. */
const withWhom = (one: ThreadLine): string[] => (one.group?.part === "hub" ? one.group.others : [one.with]);

export function Threads({ state, at }: { state: AgentState; at: string | null }): VNode {
  if (at !== null) return <Thread key={at} state={state} id={at} />;
  return <ThreadList state={state} />;
}

function ThreadList({ state }: { state: AgentState }): VNode {
  useEffect(() => void state.look("threads"), [state, state.every.value]);
  const [words, setWords] = useState("");
  const all = state.threads.value;
  const wanted = words.trim().toLowerCase();
  // What was said with each of a group stands behind the group.
  const found = all?.filter((one) => one.group?.part !== "leg" && (wanted === "" || `${one.summary} ${withWhom(one).join(" ")}`.toLowerCase().includes(wanted))) ?? [];
  return (
    <div class="page agent-page">
      <AskBox state={state} />
      <div class="page-head">
        <h2>{state.every.value ? "Everything there was" : "What is being arranged"}</h2>
        <div class="page-tools">
          {(all?.length ?? 0) > 8 && <input class="filter" type="search" aria-label="Look for a thread" placeholder="Look for…" value={words} onInput={(event) => setWords(event.currentTarget.value)} />}
          <button type="button" class="quiet small" aria-pressed={state.every.value} onClick={() => (state.every.value = !state.every.peek())}>
            {state.every.value ? "Only what is open" : "Also what is over"}
          </button>
        </div>
      </div>
      {all !== null && found.length === 0 && <Empty>{wanted !== "" ? "Nothing like that." : "Nothing is being arranged. Say above what you would like."}</Empty>}
      <Long of={found} label="Threads">
        {(one) => (
          <li key={one.thread_id}>
            <a class="thread-row" href={agentAddress("threads", one.thread_id)}>
              <Face address={withWhom(one)[0] ?? one.with} />
              <span class="thread-what">
                <b>
                  <bdi>{plain(one.summary, 120) || "Something"}</bdi>
                </b>
                <span class="soft">
                  with {namesOf(withWhom(one))} · {agoOf(one.began)}
                </span>
              </span>
              {one.flags.map((flag) => (
                <span class="state-tag asks" key={flag}>
                  {own(FLAGS, flag) ?? plain(flag, 30)}
                </span>
              ))}
              <State state={one.state} />
            </a>
          </li>
        )}
      </Long>
    </div>
  );
}

/** Whether the other side's words may be in what the thread is about: it began it, or asked for something else. */
function isTheirs(found: WholeThread): boolean {
  return found.history.some((one, place) => one.side !== "us" && (place === 0 || one.type === "intent_update"));
}

const OVER = new Set(["COMPLETED", "DECLINED", "EXPIRED"]);

function Thread({ state, id }: { state: AgentState; id: string }): VNode {
  const [found, setFound] = useState<WholeThread | null>(null);
  const [fault, setFault] = useState("");
  const stir = state.stirred.value;
  const due = stir.thread_id === "" || stir.thread_id === id ? stir.count : -1;
  useEffect(() => {
    if (due < 0 && found !== null) return;
    state
      .call("thread", { thread_id: id })
      .then((whole) => {
        setFound(whole);
        setFault("");
      })
      .catch((error: unknown) => setFault(failed(error)));
    void state.look("disclosures");
  }, [id, due, state.line.value === "online"]);
  const act = (command: "stop" | "resume") => state.call(command, { thread_id: id }).catch((error: unknown) => setFault(failed(error)));
  const group = found?.group;
  const hub = group?.part === "hub";
  const who = found?.with ?? "";
  const others = hub ? group.others : [who];
  return (
    <div class="page agent-page thread-page">
      <p class="back">
        {group?.part === "leg" ? <a href={agentAddress("threads", group.thread_id)}>← The group</a> : <a href={agentAddress("threads")}>← What is being arranged</a>}
      </p>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
      {found && (
        <>
          <header class="thread-head">
            <Face address={others[0] ?? who} />
            <div>
              <h2>
                {isTheirs(found) && plain(found.intent.summary) !== "" ? (
                  <>
                    {nameIn(who)}: “<bdi>{plain(found.intent.summary, 160)}</bdi>”
                  </>
                ) : (
                  <bdi>{plain(found.intent.summary, 160) || "Something"}</bdi>
                )}
              </h2>
              <p class="soft">
                with {namesOf(others)}
                {!hub && (
                  <>
                    {" "}
                    <span class="address">({bareAddress(who)})</span> · {found.turns} {found.turns === 1 ? "turn" : "turns"}
                  </>
                )}
              </p>
            </div>
            {found.flags.map((flag) => (
              <span class="state-tag asks" key={flag}>
                {own(FLAGS, flag) ?? plain(flag, 30)}
              </span>
            ))}
            <State state={found.state} />
          </header>
          {!hub && state.questions.value?.some((one) => one.thread_id === id) && (
            <p class="newcomer">
              <Icon name="bell" size={16} /> It waits for you: <a href={agentAddress("questions")}>see what is asked</a>
            </p>
          )}
          <div class="thread-tools">
            {!OVER.has(found.state) && state.offers("stop") && (
              <button type="button" class="quiet small" onClick={() => void act("stop")}>
                Stop this
              </button>
            )}
            {(found.state === "STALLED" || found.flags.includes("paused")) && state.offers("resume") && (
              <button type="button" class="quiet small" onClick={() => void act("resume")}>
                Go on with it
              </button>
            )}
            {!hub && state.offers("why") && <Why state={state} id={id} />}
          </div>
          {group && group.part !== "leg" && state.offers("group") && <GroupPart state={state} id={group.thread_id} />}
          {!hub && <Facts state={state} found={found} who={who} />}
          <History found={found} who={who} />
        </>
      )}
    </div>
  );
}

function Facts({ state, found, who }: { state: AgentState; found: WholeThread; who: string }): VNode {
  const said = (state.disclosures.value ?? []).filter((one) => one.thread_id === found.thread_id).toReversed();
  // The same value in a later packet tells nothing new.
  const given = said.filter((one, place) => said.findIndex((other) => other.field === one.field && JSON.stringify(other.value) === JSON.stringify(one.value)) === place);
  const told = Object.entries(found.received);
  const cost = found.cost ? Object.entries(found.cost) : [];
  return (
    <div class="facts">
      <section>
        <h3>What {nameIn(who)} got of you</h3>
        {given.length === 0 ? (
          <p class="soft">Nothing yet.</p>
        ) : (
          <dl>
            {given.map((one) => (
              <div key={one.packet_id + one.field}>
                <dt>{fieldName(one.field)}</dt>
                <dd>
                  <bdi>{one.value === null || one.value === undefined ? "forgotten" : valueText(one.value)}</bdi>
                  <span class="soft"> · {basisText(one.basis)}</span>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </section>
      <section>
        <h3>What {nameIn(who)} told</h3>
        {told.length === 0 ? (
          <p class="soft">Nothing yet.</p>
        ) : (
          <dl>
            {told.map(([name, value]) => (
              <div key={name}>
                <dt>
                  <bdi>{theirField(name)}</bdi>
                </dt>
                <dd class="told">
                  “<bdi>{plain(valueText(value))}</bdi>”
                </dd>
              </div>
            ))}
          </dl>
        )}
        {found.outstanding.length > 0 && <p class="soft">Still asked for: {found.outstanding.map((one) => theirField(one).toLowerCase()).join(", ")}</p>}
      </section>
      {found.actions.length > 0 && (
        <section>
          <h3>What is done then</h3>
          <dl>
            {found.actions.map((one) => (
              <div key={one.action_id}>
                <dt>
                  {one.executor === "us" ? "Your agent" : `${nameIn(who)}'s agent`} {deedText(one.action)}
                </dt>
                <dd>{plain(one.status, 40)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {cost.length > 0 && (
        <section>
          <h3>What it cost</h3>
          <dl>
            {cost.map(([name, value]) => (
              <div key={name}>
                <dt>{fieldName(name)}</dt>
                <dd>{valueText(value, 80)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </div>
  );
}

interface Moment {
  at: string;
  text: VNode | string;
  steps?: [string, string][];
}

/** Packets and changes of state in one line of time; the five steps of a packet are folded under it. */
function History({ found, who }: { found: WholeThread; who: string }): VNode {
  const them = `${nameIn(who)}'s agent`;
  const cycles = new Map(found.steps.flatMap((one) => (one.packet && one.steps ? [[one.packet, one.steps] as const] : [])));
  const moments: Moment[] = [
    ...found.history.map((one): Moment => ({
      at: one.at,
      text: `${one.side === "us" ? "Your agent" : them} ${packetText(one.type)}`,
      ...(cycles.has(one.packet_id) && { steps: cycles.get(one.packet_id)! }),
    })),
    ...found.steps.flatMap((one): Moment[] => {
      if (one.to) return [{ at: one.at, text: <State state={one.to} /> }];
      return one.refused ? [{ at: one.at, text: `Not possible then: ${plain(one.refused, 60).replaceAll("_", " ")}` }] : [];
    }),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  let day = "";
  return (
    <section class="thread-history">
      <h3>How it went</h3>
      <ol>
        {moments.map((one, place) => {
          const heading = dayOf(one.at) === day ? null : (day = dayOf(one.at));
          return (
            <li key={place}>
              <time dateTime={one.at} title={fullOf(one.at)}>
                {heading && <span class="soft">{heading} </span>}
                {clockOf(one.at)}
              </time>
              <div>
                {one.text}
                {one.steps && (
                  <details>
                    <summary>Its five steps</summary>
                    <dl class="steps">
                      {one.steps.map(([name, outcome]) => (
                        <div key={name}>
                          <dt>{plain(name, 30).toLowerCase()}</dt>
                          <dd>{plain(outcome)}</dd>
                        </div>
                      ))}
                    </dl>
                  </details>
                )}
              </div>
            </li>
          );
        })}
      </ol>
      {found.closed_reason && <p class="soft">It ended: {plain(found.closed_reason, 80).replaceAll("_", " ")}.</p>}
      {OVER.has(found.state) && !found.closed_reason && <p class="soft">It is {stateText(found.state).text}.</p>}
    </section>
  );
}

function Why({ state, id }: { state: AgentState; id: string }): VNode {
  const [excluded, setExcluded] = useState<[unknown, string][] | null>(null);
  const look = () => state.call("why", { thread_id: id }).then((found) => setExcluded(found.excluded), () => setExcluded([]));
  return (
    <>
      <button type="button" class="quiet small" aria-expanded={excluded !== null} onClick={() => (excluded === null ? void look() : setExcluded(null))}>
        Why not another time?
      </button>
      {excluded !== null && (
        <div class="why">
          {excluded.length === 0 ? (
            <p class="soft">Nothing stood against any option.</p>
          ) : (
            <ul>
              {excluded.slice(0, 50).map(([what, reason], place) => (
                <li key={place}>
                  <b>{valueText(what, 120)}</b>: {plain(reason)}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </>
  );
}

