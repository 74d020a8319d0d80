/**
 * The dashboard's numbers, folded from events: messages, turns, turns avoided, reply times, open obligations.
 * Pure: events in, buckets out.
 */

import type { LedgerEvent } from "../types";

export interface Bucket {
  at: number;
  people: number;
  agents: number;
  turns: number;
  avoided: number;
  open: number;
  replies: number[];
}

export interface Figures {
  buckets: Bucket[];
  messages: number;
  turns: number;
  avoided: number;
  open: number;
  median: number | null;
  slow: number | null;
}

const TURNS = new Set(["immediate", "buffered"]);
const isPerson = (by: string): boolean => by === "user" || by.startsWith("usr:");

/** A duty begins with a delivery that obliges, and ends with a closing disposition. */
export function figuresOf(events: readonly LedgerEvent[], agents: number, from: number, to: number, count: number): Figures {
  const width = Math.max(1, (to - from) / count);
  const buckets: Bucket[] = Array.from({ length: count }, (_, index) => ({ at: from + index * width, people: 0, agents: 0, turns: 0, avoided: 0, open: 0, replies: [] }));
  const opened = new Map<string, { at: number; bucket: number }>();
  const said = new Map<string, number>();
  const woken = new Map<string, Set<string>>();
  const changes = new Array<number>(count).fill(0);
  for (const event of events) {
    const at = Date.parse(event.ts);
    if (at < from || at > to) continue;
    const index = Math.min(count - 1, Math.floor((at - from) / width));
    const bucket = buckets[index]!;
    const data = event.data;
    if (event.kind === "chat.message") {
      if (isPerson(event.by)) bucket.people++;
      else bucket.agents++;
      said.set(event.id, index);
      const begun = data.reply_to === undefined ? undefined : opened.get(`${data.reply_to} ${event.by}`);
      if (begun !== undefined && begun.at > 0) {
        bucket.replies.push(at - begun.at);
        begun.at = 0;
      }
    } else if (event.kind === "x.c2a.delivery") {
      const key = `${data.event_id} ${data.session}`;
      if (TURNS.has(data.mode) && data.policy !== "must_not_respond") {
        const known = woken.get(data.event_id) ?? new Set();
        if (!known.has(data.session)) bucket.turns++;
        woken.set(data.event_id, known.add(data.session));
      }
      if (data.policy === "must_respond" && !opened.has(key)) {
        opened.set(key, { at, bucket: index });
        changes[index]!++;
      }
    } else if (event.kind === "x.c2a.disposition" && (data.closes || data.disposition === "responded")) {
      const key = `${data.event_id} ${data.session}`;
      const begun = opened.get(key);
      if (begun !== undefined) {
        if (begun.at > 0 && data.disposition === "responded") bucket.replies.push(at - begun.at);
        opened.delete(key);
        changes[index]!--;
      }
    }
  }
  // Every message could have woken every agent; those it did not wake are turns that nobody paid for.
  for (const [id, index] of said) buckets[index]!.avoided += Math.max(0, agents - (woken.get(id)?.size ?? 0));
  let open = 0;
  for (const [index, bucket] of buckets.entries()) {
    open += changes[index]!;
    bucket.open = open;
  }
  const times = buckets.flatMap((one) => one.replies).sort((a, b) => a - b);
  const sum = (pick: (one: Bucket) => number) => buckets.reduce((total, one) => total + pick(one), 0);
  return {
    buckets,
    messages: sum((one) => one.people + one.agents),
    turns: sum((one) => one.turns),
    avoided: sum((one) => one.avoided),
    open,
    median: times.length > 0 ? times[times.length >> 1]! : null,
    slow: times.length > 0 ? times[Math.min(times.length - 1, Math.floor(times.length * 0.95))]! : null,
  };
}
