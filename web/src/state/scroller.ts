/**
 * Where rows stand on a page that is far longer than what is loaded. Pure arithmetic, no elements.
 *
 * The loaded rows lie between two stretches of guessed height, `above` and `below`, so that the scrollbar tells the
 * truth about where one is. Whenever a height turns out different, the difference is taken from `above`: what the
 * reader looks at does not move.
 */

export interface Item {
  key: string;
  seq: number;
}

const TALLEST = 12_000_000;

export class Scroller {
  above = 0;
  below = 0;
  private items: readonly Item[] = [];
  private tops: number[] = [0];
  private at = new Map<string, number>();
  private readonly heights = new Map<string, number>();
  private starts = false;
  private guess: number;

  constructor(guess = 64) {
    this.guess = guess;
  }

  get loaded(): number {
    return this.tops[this.items.length] ?? 0;
  }

  get total(): number {
    return this.above + this.loaded + this.below;
  }

  get count(): number {
    return this.items.length;
  }

  private layOut(): void {
    const tops = new Array<number>(this.items.length + 1);
    tops[0] = 0;
    for (let i = 0; i < this.items.length; i++) tops[i + 1] = tops[i]! + (this.heights.get(this.items[i]!.key) ?? this.guess);
    this.tops = tops;
  }

  /** Where a row begins on the page; null when it is not loaded. */
  topOf(key: string): number | null {
    const at = this.at.get(key);
    return at === undefined ? null : this.above + this.tops[at]!;
  }

  heightOf(key: string): number {
    return this.heights.get(key) ?? this.guess;
  }

  indexOfKey(key: string): number | undefined {
    return this.at.get(key);
  }

  keyAt(index: number): string | undefined {
    return this.items[index]?.key;
  }

  /** The first row at or after a position. */
  indexOfSeq(seq: number): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.items[middle]!.seq < seq) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, Math.max(0, this.items.length - 1));
  }

  private perSeq(last: number): number {
    const first = this.items[0];
    const end = this.items.at(-1);
    if (first === undefined || end === undefined) return this.guess;
    const density = this.items.length / Math.max(1, end.seq - first.seq + 1);
    const average = this.loaded / this.items.length;
    return Math.min(average * density, TALLEST / Math.max(1, last));
  }

  /**
   * Take new rows. `anchor` is the row that must not move; the answer is how far the page has to scroll for that.
   * Without an anchor among the new rows the guess decides where they lie, unless `pin` says it.
   */
  place(
    items: readonly Item[],
    edges: { starts: boolean; ends: boolean; last: number },
    anchor: string | null,
    pin: { seq: number; y: number } | null = null,
  ): number {
    const before = anchor === null ? null : this.topOf(anchor);
    this.items = items;
    this.at = new Map(items.map((one, index) => [one.key, index]));
    this.starts = edges.starts;
    this.layOut();
    const end = items.at(-1)?.seq ?? 0;
    const each = this.perSeq(edges.last);
    this.below = edges.ends ? 0 : Math.max(400, (edges.last - end) * each);
    const after = anchor === null ? null : this.topOf(anchor);
    if (before !== null && after !== null) return this.settle(after - before);
    if (pin !== null) {
      this.above = pin.y - this.tops[this.indexOfSeq(pin.seq)]!;
      return this.settle(0);
    }
    this.above = edges.starts ? 0 : Math.max(400, (items[0]?.seq ?? 0) * each);
    return 0;
  }

  /** Rows would move by `shift`: absorb it above where there is room, else scroll by what is left. */
  private settle(shift: number): number {
    const wanted = this.above - shift;
    if (this.starts) {
      const given = this.above;
      this.above = 0;
      return shift - given;
    }
    this.above = Math.max(0, wanted);
    return this.above - wanted;
  }

  /** Take measured heights; answers how far to scroll so that `anchor` stays. */
  measure(found: Iterable<[string, number]>, anchor: string | null): number {
    let changed = false;
    for (const [key, height] of found) {
      const known = this.heights.get(key);
      if (known === undefined || Math.abs(known - height) > 0.25) {
        this.heights.set(key, height);
        changed = true;
      }
    }
    if (!changed) return 0;
    const before = anchor === null ? null : this.topOf(anchor);
    this.layOut();
    const after = anchor === null ? null : this.topOf(anchor);
    if (this.heights.size > 40 && this.heights.size % 20 === 0) this.learn();
    return before === null || after === null ? 0 : this.settle(after - before);
  }

  private learn(): void {
    let sum = 0;
    for (const height of this.heights.values()) sum += height;
    this.guess = sum / this.heights.size;
    if (this.heights.size > 4000) {
      const kept = new Set(this.items.map((one) => one.key));
      for (const key of this.heights.keys()) if (!kept.has(key)) this.heights.delete(key);
    }
  }

  /** The rows that touch a window of the page. */
  range(y: number, height: number, margin: number): [number, number] {
    const from = y - margin - this.above;
    const to = y + height + margin - this.above;
    return [this.find(from), Math.min(this.items.length, this.find(to) + 1)];
  }

  /** The row that covers a height, counted from the first loaded one. */
  private find(y: number): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1]! <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first row that is visible at a scroll position, and how far into it that is. */
  anchorAt(y: number): { key: string; offset: number } | null {
    const index = Math.min(this.find(y - this.above), this.items.length - 1);
    const item = this.items[index];
    return item === undefined ? null : { key: item.key, offset: y - this.above - this.tops[index]! };
  }

  padding(first: number, end: number): [number, number] {
    return [this.above + (this.tops[first] ?? 0), this.loaded - (this.tops[end] ?? this.loaded) + this.below];
  }

  /** The position that a height in an unloaded stretch stands for; null when it lies among the rows. */
  seqAt(y: number, last: number): number | null {
    const first = this.items[0]?.seq;
    const end = this.items.at(-1)?.seq;
    if (first === undefined || end === undefined) return null;
    if (y < this.above) return Math.max(1, (first * y) / Math.max(1, this.above));
    const beyond = y - this.above - this.loaded;
    if (beyond > 0 && this.below > 0) return Math.min(last, end + ((last - end) * beyond) / this.below);
    return null;
  }
}
