/**
 * Rows, changed by events: the browser's fold over the ledger. Pure: rows in, rows out.
 *
 * A row that does not change keeps its identity, so that what is on screen is not drawn again.
 */

import type { LedgerEvent, Row } from "../types";

export const SHOWN = new Set([
  "chat.message",
  "system.notify",
  "group.create",
  "actor.add",
  "actor.remove",
  "x.tacit.person.add",
]);

/** Where one looks. */
export interface Place {
  groupId: string;
  parties?: readonly string[];
  root?: string;
}

export function placeKey(place: Place): string {
  if (place.root !== undefined) return `${place.groupId}/thread/${place.root}`;
  if (place.parties !== undefined) return `${place.groupId}/dm/${[...place.parties].sort().join(",")}`;
  return place.groupId;
}

export function sameParties(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && [...one].sort().join("\n") === [...other].sort().join("\n");
}

/** The index of a position in ascending rows, or where it would stand. */
export function indexOf(rows: readonly Row[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.event.seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Two ascending stretches as one; a position that both have is taken from the second. */
export function merge(first: readonly Row[], second: readonly Row[]): Row[] {
  const out: Row[] = [];
  let i = 0;
  let j = 0;
  while (i < first.length || j < second.length) {
    const a = first[i]?.event.seq ?? Infinity;
    const b = second[j]?.event.seq ?? Infinity;
    if (a < b) out.push(first[i++]!);
    else {
      if (a === b) i++;
      out.push(second[j++]!);
    }
  }
  return out;
}

function changed(rows: Row[], find: (row: Row) => boolean, change: (row: Row) => Row): Row[] {
  // What is spoken about is mostly near the end.
  for (let at = rows.length - 1; at >= 0; at--) {
    if (find(rows[at]!)) {
      const row = change(rows[at]!);
      if (row === rows[at]) return rows;
      const out = rows.slice();
      out[at] = row;
      return out;
    }
  }
  return rows;
}

const byId = (id: unknown) => (row: Row) => row.event.id === id;

/** Does a live message stand in this place? `rows` are those already there. */
export function belongs(place: Place, rows: readonly Row[], event: LedgerEvent, parties?: string[]): boolean {
  if (!SHOWN.has(event.kind)) return false;
  if (place.root !== undefined) {
    const to = event.data.reply_to;
    return event.kind === "chat.message" && to !== undefined && (to === place.root || rows.some(byId(to)));
  }
  if (place.parties !== undefined) return parties !== undefined && sameParties(parties, place.parties);
  return parties === undefined;
}

function entered(rows: Row[], event: LedgerEvent, parties?: string[]): Row[] {
  const row: Row = parties === undefined ? { event } : { event, parties };
  const replied = event.data.reply_to;
  let out = rows;
  if (event.kind === "chat.message" && replied !== undefined) {
    const parent = rows.find(byId(replied));
    if (parent !== undefined) {
      row.root = parent.root ?? parent.event.id;
      row.quoted = {
        event_id: parent.event.id,
        seq: parent.event.seq,
        by: parent.event.by,
        text: textOf(parent).slice(0, 160),
      };
      const root = row.root;
      out = changed(out, byId(root), (one) => ({ ...one, replies: (one.replies ?? 0) + 1 }));
    }
  }
  const at = indexOf(out, event.seq);
  if (out[at]?.event.seq === event.seq) return rows;
  out = out.slice();
  out.splice(at, 0, row);
  return out;
}

/** The text that a row shows now. */
export function textOf(row: Row): string {
  if (row.deleted) return "";
  return row.edit?.text ?? String(row.event.data.text ?? "");
}

function reacted(row: Row, actor: string, emoji: string, removed: boolean): Row {
  const others = (row.reactions ?? []).filter((one) => one.actor_id !== actor || one.emoji !== emoji);
  return { ...row, reactions: removed ? others : [...others, { actor_id: actor, emoji }] };
}

function acknowledged(row: Row, actor: string): Row {
  if (row.acknowledged?.includes(actor)) return row;
  return {
    ...row,
    acknowledged: [...(row.acknowledged ?? []), actor],
    owing: (row.owing ?? []).filter((one) => one !== actor),
  };
}

function emptied(row: Row): Row {
  const { edit: _edit, ...kept } = row;
  const { to, reply_to, conversation } = row.event.data;
  const data = Object.fromEntries(Object.entries({ to, reply_to, conversation }).filter(([, value]) => value !== undefined));
  return { ...kept, deleted: true, event: { ...row.event, data: { ...data, text: "" } } };
}

/** The rows of a place after an event; the very same array when nothing on it changed. */
export function folded(rows: Row[], place: Place, event: LedgerEvent, parties?: string[]): Row[] {
  const data = event.data;
  switch (event.kind) {
    case "chat.reaction":
      return changed(rows, byId(data.event_id), (row) => reacted(row, data.actor_id, data.emoji, data.removed === true));
    case "chat.ack":
      return changed(rows, byId(data.event_id), (row) => acknowledged(row, data.actor_id));
    case "system.notify_ack":
      return changed(rows, byId(data.notify_event_id), (row) => acknowledged(row, data.actor_id));
    case "x.c2a.withdrawal":
      return changed(rows, byId(data.notice_id), (row) => ({
        ...row,
        withdrawn: String(data.by ?? ""),
        owing: (row.owing ?? []).filter((one) => one !== data.actor_id),
      }));
    case "x.c2a.edit":
      return changed(rows, formOf(data.supersedes), (row) =>
        row.deleted ? row : { ...row, edit: { event_id: event.id, ts: event.ts, text: String(data.text ?? "") } },
      );
    case "x.c2a.delete":
      return changed(rows, formOf(data.event_id), emptied);
    default:
      return belongs(place, rows, event, parties) ? entered(rows, event, parties) : rows;
  }
}

/** An edit may name the message or its latest form. */
const formOf = (id: unknown) => (row: Row) => row.event.id === id || row.edit?.event_id === id;

/** Does a live row need the hub's own word: who owes an acknowledgement, what was quoted? */
export function isIncomplete(row: Row): boolean {
  const data = row.event.data;
  return (
    data.priority === "attention" ||
    data.requires_ack === true ||
    (row.event.kind === "chat.message" && data.reply_to !== undefined && row.quoted === undefined)
  );
}
