/**
 * What agents do in their turns: live from signals, whole from the hub when somebody comes late, and afterwards
 * from the agent's own record when somebody opens it. The ledger has only the summary.
 */

import { batch, signal, type Signal } from "@preact/signals";
import type { Line } from "../net/socket";

export interface Item {
  id: string;
  kind: "command" | "edit" | "tool" | "plan" | "text" | "thought";
  state: "running" | "done" | "failed" | "refused";
  title?: string;
  text?: string;
  files?: string[];
  exitCode?: number;
  cut?: boolean;
}

export interface Card {
  session: string;
  turn: string;
  state: "running" | "ended";
  update: number;
  items: Item[];
}

interface Update extends Card {
  event_id: string;
}

const KEPT = 60;
/** Milliseconds between two drawings of cards: an eye reads no faster, and every drawing costs. */
export const DRAWN_EVERY = 150;
/** Milliseconds between two questions for a card of which an update was missed: the hub passes on twenty a second. */
export const ASKED_EVERY = 1000;

/** An update put into a card: the same thing under the same id takes its own place. */
export function merged(card: Card, update: Card): Card {
  const items = [...card.items];
  for (const one of update.items) {
    const at = items.findIndex((known) => known.id === one.id);
    if (at < 0) items.push(one);
    else items[at] = one;
  }
  return { ...card, state: update.state, update: update.update || card.update, items };
}

/** A card as the hub had it when it was asked, with what came of it since. */
function newest(card: Card, shown: Card[]): Card {
  const known = shown.find((one) => one.turn === card.turn && one.session === card.session);
  return known === undefined || known.update <= card.update || card.state === "ended" ? card : merged(card, known);
}

export class Activities {
  private readonly known = new Map<string, Signal<Card[]>>();
  private readonly asking = new Set<string>();
  private readonly again = new Set<string>();
  private readonly waiting = new Map<string, Update[]>();
  private readonly missed = new Set<string>();
  private readonly asked = new Map<string, number>();
  private drawing = 0;
  private drawn = -DRAWN_EVERY;

  constructor(
    private readonly groupId: string,
    private readonly line: Line,
  ) {}

  of(eventId: string): Signal<Card[]> {
    let found = this.known.get(eventId);
    if (found === undefined) {
      if (this.known.size >= KEPT) this.forgetOne();
      found = signal<Card[]>([]);
      this.known.set(eventId, found);
    }
    return found;
  }

  /** Make room for another: of those that have ended, else of all, the oldest goes. Not every end is heard of. */
  private forgetOne(): void {
    const all = [...this.known];
    const [eventId] = all.find(([, cards]) => cards.peek().every((card) => card.state === "ended")) ?? all[0]!;
    this.known.delete(eventId);
    this.asked.delete(eventId);
  }

  /** An agent is not connected any more: what it was at is told anew when it is back. */
  left(session: string): void {
    for (const cards of this.known.values()) {
      const rest = cards.peek().filter((card) => card.session !== session || card.state === "ended");
      if (rest.length < cards.peek().length) cards.value = rest;
    }
  }

  /** Connected again: of what ran before, some may have ended while nobody here was told. */
  resume(): void {
    for (const [eventId, cards] of this.known) {
      const running = new Set(cards.peek().filter((card) => card.state === "running"));
      if (running.size === 0 || this.asking.has(eventId)) continue;
      this.fetch(eventId).then(
        () => (cards.value = cards.peek().filter((card) => !running.has(card))),
        () => undefined,
      );
    }
  }

  /** However fast they come, updates are drawn together, a few times a second; the first one at once. */
  take(update: Update): void {
    const waiting = this.waiting.get(update.event_id);
    if (waiting === undefined) this.waiting.set(update.event_id, [update]);
    else waiting.push(update);
    if (this.drawing !== 0) return;
    const wait = this.drawn + DRAWN_EVERY - performance.now();
    // Not with the next frame: a page that nobody looks at has none, and would keep all that comes until somebody does.
    if (wait > 0) this.drawing = window.setTimeout(() => this.drawNext(), wait);
    else this.drawNext();
  }

  private drawNext(): void {
    this.drawing = 0;
    this.drawn = performance.now();
    const all = [...this.waiting];
    this.waiting.clear();
    batch(() => all.forEach(([eventId, updates]) => this.draw(eventId, updates)));
  }

  /** Ask for a card of which something was missed: at once, and then once for all that is missed meanwhile. */
  private catchUp(eventId: string): void {
    if (this.missed.has(eventId)) return;
    this.missed.add(eventId);
    const wait = (this.asked.get(eventId) ?? -ASKED_EVERY) + ASKED_EVERY - performance.now();
    setTimeout(
      () => {
        this.missed.delete(eventId);
        this.asked.set(eventId, performance.now());
        void this.fetch(eventId).catch(() => undefined);
      },
      Math.max(0, wait),
    );
  }

  private draw(eventId: string, updates: Update[]): void {
    const cards = this.of(eventId);
    let missed = false;
    let next = cards.peek();
    for (const update of updates) {
      const known = next.find((card) => card.turn === update.turn && card.session === update.session);
      if (known === undefined) {
        if (update.state === "ended" && update.items.length === 0) continue;
        missed ||= update.update > 1;
        next = [...next, { ...update, items: update.items }];
      } else {
        missed ||= update.state === "running" && update.update > known.update + 1;
        next = next.map((card) => (card === known ? merged(card, update) : card));
      }
    }
    cards.value = next;
    if (missed) this.catchUp(eventId);
  }

  /** Everything about an event, as the hub and the agents' harnesses have it; whose record could not be had. */
  async fetch(eventId: string): Promise<string[]> {
    if (this.asking.has(eventId)) {
      // What is on its way was asked for before whatever is missed now.
      this.again.add(eventId);
      return [];
    }
    this.asking.add(eventId);
    try {
      const found = await this.line.call<{ cards: Card[]; away: string[] }>("activity", { group_id: this.groupId, event_id: eventId });
      const cards = this.of(eventId);
      const fresh = found.cards.map((card) => newest({ ...card, update: card.update ?? 0 }, cards.peek()));
      // What is shown already and not kept anywhere stays: a record may come a moment after the turn's end.
      const shown = cards.peek().filter((card) => !fresh.some((one) => one.turn === card.turn));
      cards.value = [...shown, ...fresh];
      return found.away;
    } finally {
      this.asking.delete(eventId);
      if (this.again.delete(eventId)) this.catchUp(eventId);
    }
  }
}
