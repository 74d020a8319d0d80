/**
 * Work under a question: who is at it, its place in the queue, what it waits for, why it failed and what now.
 *
 * An agent that simply works or has answered is said on the strip; here stands what a person may want to act on.
 */

import type { VNode } from "preact";
import type { Room } from "../state/room";
import { clockOf } from "../text/time";
import type { AgentDecision, Work } from "../types";
import { hue } from "./avatar";

const SHOWN = new Set(["queued", "waiting", "failed", "handed_over"]);

/** What is worth a line of its own: nothing that has simply begun, been answered, or ended at a person's wish. */
export function worthALine(one: AgentDecision): boolean {
  const work = one.work;
  if (work === undefined || !SHOWN.has(work.state)) return false;
  return work.state !== "queued" || (work.position ?? 0) > 0 || work.retry_at !== undefined;
}

/** How it stands, without the name: that stands before it. */
export function standing(work: Work, nameOf: (one: string) => string): string {
  switch (work.state) {
    case "queued":
      return work.retry_at !== undefined ? `comes back to it at ${clockOf(work.retry_at)}` : `has it in its queue, ${work.position} before it`;
    case "waiting":
      return work.message ? `waits for a person: ${work.message}` : "waits for a person";
    case "failed":
      return `failed: ${[work.message, work.code && `(${work.code})`].filter(Boolean).join(" ") || "it did not say why"}`;
    default:
      return work.to === "user" ? "no longer has it; the owner was told" : work.to ? `no longer has it; ${nameOf(work.to)} does` : "no longer has it";
  }
}

/** What comes next, in the reader's own time. */
export function nextOf(work: Work): string {
  if (work.state === "failed" && work.retry_at !== undefined) return `Tried again by itself at ${clockOf(work.retry_at)}.`;
  return work.state === "failed" ? work.now : "";
}

export function WorkLines({ decisions, room, open }: { decisions: AgentDecision[]; room: Room; open: () => void }): VNode | null {
  const shown = decisions.filter(worthALine);
  if (shown.length === 0) return null;
  return (
    <ul class="work" aria-label="Work on this question">
      {shown.map((one) => {
        const work = one.work!;
        const next = nextOf(work);
        return (
          <li key={one.agent} class={work.state}>
            <i class={`chip hue-${hue(one.agent)}`} />
            <span>
              <b>{room.nameOf(one.agent)}</b> {standing(work, (name) => room.nameOf(name))}
              {next && <em> {next}</em>}
            </span>
            {work.state === "failed" && !work.open && (
              <button type="button" class="quiet small" onClick={open}>
                Give to another
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
