// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { pause } from "../src/net/socket";
import { figuresOf } from "../src/state/figures";
import { address, go, parse, route } from "../src/state/router";
import { signalOf } from "../src/state/signals";
import { Timeline } from "../src/state/timeline";
import type { LedgerEvent, Stretch, Work } from "../src/types";
import { fit } from "../src/ui/palette";
import { ceiling } from "../src/ui/plot";
import { gathered, markOf } from "../src/ui/strip";
import { nextOf, standing, worthALine } from "../src/ui/work";
import { commandsFor } from "../src/ui/dialogs";

const event = (seq: number, kind: string, data: Record<string, unknown>, at: number, by = "user"): LedgerEvent => ({
  v: 1, id: `e${seq}`, ts: new Date(at).toISOString(), seq, kind, group_id: "g", scope_key: "", by, data,
});

describe("the line", () => {
  it("waits longer each time, with some chance in it, and never too long", () => {
    expect(pause(0, 0)).toBe(150);
    expect(pause(3, 1)).toBe(2000);
    expect(pause(50, 1)).toBe(5000);
  });
});

describe("addresses", () => {
  it("come back as they went", () => {
    for (const route of [
      { groupId: "g_1", view: "talk" as const, detail: null },
      { groupId: "g_1", view: "dm" as const, detail: "ada,usr:ben" },
      { groupId: "g_1", view: "traces" as const, detail: "a/b" },
      { groupId: null, view: "talk" as const, detail: null },
    ]) expect(parse(address(route))).toEqual(route);
    expect(parse("#/g/x/nonsense")).toEqual({ groupId: "x", view: "talk", detail: null });
    expect(parse("#%E0%A4%A")).toEqual({ groupId: null, view: "talk", detail: null });
  });
});

describe("going somewhere", () => {
  it("may take the place of where one was", () => {
    const before = history.length;
    go({ groupId: "g_2" }, true);
    expect([history.length, location.hash, route.value.groupId]).toEqual([before, "#/g/g_2", "g_2"]);
    go({ groupId: null }, true);
  });
});

describe("a timeline", () => {
  const said = (seq: number) => ({ event: event(seq, "chat.message", { text: "x" }, seq) });
  const kinds = (one: Timeline) => one.rows.value.map((row) => [row.event.seq, row.event.kind]);

  it("has a quiet row where an event is damaged, inside of what was read", async () => {
    const stretch: Stretch = { rows: [said(3), said(6)], starts: false, ends: false, last_seq: 9, damaged: [1, 4, 5, 8] };
    const one = new Timeline({ groupId: "g" }, async () => stretch);
    await one.around(4);
    const between = [[3, "chat.message"], [4, "damaged"], [5, "damaged"], [6, "chat.message"]];
    expect(kinds(one)).toEqual(between);
    const whole = new Timeline({ groupId: "g" }, async () => ({ ...stretch, starts: true, ends: true }));
    await whole.around(4);
    expect(kinds(whole)).toEqual([[1, "damaged"], ...between, [8, "damaged"]]);
    expect(whole.rows.value[2]!.event.ts).toBe(said(3).event.ts);
  });

  it("says nothing of damage where nobody knows whether it belongs there", async () => {
    for (const place of [{ groupId: "g", parties: ["ada", "user"] }, { groupId: "g", root: "e1" }]) {
      const one = new Timeline(place, async () => ({ rows: [said(3), said(6)], starts: true, ends: true, last_seq: 9, damaged: [4] }));
      await one.toEnd();
      expect(kinds(one)).toEqual([[3, "chat.message"], [6, "chat.message"]]);
    }
  });

  it("loses nothing that arrives while its end is being fetched", async () => {
    let answer: (found: Stretch) => void = () => undefined;
    const one = new Timeline({ groupId: "g" }, () => new Promise((resolve) => (answer = resolve)));
    const loading = one.toEnd();
    one.take(event(3, "chat.message", { text: "c" }, 0));
    answer({ rows: [event(1, "chat.message", { text: "a" }, 0), event(2, "chat.message", { text: "b" }, 0)].map((e) => ({ event: e })), starts: true, ends: true, last_seq: 2 });
    await loading;
    expect(one.rows.value.map((row) => row.event.seq)).toEqual([1, 2, 3]);
  });

  it("loses nothing that arrives while one jump follows another", async () => {
    const answers: ((found: Stretch) => void)[] = [];
    const one = new Timeline({ groupId: "g" }, () => new Promise((resolve) => answers.push(resolve)));
    const rows = [{ event: event(1, "chat.message", { text: "a" }, 0) }];
    const first = one.toEnd();
    const second = one.toEnd();
    answers[0]!({ rows, starts: true, ends: true, last_seq: 1 });
    await first;
    one.take(event(2, "chat.message", { text: "b" }, 0));
    answers[1]!({ rows, starts: true, ends: true, last_seq: 1 });
    await second;
    expect(one.rows.value.map((row) => row.event.seq)).toEqual([1, 2]);
  });

  it("counts what lies beyond while an older part is shown", async () => {
    const one = new Timeline({ groupId: "g" }, async () => ({ rows: [{ event: event(5, "chat.message", {}, 0) }], starts: false, ends: false, last_seq: 90 }));
    await one.around(5);
    one.take(event(91, "chat.message", { text: "new" }, 0));
    expect(one.rows.value).toHaveLength(1);
    expect(one.beyond.value).toBe(1);
  });

  it("forgets the far end of what it has loaded", async () => {
    let next = 100_000;
    const one = new Timeline({ groupId: "g" }, async () => {
      const rows = Array.from({ length: 80 }, (_, index) => ({ event: event(next - 80 + index, "chat.message", {}, 0) }));
      next -= 80;
      return { rows, starts: false, ends: true, last_seq: 100_000 };
    });
    await one.toEnd();
    for (let page = 0; page < 20; page++) await one.earlier();
    expect(one.rows.value.length).toBe(640);
    expect(one.ends).toBe(false);
  });
});

describe("figures", () => {
  it("count messages, turns, turns avoided, reply times and what is open", () => {
    const events = [
      event(1, "chat.message", { text: "q" }, 1000),
      event(2, "x.c2a.delivery", { event_id: "e1", session: "ada", policy: "must_respond", mode: "buffered" }, 1001),
      event(3, "chat.message", { text: "a", reply_to: "e1" }, 3001, "ada"),
      event(4, "x.c2a.disposition", { event_id: "e1", session: "ada", disposition: "responded", closes: true }, 3002),
      event(5, "x.c2a.delivery", { event_id: "e3", session: "bob", policy: "must_respond", mode: "immediate" }, 4000),
    ];
    const found = figuresOf(events, 3, 0, 10_000, 10);
    expect(found).toMatchObject({ messages: 2, turns: 2, avoided: 4, open: 1, median: 2000 });
    expect(found.buckets[1]).toMatchObject({ people: 1, turns: 1, open: 1 });
  });
});

describe("small things", () => {
  it("a glyph says its word, whatever its skin", () => {
    expect(signalOf("👍")!.name).toBe("agree");
    expect(signalOf("👍🏽")!.name).toBe("agree");
    expect(signalOf("🎉")).toBeNull();
  });

  it("letters fit in order", () => {
    expect(fit("Release 2.0", "rel")).not.toBeNull();
    expect(fit("Release 2.0", "xyz")).toBeNull();
    expect(fit("Design", "des")!).toBeLessThan(fit("Old desk", "des")!);
  });

  it("axes end at round numbers", () => {
    expect([0, 7, 34, 99, 101].map(ceiling)).toEqual([4, 10, 50, 100, 200]);
  });

  it("work says its place in the queue, what it waits for, why it failed and what now", () => {
    const nameOf = (one: string) => one.toUpperCase();
    const base = { agent: "a", open: true, sentence: "", now: "Ask again.", attempt: 1, since: "", updated: "" };
    const decision = { agent: "a", directedness: "to_me", policy: "must_respond", mode: "buffered" };
    const queued: Work = { ...base, state: "queued", position: 2 };
    expect(markOf({ ...decision, state: "queued", work: queued })!.word).toBe("has it in its queue, 2 before it");
    expect(markOf({ ...decision, state: "queued", work: { ...queued, position: 0 } })!.word).toBe("pending");
    expect(worthALine({ ...decision, work: queued })).toBe(false);
    expect(worthALine({ ...decision, work: { ...base, state: "working" } })).toBe(false);
    expect(standing({ ...base, state: "waiting", message: "May I?" }, nameOf)).toBe("May I?");
    const failed: Work = { ...base, state: "failed", open: false, code: "down", message: "No model." };
    expect(worthALine({ ...decision, work: failed })).toBe(true);
    expect(standing(failed, nameOf)).toBe("No model. (down)");
    expect(nextOf(failed)).toBe("Ask again.");
    expect(nextOf({ ...failed, retry_at: "2026-01-13T10:00:00Z" })).toMatch(/^Tried again by itself at /);
    expect(standing({ ...base, state: "handed_over", to: "bob" }, nameOf)).toBe("BOB has it now.");
  });

  it("the strip says who owes, and is silent about those who must not answer", () => {
    const base = { directedness: "to_me", mode: "buffered" };
    expect(markOf({ ...base, agent: "a", policy: "must_not_respond", state: "mailbox" })).toBeNull();
    expect(markOf({ ...base, agent: "a", policy: "ack_only", state: "knocked" })!.word).toBe("receipt");
    expect(markOf({ ...base, agent: "a", policy: "ack_only", state: "acknowledged", glyph: "👍" })!.word).toBe("👍");
    expect(markOf({ ...base, agent: "a", policy: "may_respond", mode: "tool_mailbox", state: "mailbox" })!.word).toBe("offered");
    expect(markOf({ ...base, agent: "a", policy: "may_respond", mode: "silent", state: "mailbox" })).toBeNull();
    const said = gathered({ event_id: "e", seq: 1, quiet: 3, decisions: ["a", "b"].map((agent) => ({ ...base, agent, policy: "must_respond", state: "pending" })) });
    expect(said).toEqual([{ agents: ["a", "b"], word: "owe a reply", tone: "owes" }]);
  });

  it("commands carry the room, the name and the token", () => {
    for (const one of commandsFor("http://h:1", "'R'", { id: "ada", token: "tct_x" })) expect(one.text).toContain("tct_x");
  });
});
