/** The inspector: for each agent how a message was aimed, what it may do, by which rule, and what came of it. */

import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import { placeOf } from "../state/actions";
import { textOf } from "../state/fold";
import { complain, say } from "../state/hub";
import type { Room } from "../state/room";
import { clockOf, sized } from "../text/time";
import type { AgentDecision, Row } from "../types";
import { Avatar, Name } from "./avatar";
import { Icon } from "./icons";
import { nextOf } from "./work";

const POLICIES: Record<string, string> = {
  must_respond: "must answer",
  may_respond: "may answer",
  ack_only: "receipt only",
  must_not_respond: "stays quiet",
};
const MODES: Record<string, string> = {
  immediate: "at once, in full",
  buffered: "after the compose window",
  notify: "a knock, without the text",
  tool_mailbox: "in its mailbox",
  digest: "in a digest",
  silent: "not shown",
};
const AIMS: Record<string, string> = {
  to_me: "named",
  to_my_role: "by its role",
  to_other: "meant for another",
  ambient: "said to the room",
};

export function Inspector({ row: asked, room }: { row: Row; room: Room }): VNode {
  // As it stands now: it may be edited or deleted while one looks.
  const row = room.timeline(placeOf(asked)).rows.value.find((one) => one.event.id === asked.event.id) ?? asked;
  const id = row.edit?.event_id ?? row.event.id;
  const { attention } = room;
  useEffect(() => attention.look(id), [id]);
  const found = attention.of(id).value;
  return (
    <div class="panel-body inspector">
      <blockquote class="excerpt">
        <Name room={room} principal={row.event.by} /> <time>{clockOf(row.event.ts)}</time>
        <p>{textOf(row).slice(0, 280) || "…"}</p>
      </blockquote>
      {!attention.offered.value && <p class="nothing">This hub does not decide about attention.</p>}
      {attention.offered.value && found === null && <p class="nothing">Asking the hub…</p>}
      {found && (
        <>
          <p class="verdict">{found.sentence ?? "Nobody was asked."}</p>
          <dl class="sums">
            <div>
              <dt>read as</dt>
              <dd>{found.intent ?? "plain"}</dd>
            </div>
            <div>
              <dt>prompt spent</dt>
              <dd>{sized(found.prompt_bytes ?? 0)}</dd>
            </div>
            <div>
              <dt>prompt saved</dt>
              <dd class="good">{sized(found.saved_bytes ?? 0)}</dd>
            </div>
          </dl>
          <ul class="decisions">
            {found.decisions.map((one) => (
              <One key={one.agent} one={one} room={room} eventId={id} />
            ))}
          </ul>
          {found.quiet > 0 && <p class="quiet-rest">{found.quiet_sentence ?? `${found.quiet} others stayed quiet.`}</p>}
        </>
      )}
    </div>
  );
}

const OPEN = new Set(["failed", "queued", "waiting", "pending", "delivered", "knocked", "offered", "claimed", "working", "out_of_touch", "deferred", "expired"]);

function One({ one, room, eventId }: { one: AgentDecision; room: Room; eventId: string }): VNode {
  const [choosing, setChoosing] = useState(false);
  const state = one.state ?? "pending";
  const act = (params: Record<string, unknown>, done: string) =>
    room.attention
      .act({ event_id: eventId, agent: one.agent, ...params })
      .then(() => say(done))
      .catch(complain);
  const others = room.group.value.actors.filter((actor) => actor.actor_id !== one.agent);
  return (
    <li class={`decision ${one.policy}`}>
      <header>
        <Avatar room={room} principal={one.agent} size={20} />
        <b>{room.nameOf(one.agent)}</b>
        {state === "stopped" || state === "cancelled" ? (
          <span class="policy must_not_respond">need not answer</span>
        ) : (
          <span class={`policy ${one.policy}`}>{POLICIES[one.policy] ?? one.policy}</span>
        )}
        <span class="state">{state.replaceAll("_", " ")}</span>
      </header>
      {one.sentence && <p>{one.sentence}</p>}
      {one.work && (
        <p class={`at-work ${one.work.state}`}>
          {one.work.sentence}. {nextOf(one.work)}
        </p>
      )}
      <dl>
        <div>
          <dt>aim</dt>
          <dd>{AIMS[one.directedness] ?? one.directedness}</dd>
        </div>
        <div>
          <dt>comes</dt>
          <dd>{MODES[one.mode] ?? one.mode}</dd>
        </div>
        <div>
          <dt>rule</dt>
          <dd>
            <code title={one.row}>{one.rule ?? one.reason ?? "-"}</code>
          </dd>
        </div>
        {one.deadline != null && (
          <div>
            <dt>due</dt>
            <dd>{typeof one.deadline === "string" ? clockOf(one.deadline) : `${Math.round(Number(one.deadline) / 1000)} s`}</dd>
          </div>
        )}
        {one.prompt_bytes != null && (
          <div>
            <dt>prompt</dt>
            <dd>{sized(one.prompt_bytes)}</dd>
          </div>
        )}
        {one.claimed_until && (
          <div>
            <dt>claimed</dt>
            <dd>until {clockOf(one.claimed_until)}</dd>
          </div>
        )}
      </dl>
      {OPEN.has(state) && one.policy !== "must_not_respond" && (
        <div class="charge">
          <button type="button" class="quiet small" onClick={() => void act({ op: "cancel" }, "Called off.")}>
            <Icon name="stop" size={14} /> Stop
          </button>
          <button type="button" class="quiet small" aria-expanded={choosing} onClick={() => setChoosing(!choosing)}>
            <Icon name="swap" size={14} /> Give to another
          </button>
          {choosing && (
            <span class="choices">
              {others.map((actor) => (
                <button type="button" class="small" onClick={() => void act({ op: "reassign", to: actor.actor_id }, `Given to ${room.nameOf(actor.actor_id)}.`)}>
                  {room.nameOf(actor.actor_id)}
                </button>
              ))}
            </span>
          )}
        </div>
      )}
    </li>
  );
}
