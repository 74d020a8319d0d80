/**
 * Attention under a message: who owes a reply, who was knocked, who works on it, who answered; the rest is quiet.
 *
 * What must not be answered shows nothing here; what only asks for a receipt shows a small mark that becomes the
 * glyph (C2A-226). Everything else is in the inspector, one click away.
 */

import { useEffect } from "preact/hooks";
import type { VNode } from "preact";
import type { Room } from "../state/room";
import { panel } from "../state/ui";
import type { AgentDecision, Decisions, Row } from "../types";
import { ActivityCards } from "./activity";
import { hue } from "./avatar";
import { WorkLines } from "./work";

/** How each state is said on the strip, to one and to several; `tone` picks its colour. */
const WORDS: Record<string, { one: string; many: string; tone: string }> = {
  pending: { one: "owes a reply", many: "owe a reply", tone: "owes" },
  delivered: { one: "owes a reply", many: "owe a reply", tone: "owes" },
  claimed: { one: "claimed it", many: "claimed it", tone: "works" },
  queued: { one: "has it in its queue", many: "have it in their queues", tone: "owes" },
  waiting: { one: "waits for a person", many: "wait for a person", tone: "waits" },
  working: { one: "is working", many: "are working", tone: "works" },
  out_of_touch: { one: "has it, but is out of touch", many: "have it, but are out of touch", tone: "owes" },
  deferred: { one: "will come back to it", many: "will come back to it", tone: "owes" },
  answered: { one: "answered", many: "answered", tone: "done" },
  acknowledged: { one: "acknowledged", many: "acknowledged", tone: "done" },
  declined: { one: "declined", many: "declined", tone: "still" },
  cancelled: { one: "was called off", many: "were called off", tone: "still" },
  stopped: { one: "was stopped here", many: "were stopped here", tone: "still" },
  expired: { one: "did not answer in time", many: "did not answer in time", tone: "bad" },
  failed: { one: "failed", many: "failed", tone: "bad" },
  not_connected: { one: "owes a reply, but is not connected", many: "owe a reply, but are not connected", tone: "owes" },
  knocked: { one: "was notified", many: "were notified", tone: "still" },
  offered: { one: "may take it", many: "may take it", tone: "still" },
  receipt: { one: "receipt", many: "receipt", tone: "still" },
};
const SETTLED = new Set(["answered", "claimed", "queued", "waiting", "working", "out_of_touch", "deferred", "declined", "failed", "acknowledged", "expired", "cancelled", "stopped"]);
const TAKEN = new Set(["answered", "claimed", "queued", "waiting", "working", "out_of_touch"]);
/** What an agent that was merely allowed to answer does in silence is not worth a word. */
const UNSAID = new Set(["declined", "expired", "cancelled", "silent"]);

export interface Mark {
  word: string;
  tone: string;
  glyph?: string;
}

/** What the strip says of one agent, as a key of the words; null for those who stay quiet. */
export function markOf(one: AgentDecision): Mark | null {
  const state = one.state ?? "pending";
  if (one.policy === "must_not_respond") return state === "answered" ? { word: "answered", tone: "done" } : null;
  if (one.policy === "ack_only") {
    const given = state === "acknowledged" || state === "answered";
    return given ? { word: one.glyph ?? "👍", tone: "done", glyph: one.glyph ?? "👍" } : { word: "receipt", tone: "still" };
  }
  if (SETTLED.has(state)) {
    if (one.policy === "may_respond" && UNSAID.has(state)) return null;
    if (state === "queued" && one.work?.position) return { word: `has it in its queue, ${one.work.position} before it`, tone: "owes" };
    // What waits for its own time (a day's budget) no person can hurry.
    if (state === "waiting" && one.work?.code === "over_budget") return { word: "waits for the next day's budget", tone: "owes" };
    // With nothing before it there is no queue to speak of.
    if (state === "queued" && one.policy === "must_respond") return { word: "pending", tone: "owes" };
    return { word: state, tone: WORDS[state]!.tone };
  }
  if (one.policy === "must_respond") {
    const word = state === "not_connected" ? state : "pending";
    return { word, tone: "owes" };
  }
  if (one.mode === "notify") return { word: state === "offered" ? "offered" : "knocked", tone: "still" };
  return one.mode === "silent" ? null : { word: "offered", tone: "still" };
}

/** Agents in the same position share one mark: "ada and bob answered". */
export function gathered(found: Decisions): { agents: string[]; word: string; tone: string }[] {
  const out = new Map<string, { agents: string[]; word: string; tone: string }>();
  // What somebody has taken, nobody else is asked to take.
  const taken = found.decisions.some((one) => one.policy === "may_respond" && TAKEN.has(one.state ?? ""));
  for (const one of found.decisions) {
    const mark = markOf(one);
    if (mark === null || (taken && mark.word === "offered")) continue;
    const known = out.get(mark.word);
    if (known) known.agents.push(one.agent);
    else out.set(mark.word, { agents: [one.agent], word: mark.word, tone: mark.tone });
  }
  return [...out.values()].map((mark) => {
    const said = WORDS[mark.word];
    return said === undefined ? mark : { ...mark, word: mark.agents.length > 1 ? said.many : said.one };
  });
}

export function quietIn(found: Decisions): number {
  return found.quiet + found.decisions.filter((one) => markOf(one) === null).length;
}

export function Strip({ row, room }: { row: Row; room: Room }): VNode | null {
  const { attention } = room;
  const id = row.edit?.event_id ?? row.event.id;
  const offered = attention.offered.value && room.agents.value.size > 0;
  useEffect(() => {
    if (!offered) return;
    const wait = setTimeout(() => attention.look(id), 60);
    return () => clearTimeout(wait);
  }, [id, offered]);
  const found = attention.of(id).value;
  if (!offered || found === null) return null;
  const marks = gathered(found);
  const quiet = quietIn(found);
  const moving = found.decisions.filter((one) => one.progress !== undefined);
  const open = () => (panel.value = { kind: "inspector", row });
  return (
    <>
      <div class={marks.length === 0 ? "strip still" : "strip"}>
        <button type="button" class="strip-line" onClick={open} title="Who saw it, and why" aria-label={`Attention: ${spoken(marks, quiet, room)}. Open the inspector.`}>
          {marks.map((mark) => (
            <span class={`mark ${mark.tone}`} key={mark.word}>
              {mark.agents.slice(0, 3).map((agent) => (
                <i class={`chip hue-${hue(agent)}`} />
              ))}
              <span>
                {listed(mark.agents, room)} {mark.word}
              </span>
            </span>
          ))}
          {quiet > 0 && <span class="mark none">{marks.length === 0 ? everyone(quiet, room.isAgent(row.event.by)) : quiet === 1 ? "1 other stays quiet" : `${quiet} others stay quiet`}</span>}
        </button>
        {moving.map((one) => (
          <div class="progress" key={one.agent}>
            <progress value={one.progress!.value} max={one.progress!.total ?? 100} aria-label={`${room.nameOf(one.agent)} is working`} />
            <span>
              {room.nameOf(one.agent)}
              {one.progress!.total ? ` ${Math.round((100 * one.progress!.value) / one.progress!.total)} %` : ""}
              {one.progress!.message ? ` · ${one.progress!.message}` : ""}
            </span>
          </div>
        ))}
        <WorkLines decisions={found.decisions} room={room} open={open} />
      </div>
      <ActivityCards row={row} room={room} decisions={found.decisions} />
    </>
  );
}

function everyone(quiet: number, ofAgent: boolean): string {
  return quiet === 1 ? (ofAgent ? "the other agent stays quiet" : "the agent stays quiet") : quiet === 2 ? "both agents stay quiet" : `all ${quiet} agents stay quiet`;
}

function listed(agents: string[], room: Room): string {
  const names = agents.map((one) => room.nameOf(one));
  if (names.length <= 2) return names.join(" and ");
  return names.length === 3 ? `${names[0]}, ${names[1]} and ${names[2]}` : `${names[0]}, ${names[1]} and ${names.length - 2} more`;
}

function spoken(marks: { agents: string[]; word: string }[], quiet: number, room: Room): string {
  const parts = marks.map((one) => `${listed(one.agents, room)} ${one.word}`);
  if (quiet > 0) parts.push(`${quiet} stay quiet`);
  return parts.join("; ") || "nobody is asked";
}
