/** What a person has begun to say to a question: kept by this tab over a reload, a lost line and a restart. */

import { signal, type Signal } from "@preact/signals";

export interface Draft {
  /** Fields that are to be shared, or not; those not named stand as the question came. */
  share?: Record<string, boolean>;
  /** What was written in place of a value. */
  values?: Record<string, unknown>;
  choice?: number;
  ticks?: string[];
  counter?: { field: string; value: string };
  /** Which part of the card is unfolded. */
  open?: "counter" | "excuse" | undefined;
  /** Put aside: it waits, folded, until it is opened again (A2ACP-131). */
  later?: boolean;
}

const PREFIX = "tacit.agent.draft.";
const known = new Map<string, Signal<Draft>>();

export function draftOf(questionId: string): Signal<Draft> {
  let found = known.get(questionId);
  if (found === undefined) {
    found = signal(read(questionId));
    known.set(questionId, found);
  }
  return found;
}

export function change(questionId: string, part: Draft): void {
  const draft = draftOf(questionId);
  draft.value = { ...draft.peek(), ...part };
  try {
    sessionStorage.setItem(PREFIX + questionId, JSON.stringify(draft.peek()));
  } catch {
    // A full or forbidden store: it lasts as long as the page.
  }
}

export function drop(questionId: string): void {
  known.delete(questionId);
  try {
    sessionStorage.removeItem(PREFIX + questionId);
  } catch {
    // As above.
  }
}

/** Let go of what was begun for questions that are there no more. */
export function dropOthers(there: ReadonlySet<string>): void {
  for (const questionId of known.keys()) if (!there.has(questionId)) known.delete(questionId);
  try {
    const kept = Array.from({ length: sessionStorage.length }, (_, place) => sessionStorage.key(place) ?? "");
    for (const key of kept) if (key.startsWith(PREFIX) && !there.has(key.slice(PREFIX.length))) sessionStorage.removeItem(key);
  } catch {
    // As above.
  }
}

function read(questionId: string): Draft {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(PREFIX + questionId) ?? "{}");
    return typeof found === "object" && found !== null ? (found as Draft) : {};
  } catch {
    return {};
  }
}
