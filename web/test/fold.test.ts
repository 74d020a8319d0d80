import { describe, expect, it } from "vitest";
import { belongs, folded, indexOf, merge, placeKey, textOf } from "../src/state/fold";
import type { LedgerEvent, Row } from "../src/types";

const place = { groupId: "g" };
function event(seq: number, kind = "chat.message", data: Record<string, unknown> = {}, by = "ada"): LedgerEvent {
  return { v: 1, id: `e${seq}`, ts: "2026-01-01T00:00:00Z", seq, kind, group_id: "g", scope_key: "", by, data: { text: `m${seq}`, ...data } };
}
const row = (seq: number, more: Partial<Row> = {}): Row => ({ event: event(seq), ...more });

describe("rows, folded from events", () => {
  it("finds where a position stands", () => {
    const rows = [row(2), row(5), row(9)];
    expect([0, 2, 3, 5, 9, 10].map((seq) => indexOf(rows, seq))).toEqual([0, 0, 1, 1, 2, 3]);
  });

  it("merges two stretches without repeats, the second one winning", () => {
    const merged = merge([row(1), row(3)], [row(2), row(3, { deleted: true })]);
    expect(merged.map((one) => one.event.seq)).toEqual([1, 2, 3]);
    expect(merged[2]!.deleted).toBe(true);
  });

  it("takes a message once, in its place, however late it comes", () => {
    let rows = folded([row(1), row(3)], place, event(2));
    expect(rows.map((one) => one.event.seq)).toEqual([1, 2, 3]);
    const again = folded(rows, place, event(2));
    expect(again).toBe(rows);
  });

  it("keeps the identity of rows that do not change", () => {
    const rows = [row(1), row(2)];
    const after = folded(rows, place, event(3, "chat.reaction", { event_id: "e2", actor_id: "bob", emoji: "👍" }));
    expect(after[0]).toBe(rows[0]);
    expect(after[1]!.reactions).toEqual([{ actor_id: "bob", emoji: "👍" }]);
    expect(folded(after, place, event(4, "chat.read", { event_id: "e2", actor_id: "bob" }))).toBe(after);
  });

  it("takes a reaction back", () => {
    const reacted = [row(1, { reactions: [{ actor_id: "bob", emoji: "👍" }] })];
    const after = folded(reacted, place, event(2, "chat.reaction", { event_id: "e1", actor_id: "bob", emoji: "👍", removed: true }));
    expect(after[0]!.reactions).toEqual([]);
  });

  it("moves an acknowledgement from owing to done, once", () => {
    const asked = [row(1, { owing: ["bob", "cat"] })];
    const after = folded(asked, place, event(2, "chat.ack", { event_id: "e1", actor_id: "bob" }));
    expect(after[0]).toMatchObject({ owing: ["cat"], acknowledged: ["bob"] });
    expect(folded(after, place, event(3, "chat.ack", { event_id: "e1", actor_id: "bob" }))).toBe(after);
  });

  it("follows a chain of edits and forgets everything on delete", () => {
    let rows = [row(1)];
    rows = folded(rows, place, event(2, "x.c2a.edit", { supersedes: "e1", text: "second" }));
    rows = folded(rows, place, event(3, "x.c2a.edit", { supersedes: "e2", text: "third" }));
    expect(textOf(rows[0]!)).toBe("third");
    rows = folded(rows, place, event(4, "x.c2a.delete", { event_id: "e1" }));
    expect(textOf(rows[0]!)).toBe("");
    expect(JSON.stringify(rows)).not.toMatch(/m1|second|third/);
    expect(folded(rows, place, event(5, "x.c2a.edit", { supersedes: "e1", text: "fourth" }))).toBe(rows);
  });

  it("counts a reply at its root and quotes its parent", () => {
    let rows = folded([row(1)], place, event(2, "chat.message", { reply_to: "e1" }));
    rows = folded(rows, place, event(3, "chat.message", { reply_to: "e2" }));
    expect(rows[0]!.replies).toBe(2);
    expect(rows[2]).toMatchObject({ root: "e1", quoted: { event_id: "e2", text: "m2" } });
  });

  it("tells places apart", () => {
    const dm = { groupId: "g", parties: ["user", "ada"] };
    expect(belongs(place, [], event(1), ["ada", "user"])).toBe(false);
    expect(belongs(dm, [], event(1), ["ada", "user"])).toBe(true);
    expect(belongs(dm, [], event(1), ["ada", "bob"])).toBe(false);
    expect(belongs(dm, [], event(1))).toBe(false);
    expect(belongs({ groupId: "g", root: "e1" }, [], event(2, "chat.message", { reply_to: "e1" }))).toBe(true);
    expect(belongs({ groupId: "g", root: "e1" }, [], event(2))).toBe(false);
    expect(placeKey(dm)).toBe(placeKey({ groupId: "g", parties: ["ada", "user"] }));
  });
});
