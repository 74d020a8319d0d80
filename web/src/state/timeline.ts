/**
 * One place's history as far as it is loaded: a stretch of rows that grows at either end and forgets at the other.
 *
 * `starts` and `ends` say whether the stretch reaches the beginning and the live end. Events that arrive while the
 * end is being fetched wait and are folded after it: none is lost between the answer and the stream.
 */

import { signal } from "@preact/signals";
import type { LedgerEvent, Row, Stretch } from "../types";
import { folded, isIncomplete, merge, type Place } from "./fold";

export type Ask = (params: Record<string, unknown>) => Promise<Stretch>;

/** The kind of a row that stands for an event which the hub cannot show any more. */
export const DAMAGED = "damaged";
const PAGE = 80;
const MOST = 640;

/**
 * The rows of an answer, and in the room a quiet one for each place whose event is damaged. What lies outside of the
 * stretch is left out: whoever goes on from its first or last row must not skip any.
 */
export function withDamaged(found: Stretch, place: Place): Row[] {
  const [first, last] = [found.rows[0]?.event, found.rows.at(-1)?.event];
  if (!found.damaged?.length || place.parties || place.root || !first || !last) return found.rows;
  const inside = found.damaged.filter((seq) => (seq > first.seq || found.starts) && (seq < last.seq || found.ends));
  return merge(
    found.rows,
    inside.map((seq) => {
      const near = found.rows.findLast((row) => row.event.seq < seq)?.event ?? first;
      return { event: { ...near, id: `${DAMAGED}-${seq}`, seq, kind: DAMAGED, by: "system", data: {} } };
    }),
  );
}

export class Timeline {
  readonly rows = signal<Row[]>([]);
  readonly ready = signal(false);
  readonly failed = signal<Error | null>(null);
  /** Live messages that lie beyond the loaded stretch. */
  readonly beyond = signal(0);
  starts = false;
  ends = false;
  lastSeq = 0;
  private loading: Promise<void> | null = null;
  private held: [LedgerEvent, string[] | undefined][] | null = null;
  private generation = 0;

  constructor(
    readonly place: Place,
    private readonly ask: Ask,
  ) {}

  private params(more: Record<string, unknown>): Record<string, unknown> {
    const { groupId, parties, root } = this.place;
    return { group_id: groupId, limit: PAGE, ...(parties && { parties }), ...(root && { root }), ...more };
  }

  /** One request at a time; a jump makes whatever is under way worthless. */
  private run(work: (isCurrent: () => boolean) => Promise<void>, jump = false): Promise<void> {
    if (this.loading !== null && !jump) return this.loading;
    const mine = jump ? ++this.generation : this.generation;
    const done = work(() => mine === this.generation)
      .then(() => {
        this.failed.value = null;
      })
      .catch((error: Error) => {
        if (mine === this.generation) this.failed.value = error;
      })
      .finally(() => {
        if (this.loading === done) this.loading = null;
      });
    this.loading = done;
    return done;
  }

  /** Show the newest messages. */
  toEnd(): Promise<void> {
    return this.run(async (isCurrent) => {
      this.held = [];
      try {
        const found = await this.ask(this.params({}));
        if (isCurrent()) this.replace(found, true);
      } finally {
        this.release(isCurrent);
      }
    }, true);
  }

  /** Show what stands around a position. */
  around(seq: number): Promise<void> {
    return this.run(async (isCurrent) => {
      this.held = [];
      try {
        const found = await this.ask(this.params({ around_seq: Math.max(1, Math.round(seq)) }));
        if (isCurrent()) this.replace(found, found.ends);
      } finally {
        this.release(isCurrent);
      }
    }, true);
  }

  private replace(found: Stretch, ends: boolean): void {
    this.starts = found.starts;
    this.ends = ends;
    this.lastSeq = Math.max(this.lastSeq, found.last_seq);
    if (ends) this.beyond.value = 0;
    this.rows.value = withDamaged(found, this.place);
    this.ready.value = true;
  }

  /** Fold what waited, unless a later jump is under way: then it waits for that one's answer. */
  private release(isCurrent: () => boolean): void {
    if (!isCurrent()) return;
    const waiting = this.held ?? [];
    this.held = null;
    for (const [event, parties] of waiting) this.take(event, parties);
  }

  earlier(): Promise<void> {
    const first = this.rows.value[0];
    if (this.starts || first === undefined) return Promise.resolve();
    return this.run(async (isCurrent) => {
      const found = await this.ask(this.params({ before_seq: first.event.seq }));
      if (!isCurrent()) return;
      this.starts = found.starts;
      let rows = merge(withDamaged(found, this.place), this.rows.value);
      if (rows.length > MOST) {
        rows = rows.slice(0, MOST);
        this.ends = false;
      }
      this.rows.value = rows;
    });
  }

  later(): Promise<void> {
    const last = this.rows.value.at(-1);
    if (this.ends || last === undefined) return Promise.resolve();
    return this.run(async (isCurrent) => {
      this.held = [];
      try {
        const found = await this.ask(this.params({ after_seq: last.event.seq }));
        if (!isCurrent()) return;
        let rows = merge(this.rows.value, withDamaged(found, this.place));
        this.ends = found.ends;
        if (this.ends) this.beyond.value = 0;
        if (rows.length > MOST) {
          rows = rows.slice(rows.length - MOST);
          this.starts = false;
        }
        this.rows.value = rows;
      } finally {
        this.release(isCurrent);
      }
    });
  }

  /** Fold a live event. */
  take(event: LedgerEvent, parties?: string[]): void {
    this.lastSeq = Math.max(this.lastSeq, event.seq);
    if (this.held !== null) {
      this.held.push([event, parties]);
      return;
    }
    if (!this.ready.value) return;
    const before = this.rows.value;
    const after = folded(before, this.place, event, parties);
    if (after === before) return;
    const grew = after.length > before.length;
    if (grew && !this.ends) {
      this.beyond.value++;
      return;
    }
    this.rows.value = after.length > MOST ? this.shortened(after) : after;
    const row = grew ? after.find((one) => one.event.id === event.id) : undefined;
    if (row !== undefined && isIncomplete(row)) void this.refresh(event.seq);
  }

  private shortened(rows: Row[]): Row[] {
    this.starts = false;
    return rows.slice(rows.length - MOST);
  }

  /** Ask the hub again for one row. */
  async refresh(seq: number): Promise<void> {
    const found = await this.ask(this.params({ after_seq: seq - 1, limit: 1 })).catch(() => null);
    const row = found?.rows[0];
    if (row === undefined || row.event.seq !== seq) return;
    if (this.rows.value.some((one) => one.event.seq === seq)) this.rows.value = merge(this.rows.value, [row]);
  }
}
