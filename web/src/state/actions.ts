/** What a person can do to a message. Each answers to the person when it fails. */

import type { Row } from "../types";
import { signalOf } from "./signals";
import { call, complain, me, say } from "./hub";
import { placeKey, textOf, type Place } from "./fold";
import { newId } from "./ids";
import type { Room } from "./room";
import { go } from "./router";
import { jumpTo, panel } from "./ui";

export async function react(row: Row, emoji: string): Promise<void> {
  const mine = row.reactions?.some((one) => one.actor_id === me.peek() && one.emoji === emoji) ?? false;
  const signal = signalOf(emoji)?.name;
  const data = { event_id: row.event.id, actor_id: me.peek(), emoji, ...(signal && { signal }), ...(mine && { removed: true }) };
  await call("append", { group_id: row.event.group_id, kind: "chat.reaction", data }).catch(complain);
}

export async function acknowledge(event: { id: string; group_id: string; kind: string }): Promise<void> {
  const notice = event.kind === "system.notify";
  const kind = notice ? "system.notify_ack" : "chat.ack";
  const data = { [notice ? "notify_event_id" : "event_id"]: event.id, actor_id: me.peek() };
  await call("append", { group_id: event.group_id, kind, data }).catch(complain);
}

export async function edit(row: Row, text: string): Promise<boolean> {
  try {
    await call("edit", { group_id: row.event.group_id, event_id: row.event.id, text, client_id: newId() });
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export async function remove(row: Row): Promise<void> {
  await call("delete", { group_id: row.event.group_id, event_id: row.event.id }).catch(complain);
}

export async function relay(row: Row, toGroup: string, note: string): Promise<boolean> {
  // The hub wants the words of the first form, or a mark that these are not they.
  const text = [...(row.edit ? ["[Summarized]"] : []), ...(note.trim() ? [note.trim()] : []), textOf(row)].join("\n\n");
  try {
    await call("relay", {
      group_id: toGroup,
      src_group_id: row.event.group_id,
      src_event_id: row.event.id,
      client_id: newId(),
      ...((row.edit || note.trim()) && { text }),
    });
    say("Relayed.");
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

/** The place where a row stands. */
export function placeOf(row: Row): Place {
  return { groupId: row.event.group_id, ...(row.parties && { parties: row.parties }) };
}

/** Show a message where it was said. */
export function showRow(row: { event: Row["event"]; parties?: string[] }): void {
  const place: Place = { groupId: row.event.group_id, ...(row.parties && { parties: row.parties }) };
  if (place.parties) go({ groupId: place.groupId, view: "dm", detail: [...place.parties].sort().join(",") });
  else go({ groupId: place.groupId });
  jumpTo(placeKey(place), row.event.seq);
  // On a phone a panel lies over the page: what was asked for stands behind it.
  if (matchMedia("(max-width: 820px)").matches) panel.value = null;
}

/** Show a message of which only the id is known; the hub says whether it was private. Refuses what one may not see. */
export async function showEvent(groupId: string, eventId: string): Promise<void> {
  showRow(await call<{ event: Row["event"]; parties?: string[] }>("event", { group_id: groupId, event_id: eventId }));
}

/** Open the thread in which a message stands, of which only the id is known. */
export async function openThreadOf(groupId: string, eventId: string): Promise<void> {
  const { event } = await call<{ event: Row["event"] }>("event", { group_id: groupId, event_id: eventId });
  const found = await call<{ rows: Row[] }>("timeline", { group_id: groupId, after_seq: event.seq - 1, limit: 1 });
  panel.value = { kind: "thread", root: found.rows.find((row) => row.event.id === eventId)?.root ?? eventId };
}

export function openThread(row: Row): void {
  panel.value = { kind: "thread", root: row.root ?? row.event.id };
}

const moving = new Map<string, number>();

/** Move the read cursor to the newest message that may carry it (CCCS-069). */
export function markRead(room: Room, rows: readonly Row[]): void {
  const target = rows.findLast((row) => carriesCursor(row, room));
  if (target === undefined || target.event.seq <= room.cursor.peek()) return;
  if ((moving.get(room.id) ?? 0) >= target.event.seq) return;
  moving.set(room.id, target.event.seq);
  const data = { event_id: target.event.id, actor_id: room.me };
  call("append", { group_id: room.id, kind: "chat.read", data }).catch(() => moving.delete(room.id));
}

function carriesCursor(row: Row, room: Room): boolean {
  const { kind, by, data } = row.event;
  if (by === room.me) return false;
  if (kind === "system.notify") return data.target_actor_id === undefined || data.target_actor_id === room.me;
  if (kind !== "chat.message") return false;
  const to: string[] = data.to ?? [];
  if (row.parties) return row.parties.includes(room.me);
  const mine = room.me === "user" ? ["user", "@user"] : [room.me];
  if (data.reply_to !== undefined && to.length === 0) return true;
  return to.length === 0 || to.includes("@all") || to.some((token) => mine.includes(token));
}
