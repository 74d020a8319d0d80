/**
 * One sign-in at work: its line to the hub, who speaks on it, and the rooms that it opens.
 *
 * Knows nothing of other sign-ins, nor of what is on screen: whoever made it is told what came.
 */

import { signal } from "@preact/signals";
import type { Group, LedgerEvent } from "../types";
import type { Change } from "../net/agent";
import { Line, type LineState, RpcError, type Who } from "../net/socket";
import { reloaded } from "./outbox";
import { Room } from "./room";
import { learn } from "./session";

/** What the page does with what comes by a sign-in. */
export interface Page {
  /** The hub has said who this is; nothing else has been asked yet. */
  met: (signIn: SignIn) => void;
  /** Its rooms are known for the first time, or it has ended: the hub takes its token no more. */
  learned: (signIn: SignIn) => void;
  /** The line stands (again), and its rooms are followed. */
  followed: () => void;
  said: (room: Room, event: LedgerEvent) => void;
  agentChanged: (change: Change) => void;
  complain: (error: unknown) => void;
  isShown: (room: Room) => boolean;
}

const MANY = 1500;

export class SignIn {
  readonly me = signal("");
  readonly lineState = signal<LineState>("connecting");
  readonly retryAt = signal(0);
  readonly wasOnline = signal(false);
  readonly rooms = signal<Room[]>([]);
  /** Is it known which rooms there are? Where the sign-in has ended there are none. */
  readonly isLearned = signal(false);
  private readonly line: Line;
  private group: string | null | undefined = undefined;

  constructor(
    readonly token: string,
    private readonly page: Page,
  ) {
    this.line = new Line(location.origin.replace(/^http/, "ws") + "/v1/ws", token, {
      onState: (state, at) => this.stands(state, at),
      onOpen: (who) => void this.opened(who),
      onNotice: (method, params) => this.noticed(method, params),
    });
  }

  get hasEnded(): boolean {
    return this.lineState.value === "denied";
  }

  /** Does it open this room? The owner's opens all. */
  opens(groupId: string): boolean {
    return this.group === null || this.group === groupId;
  }

  open(): void {
    this.line.open();
  }

  readonly call = <T = any>(method: string, params: Record<string, unknown> = {}): Promise<T> => this.line.call<T>(method, params);

  notify(method: string, params: Record<string, unknown>): void {
    this.line.notify(method, params);
  }

  hurry(): void {
    this.line.hurry();
  }

  probe(): void {
    this.line.probe();
  }

  close(): void {
    this.line.close();
  }

  private stands(state: LineState, retryAt: number): void {
    this.lineState.value = state;
    this.retryAt.value = retryAt;
    if (state !== "denied") return;
    this.rooms.value = [];
    this.learned();
  }

  private learned(): void {
    if (this.isLearned.peek() && !this.hasEnded) return;
    this.isLearned.value = true;
    this.page.learned(this);
  }

  private async opened(who: Who): Promise<void> {
    this.me.value = who.principal;
    this.group = who.group_id;
    learn(this.token, { who });
    this.page.met(this);
    for (const room of this.rooms.peek()) room.subscription = null;
    try {
      await this.refreshGroups();
    } catch (error) {
      if (!(error instanceof RpcError && error.isTransient)) this.page.complain(error);
      return;
    }
    this.wasOnline.value = true;
    this.page.followed();
  }

  /** Learn of rooms that were opened elsewhere. */
  async refreshGroups(): Promise<void> {
    const { groups } = await this.call<{ groups: Group[] }>("groups");
    const known = new Map(this.rooms.peek().map((room) => [room.id, room]));
    const next = groups.map((group) => known.get(group.group_id) ?? new Room(group, this.me.peek(), this.line));
    const same = next.length === known.size && next.every((room) => known.has(room.id));
    if (!same) this.rooms.value = next;
    const [only] = groups;
    if (only !== undefined && this.group === only.group_id) learn(this.token, { title: only.title });
    this.learned();
    const resume = async (room: Room, group: Group) => {
      if (room.subscription === null) await this.resumeRoom(room, group);
      else if (room.group.peek().title !== group.title) room.group.value = group;
    };
    // Where one is comes first; the others need not wait for each other.
    const order = [...next.keys()].sort((a, b) => Number(this.page.isShown(next[b]!)) - Number(this.page.isShown(next[a]!)));
    await Promise.all(order.map((at) => resume(next[at]!, groups[at]!)));
  }

  private async resumeRoom(room: Room, group: Group): Promise<void> {
    const missed = group.last_seq - room.seen;
    if (missed < 0 || missed > MANY) {
      room.seen = group.last_seq;
      room.restart();
      reloaded(room.id);
    }
    room.group.value = group;
    const { subscription } = await this.call<{ subscription: number }>("follow", { group_id: group.group_id, since_seq: room.seen });
    room.subscription = subscription;
    room.resume();
    void room.count().then(() => room.refreshConversations());
    void room.refreshPresence();
  }

  roomOf(groupId: string): Room | undefined {
    return this.rooms.peek().find((room) => room.id === groupId);
  }

  private noticed(method: string, params: any): void {
    if (method === "event") {
      // Notices may overtake the answer that names their subscription.
      const room = this.rooms.peek().find((known) => known.subscription === params.subscription) ?? this.roomOf(params.event.group_id);
      room?.take(params.event, params.parties);
      if (room !== undefined) this.page.said(room, params.event);
    } else if (method === "typing") {
      const where = params.conversation_id === "main" ? null : params.conversation_id;
      this.roomOf(params.group_id)?.signalled(params.by, where);
    } else if (method === "presence") {
      this.roomOf(params.group_id)?.stirred(params.actor_id, params.status);
    } else if (method === "activity") {
      this.roomOf(params.group_id)?.activities.take(params);
    } else if (method === "agent") {
      this.page.agentChanged(params);
    } else if (method === "ephemeral") {
      this.roomOf(params.group_id)?.whispered({ by: params.by, where: params.where, text: params.text });
    }
  }
}
