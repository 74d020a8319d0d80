/**
 * Work under a question: what it waits for, why it failed and what now, who has it instead.
 *
 * Who is at it and how is said on the strip; here stands what a person may want to act on.
 */

import type { VNode } from "preact";
import type { Room } from "../state/room";
import { clockOf } from "../text/time";
import type { AgentDecision, Work } from "../types";

const SHOWN = new Set(["waiting", "failed", "handed_over"]);

/** What has more to say than the strip's few words: what it waits for, why it failed, who has it now. */
export function worthALine(one: AgentDecision): boolean {
  const work = one.work;
  return work !== undefined && SHOWN.has(work.state) && standing(work, (name) => name) !== "";
}

/** More about how it stands; that it waits or failed is on the strip already. */
export function standing(work: Work, nameOf: (one: string) => string): string {
  switch (work.state) {
    case "waiting":
      return work.message ?? "";
    case "failed":
      return [work.message, work.code && `(${work.code})`].filter(Boolean).join(" ") || "It did not say why.";
    case "handed_over":
      return work.to === "user" ? "The owner was told." : work.to ? `${nameOf(work.to)} has it now.` : "";
    default:
      return "";
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
            <span>
              {shown.length > 1 && <b>{room.nameOf(one.agent)}: </b>}
              {standing(work, (name) => room.nameOf(name))}
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
