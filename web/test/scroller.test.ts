import { describe, expect, it } from "vitest";
import { Scroller } from "../src/state/scroller";

const items = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => ({ key: `k${from + index}`, seq: from + index }));
const all = { starts: true, ends: true, last: 100 };

describe("where rows stand", () => {
  it("adds up guessed and measured heights", () => {
    const one = new Scroller(10);
    one.place(items(1, 11), all, null);
    expect(one.total).toBe(100);
    one.measure([["k1", 30]], null);
    expect(one.topOf("k2")).toBe(30);
    expect(one.range(25, 20, 0)).toEqual([0, 3]);
  });

  it("keeps what is looked at in place when rows come above, as long as there is room", () => {
    const one = new Scroller(10);
    one.place(items(501, 521), { starts: false, ends: true, last: 520 }, null);
    const before = one.topOf("k501")!;
    const shift = one.place(items(481, 521), { starts: false, ends: true, last: 520 }, "k501");
    expect(shift).toBe(0);
    expect(one.topOf("k501")).toBe(before);
  });

  it("scrolls by what is left when the beginning is reached", () => {
    const one = new Scroller(10);
    one.place(items(21, 41), { starts: false, ends: true, last: 40 }, null);
    const before = one.topOf("k21")!;
    const shift = one.place(items(1, 41), { starts: true, ends: true, last: 40 }, "k21");
    expect(one.above).toBe(0);
    expect(one.topOf("k21")! - before).toBe(shift);
  });

  it("absorbs a height that turns out different above the anchor", () => {
    const one = new Scroller(10);
    one.place(items(501, 521), { starts: false, ends: true, last: 520 }, null);
    const before = one.topOf("k510")!;
    expect(one.measure([["k502", 60]], "k510")).toBe(0);
    expect(one.topOf("k510")).toBe(before);
  });

  it("knows which position an unloaded height stands for, however long the ledger is", () => {
    const one = new Scroller(60);
    one.place(items(999_900, 1_000_000), { starts: false, ends: true, last: 1_000_000 }, null);
    expect(one.total).toBeLessThan(13_000_000);
    expect(one.seqAt(one.above / 2, 1_000_000)).toBeCloseTo(499_950, -2);
    expect(one.seqAt(one.above + 5, 1_000_000)).toBeNull();
  });

  it("lays a stretch so that a position is where the reader dropped the scrollbar", () => {
    const one = new Scroller(10);
    one.place(items(901, 1001), { starts: false, ends: true, last: 1000 }, null);
    one.place(items(401, 501), { starts: false, ends: false, last: 1000 }, null, { seq: 450, y: 4000 });
    expect(one.topOf("k450")).toBe(4000);
  });
});
