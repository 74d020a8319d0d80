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
import { hue } from "./avatar";

/** How each state is said on the strip; `tone` picks its colour. */
const WORDS: Record<string, { word: string; tone: string }> = {
  pending: { word: "owes a reply", tone: "owes" },
  queued: { word: "owes a reply", tone: "owes" },
  open: { word: "owes a reply", tone: "owes" },
  delivered: { word: "owes a reply", tone: "owes" },
  accepted: { word: "has it", tone: "works" },
  seen: { word: "has seen it", tone: "quiet" },
  claimed: { word: "claimed it", tone: "works" },
  working: { word: "is working", tone: "works" },
  deferred: { word: "will come back to it", tone: "waits" },
  blocked: { word: "is blocked", tone: "bad" },
  answered: { word: "answered", tone: "done" },
  responded: { word: "answered", tone: "done" },
  acknowledged: { word: "acknowledged", tone: "done" },
  declined: { word: "declined", tone: "quiet" },
  ignored: { word: "passed", tone: "quiet" },
  cancelled: { word: "was called off", tone: "quiet" },
  superseded: { word: "was called off", tone: "quiet" },
  expired: { word: "did not answer in time", tone: "bad" },
  failed: { word: "failed", tone: "bad" },
};

export interface Mark {
  agent: string;
  word: string;
  tone: string;
}

const SETTLED = new Set(["answered", "responded", "claimed", "working", "accepted", "deferred", "blocked", "declined", "expired", "failed", "cancelled", "superseded", "acknowledged"]);

/** What the strip says of one agent; null for those who stay quiet. */
export function markOf(one: AgentDecision): Mark | null {
  const state = one.state ?? "pending";
  const said = WORDS[state];
  if (one.policy === "must_not_respond" && !["answered", "responded"].includes(state)) return null;
  if (one.policy === "ack_only") {
    return state === "acknowledged" || state === "answered"
      ? { agent: one.agent, word: "👍", tone: "done receipt" }
      : { agent: one.agent, word: "receipt", tone: "quiet receipt" };
  }
  if (SETTLED.has(state) && said !== undefined) {
    if (one.policy === "may_respond" && ["declined", "ignored", "expired", "superseded", "cancelled"].includes(state)) return null;
    return { agent: one.agent, ...said };
  }
  if (one.policy === "must_respond") return { agent: one.agent, ...(said ?? WORDS.pending!) };
  if (one.mode === "notify") return { agent: one.agent, word: "was knocked", tone: "quiet" };
  if (one.mode === "immediate" || one.mode === "buffered") return { agent: one.agent, word: "may reply", tone: "quiet" };
  return null;
}

/** Agents in the same position share one mark: "ada and bob answered". */
export function gathered(found: Decisions): { agents: string[]; word: string; tone: string }[] {
  const out = new Map<string, { agents: string[]; word: string; tone: string }>();
  for (const one of found.decisions) {
    const mark = markOf(one);
    if (mark === null) continue;
    const known = out.get(mark.word);
    if (known) known.agents.push(mark.agent);
    else out.set(mark.word, { agents: [mark.agent], word: mark.word, tone: mark.tone });
  }
  return [...out.values()];
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
  if (!offered || found === null) return offered && row.event.by !== "system" ? <div class="strip empty" aria-hidden="true" /> : null;
  const marks = gathered(found);
  const quiet = quietIn(found);
  const moving = [...attention.progress.value.values()].filter((one) => one.token === id || one.token === row.event.id);
  const open = () => (panel.value = { kind: "inspector", row });
  return (
    <div class="strip">
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
        {quiet > 0 && <span class="mark none">{marks.length === 0 ? (quiet === 1 ? "the agent stays quiet" : `all ${quiet} agents stay quiet`) : quiet === 1 ? "1 other stays quiet" : `${quiet} others stay quiet`}</span>}
      </button>
      {moving.map((one) => (
        <div class="progress" key={one.session}>
          <progress value={one.progress} max={one.total ?? 100} aria-label={`${room.nameOf(one.session)} is working`} />
          <span>
            {room.nameOf(one.session)}
            {one.total ? ` ${Math.round((100 * one.progress) / one.total)} %` : ""}
            {one.message ? ` · ${one.message}` : ""}
          </span>
        </div>
      ))}
    </div>
  );
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
