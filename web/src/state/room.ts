/**
 * One group as the browser knows it: roster, counts, private conversations, who types, and its timelines.
 *
 * Folded from the group's stream. Whatever the stream cannot tell (counts, duties) is asked of the hub again.
 */

import { computed, signal } from "@preact/signals";
import type { Conversation, Group, Inbox, LedgerEvent } from "../types";
import type { Line } from "../net/socket";
import { placeKey, sameParties, type Place } from "./fold";
import { arrived } from "./outbox";
import { load, onSaved, save } from "./storage";
import { Timeline } from "./timeline";
import { Activities } from "./activity";
import { Attention } from "./attention";

const TYPING_MS = 6000;
const KEPT_TIMELINES = 12;
const ROSTER_KINDS = new Set(["actor.add", "actor.update", "actor.remove", "x.tacit.person.add", "group.update"]);

export interface Typist {
  by: string;
  conversation: string | null;
  until: number;
}

export interface Whisper {
  by: string;
  where: string;
  text: string;
}

export class Room {
  readonly group;
  readonly unread = signal(0);
  readonly owed = signal<LedgerEvent[]>([]);
  readonly notices = signal<LedgerEvent[]>([]);
  readonly cursor = signal(0);
  readonly conversations = signal<Conversation[]>([]);
  readonly typing = signal<Typist[]>([]);
  readonly whispers = signal<Whisper[]>([]);
  /** Those who are connected; whoever is not here is offline. */
  readonly presence = signal<ReadonlyMap<string, "online" | "away">>(new Map());
  readonly attention: Attention;
  readonly activities: Activities;
  /** The last position that the stream has shown. */
  seen: number;
  subscription: number | null = null;
  private readonly timelines = new Map<string, Timeline>();
  private readonly seenIn = signal<Record<string, number>>({});
  private sweeping = 0;

  constructor(
    group: Group,
    readonly me: string,
    private readonly line: Line,
  ) {
    this.group = signal(group);
    this.seen = group.last_seq;
    this.attention = new Attention(group.group_id, line);
    this.activities = new Activities(group.group_id, line);
    this.attention.onLeft = (agent) => this.activities.left(agent);
    this.seenIn.value = load(this.kept, {});
    onSaved(this.kept, () => {
      this.seenIn.value = load(this.kept, {});
    });
  }

  get id(): string {
    return this.group.peek().group_id;
  }

  /** Under which name the browser keeps what this person has seen. */
  private get kept(): string {
    return `seen.${this.me}.${this.id}`;
  }

  readonly names = computed(() => {
    const { actors, people } = this.group.value;
    const names = new Map<string, string>([["user", "Owner"]]);
    for (const one of actors) names.set(one.actor_id, one.title ?? one.actor_id);
    for (const one of people) names.set(one.principal, one.title ?? one.principal.replace(/^usr:/, ""));
    return names;
  });

  readonly agents = computed(() => new Set(this.group.value.actors.map((one) => one.actor_id)));

  isAgent(principal: string): boolean {
    return !(principal === "user" || principal.startsWith("usr:") || principal.startsWith("svc:") || principal === "system");
  }

  nameOf(principal: string): string {
    if (principal === this.me && principal === "user") return "You";
    return this.names.value.get(principal) ?? principal.replace(/^(usr|svc):/, "");
  }

  timeline(place: Place): Timeline {
    const key = placeKey(place);
    let found = this.timelines.get(key);
    if (found === undefined) {
      found = new Timeline(place, (params) => this.line.call("timeline", params));
      void found.toEnd();
    } else {
      this.timelines.delete(key);
    }
    this.timelines.set(key, found);
    for (const old of this.timelines.keys()) {
      if (this.timelines.size <= KEPT_TIMELINES) break;
      this.timelines.delete(old);
    }
    return found;
  }

  /** Connected again. Too much was missed to fold one by one: show the end anew. */
  restart(): void {
    for (const one of this.timelines.values()) void one.toEnd();
  }

  /** Connected again: whatever failed while the line was away is asked for once more. */
  resume(): void {
    for (const one of this.timelines.values()) {
      if (!one.ready.peek()) void one.toEnd();
      one.failed.value = null;
    }
    this.attention.refreshAll();
    this.activities.resume();
  }

  take(event: LedgerEvent, parties?: string[]): void {
    if (event.seq <= this.seen) return;
    this.seen = event.seq;
    for (const one of this.timelines.values()) one.take(event, parties);
    this.attention.take(event);
    const data = event.data;
    if (event.kind === "chat.message") {
      if (event.by === this.me) arrived(data.client_id);
      this.typing.value = this.typing.peek().filter((one) => one.by !== event.by);
      if (parties !== undefined) this.conversed(event, parties);
      if (event.by !== this.me) this.recount();
    } else if (event.kind === "system.notify") {
      this.recount();
    } else if (event.kind === "chat.read" || event.kind === "chat.ack" || event.kind === "system.notify_ack" || event.kind === "x.c2a.withdrawal") {
      if (data.actor_id === this.me) this.recount();
    } else if (ROSTER_KINDS.has(event.kind)) {
      void this.refreshGroup();
    }
  }

  private conversed(event: LedgerEvent, parties: string[]): void {
    const all = this.conversations.peek();
    const known = all.find((one) => sameParties(one.parties, parties));
    const received = known?.received ?? [];
    const mine = event.by !== this.me && parties.includes(this.me);
    const next = { parties, last_seq: event.seq, received: mine ? [event.seq, ...received].slice(0, 100) : received };
    if (known === undefined) this.remember({ [placeKey({ groupId: this.id, parties })]: event.seq - 1 });
    this.conversations.value = [next, ...all.filter((one) => one !== known)];
  }

  /**
   * The ledger has one read cursor for the whole group. How far each private conversation was seen is kept here, so
   * that reading the room does not hide a private message.
   */
  unreadIn(conversation: Conversation): number {
    const seen = this.seenIn.value[placeKey({ groupId: this.id, parties: conversation.parties })] ?? this.cursor.value;
    return conversation.received.filter((seq) => seq > seen).length;
  }

  private remember(seen: Record<string, number>): void {
    const next: Record<string, number> = { ...load(this.kept, {}), ...seen };
    save(this.kept, next);
    this.seenIn.value = next;
  }

  /** A private conversation was looked at to its end. */
  sawConversation(parties: readonly string[]): void {
    const known = this.conversations.peek().find((one) => sameParties(one.parties, parties));
    const key = placeKey({ groupId: this.id, parties });
    if (known !== undefined && (this.seenIn.peek()[key] ?? 0) < known.last_seq) this.remember({ [key]: known.last_seq });
  }

  /** What is unread in the room itself, private talk not counted. */
  readonly unreadHere = computed(() => {
    const cursor = this.cursor.value;
    const apart = this.conversations.value.reduce((sum, one) => sum + one.received.filter((seq) => seq > cursor).length, 0);
    return Math.max(0, this.unread.value - apart);
  });

  readonly unreadPrivate = computed(() => this.conversations.value.reduce((sum, one) => sum + this.unreadIn(one), 0));

  private counting = 0;

  /** Ask for the counts soon, once for many events. */
  recount(delay = 120): void {
    if (this.counting !== 0) return;
    this.counting = window.setTimeout(() => {
      this.counting = 0;
      void this.count();
    }, delay);
  }

  async count(): Promise<void> {
    try {
      const inbox = await this.line.call<Inbox>("inbox", { group_id: this.id, limit: 50 });
      this.unread.value = inbox.unread_count;
      this.owed.value = inbox.attention;
      this.notices.value = inbox.notices;
      this.cursor.value = inbox.cursor;
    } catch {
      // Offline: the counts stand until the line is back.
    }
  }

  async refreshGroup(): Promise<void> {
    const group = await this.line.call<Group>("group", { group_id: this.id }).catch(() => null);
    if (group !== null) this.group.value = group;
  }

  async refreshConversations(): Promise<void> {
    const found = await this.line
      .call<{ conversations: Conversation[] }>("conversations", { group_id: this.id })
      .catch(() => null);
    if (found === null) return;
    const seen = this.seenIn.peek();
    const fresh = found.conversations.map((one) => placeKey({ groupId: this.id, parties: one.parties })).filter((key) => seen[key] === undefined);
    if (fresh.length > 0) this.remember(Object.fromEntries(fresh.map((key) => [key, this.cursor.peek()])));
    this.conversations.value = found.conversations;
  }

  async refreshPresence(): Promise<void> {
    const found = await this.line.call<{ online: string[]; away: string[] }>("presence", { group_id: this.id }).catch(() => null);
    if (found === null) return;
    this.presence.value = new Map([
      ...found.online.map((one) => [one, "online"] as const),
      ...found.away.map((one) => [one, "away"] as const),
    ]);
  }

  private asking = 0;

  /** Somebody came, went, turned away or became busy; without a name, many did. */
  stirred(who: string | undefined, status: string): void {
    if (who === undefined || this.isAgent(who)) {
      this.attention.recountAgents();
      clearTimeout(this.asking);
      this.asking = window.setTimeout(() => void this.refreshPresence(), 100 + 400 * Math.random());
      return;
    }
    const next = new Map(this.presence.peek());
    if (status === "online" || status === "away") next.set(who, status);
    else next.delete(who);
    this.presence.value = next;
  }

  /** A message that the ledger does not keep: it is shown until the room is left (C2A-217). */
  whispered(one: Whisper): void {
    this.whispers.value = [...this.whispers.peek().slice(-9), one];
  }

  signalled(by: string, conversation: string | null): void {
    const now = Date.now();
    const others = this.typing.peek().filter((one) => one.by !== by && one.until > now);
    this.typing.value = [...others, { by, conversation, until: now + TYPING_MS }];
    clearTimeout(this.sweeping);
    this.sweeping = window.setTimeout(() => {
      this.typing.value = this.typing.peek().filter((one) => one.until > Date.now());
    }, TYPING_MS + 50);
  }
}
