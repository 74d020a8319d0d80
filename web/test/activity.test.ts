// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Line } from "../src/net/socket";
import { summed } from "../src/ui/activity";
import { tail } from "../src/ui/approvals";
import { Activities, ASKED_EVERY, DRAWN_EVERY, type Card } from "../src/state/activity";

function update(number: number, text = `step ${number}`) {
  return { event_id: "e1", session: "ada", turn: "t1", state: "running" as const, update: number, items: [{ id: "w", kind: "text" as const, state: "running" as const, text }] };
}

function activities() {
  const asked: string[] = [];
  const line = { call: async (name: string) => (asked.push(name), { cards: [], away: [] }) } as unknown as Line;
  return { made: new Activities("g1", line), asked };
}

describe("what a card says", () => {
  it("names a long folder by its end and a cost below a cent as such", () => {
    expect(tail("/srv/importer")).toBe("/srv/importer");
    expect(tail("/home/ann/.local/share/tacit-join/g_01a1e329b817c7be/ada/worktree/importer")).toBe("…/ada/worktree/importer");
    expect(summed([{ duration_ms: 1000, cost_usd: 0.0003 }] as never)).toContain("under $0.01");
  });
});

describe("a card's stream", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "requestAnimationFrame", "performance"] });
  });
  afterEach(() => vi.useRealTimers());

  it("is drawn at once, and then a few times a second, however fast it comes, to its last update", () => {
    const { made } = activities();
    const drawn: Card[][] = [];
    made.of("e1").subscribe((cards) => void drawn.push(cards));
    made.take(update(1));
    vi.advanceTimersByTime(20);
    expect(drawn.length).toBe(2);
    for (let number = 2; number <= 201; number++) {
      made.take(update(number));
      vi.advanceTimersByTime(5);
    }
    vi.advanceTimersByTime(DRAWN_EVERY * 2);
    expect(drawn.length).toBeLessThan(2 + 1000 / DRAWN_EVERY + 3);
    expect(drawn.at(-1)![0]!.items[0]!.text).toBe("step 201");
  });

  it("is drawn in a page that is hidden, which has no frames: it would keep every update until somebody looks", () => {
    vi.stubGlobal("requestAnimationFrame", () => 0);
    const { made } = activities();
    for (let number = 1; number <= 50; number++) {
      made.take(update(number));
      vi.advanceTimersByTime(DRAWN_EVERY);
    }
    vi.unstubAllGlobals();
    expect(made.of("e1").value[0]!.items[0]!.text).toBe("step 50");
  });

  it("loses, connected again, what ended while nobody here was told, and keeps what runs on", async () => {
    const goesOn = { session: "bea", turn: "t2", state: "running" as const, update: 3, items: [] };
    const line = { call: async () => ({ cards: [goesOn], away: [] }) } as unknown as Line;
    const made = new Activities("g1", line);
    made.take(update(1));
    made.take({ ...update(1), session: "bea", turn: "t2" });
    vi.advanceTimersByTime(DRAWN_EVERY);
    made.resume();
    for (let round = 0; round < 8; round++) await Promise.resolve();
    expect(made.of("e1").value.map((card) => [card.turn, card.update])).toEqual([["t2", 3]]);
  });

  it("is forgotten in time, even where nobody heard of its end", () => {
    const { made } = activities();
    const first = made.of("e0");
    for (let number = 0; number < 100; number++) {
      made.take({ ...update(1), event_id: `e${number}`, turn: `t${number}` });
      vi.advanceTimersByTime(DRAWN_EVERY);
    }
    expect(made.of("e99").value.length).toBe(1);
    expect(made.of("e0")).not.toBe(first);
  });

  it("is asked for once in a while where updates are missed, the first time at once", async () => {
    const { made, asked } = activities();
    for (let number = 10; number < 410; number += 2) {
      made.take(update(number));
      await vi.advanceTimersByTimeAsync(10);
      if (number === 40) expect(asked.length).toBe(1);
    }
    await vi.advanceTimersByTimeAsync(2 * ASKED_EVERY);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  it("keeps what came while the hub was asked, and asks again where something was missed meanwhile", async () => {
    const answers: ((found: unknown) => void)[] = [];
    const line = { call: () => new Promise((resolve) => answers.push(resolve)) } as unknown as Line;
    const made = new Activities("g1", line);
    void made.fetch("e1");
    made.take(update(3));
    await vi.advanceTimersByTimeAsync(2 * ASKED_EVERY);
    expect(answers.length).toBe(1);
    const before = { id: "b", kind: "edit", state: "done", text: "before" };
    answers[0]!({ cards: [{ session: "ada", turn: "t1", state: "running", update: 2, items: [before, { ...update(2).items[0]! }] }], away: [] });
    await vi.advanceTimersByTimeAsync(2 * ASKED_EVERY);
    expect(made.of("e1").value[0]!.items.map((item) => item.text)).toEqual(["before", "step 3"]);
    expect(answers.length).toBe(2);
  });
});

describe("an agent that leaves", () => {
  it("takes the cards of its running turns along, and no others", () => {
    const { made } = activities();
    const card = (session: string, state: Card["state"]): Card => ({ session, turn: `${session}.${state}`, state, update: 1, items: [] });
    made.of("e1").value = [card("ada", "running"), card("ada", "ended"), card("bob", "running")];
    const other = [card("bob", "running")];
    made.of("e2").value = other;
    made.left("ada");
    expect(made.of("e1").value.map((one) => one.turn)).toEqual(["ada.ended", "bob.running"]);
    expect(made.of("e2").value).toBe(other);
  });
});
