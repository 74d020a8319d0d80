/** The running room: one line to the hub, the groups behind it, and what the whole page shares. */

import { computed, effect, signal } from "@preact/signals";
import type { Group, LedgerEvent } from "../types";
import { HubLine } from "../net/agent";
import { Line, type LineState, RpcError, type Who } from "../net/socket";
import { AgentState } from "./agent";
import { agentRoute } from "./agent_route";
import { away, watch } from "./looking";
import { newId } from "./ids";
import { flush, openOutbox, put, reloaded, type Parcel, type Post } from "./outbox";
import { Room } from "./room";
import { go, parse, route } from "./router";
import { token } from "./session";
import { load, save } from "./storage";

export const me = signal("");
export const boundTo = signal<string | null>(null);
export const lineState = signal<LineState>("connecting");
export const retryAt = signal(0);
export const wasOnline = signal(false);
export const rooms = signal<Room[]>([]);
export const loaded = signal(false);

/** The owner's personal agent, where the hub runs one. */
export const agent = signal<AgentState | null>(null);

export const isOwner = computed(() => me.value === "user");
export const room = computed(() => rooms.value.find((one) => one.group.value.group_id === route.value.groupId) ?? null);
export const totalUnread = computed(() => rooms.value.reduce((sum, one) => sum + one.unreadHere.value + one.unreadPrivate.value, 0));

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
}
export const toasts = signal<Toast[]>([]);
let toastIds = 0;

export function say(text: string, tone: Toast["tone"] = "plain"): void {
  const id = ++toastIds;
  toasts.value = [...toasts.value.slice(-2), { id, text, tone }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  }, tone === "bad" ? 8000 : 4000);
}

/** Tell the person what went wrong, in the hub's words. */
export function complain(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), "bad");
}

/** Spoken by screen readers, never shown. */
export const announcement = signal("");

let line: Line | null = null;

export function call<T = any>(method: string, params: Record<string, unknown> = {}): Promise<T> {
  if (line === null) return Promise.reject(new RpcError("offline", "Not connected."));
  return line.call<T>(method, params);
}

export function notify(method: string, params: Record<string, unknown>): void {
  line?.notify(method, params);
}

export function hurry(): void {
  line?.hurry();
}

const post: Post = {
  ready: () => lineState.peek() === "online",
  append: (parcel: Parcel) =>
    call<LedgerEvent>("append", { group_id: parcel.group_id, kind: "chat.message", data: { ...parcel.data, client_id: parcel.client_id } }),
  async find(parcel: Parcel) {
    let cursor: Record<string, unknown> = { since_ts: new Date(parcel.created - 5000).toISOString() };
    for (;;) {
      const page = await call<{ events: LedgerEvent[]; next_cursor: number }>("events", {
        group_id: parcel.group_id,
        kinds: ["chat.message"],
        limit: 1000,
        ...cursor,
      });
      const found = page.events.find((one) => one.by === me.value && one.data.client_id === parcel.client_id);
      if (found !== undefined) return found;
      if (page.events.length < 1000) return null;
      cursor = { since_seq: page.next_cursor };
    }
  },
  revise: (parcel: Parcel) =>
    call("edit", { group_id: parcel.group_id, event_id: parcel.landed, text: parcel.revised!.text, client_id: parcel.revised!.key }),
  isShown: (event: LedgerEvent) => (roomOf(event.group_id)?.seen ?? 0) >= event.seq,
  refused(parcel: Parcel, error: RpcError) {
    const { groupId, view } = route.peek();
    const isPrivate = parcel.data.conversation?.kind === "dm";
    // Where one looks, the message itself says so.
    if (parcel.group_id !== groupId || view !== (isPrivate ? "dm" : "talk")) say(`A message was not sent: ${error.message}`, "bad");
  },
  unrevised: complain,
};

export function send(groupId: string, data: Record<string, any>): string {
  const client_id = newId();
  put({ client_id, group_id: groupId, data, created: Date.now() });
  void flush(post);
  return client_id;
}

export function resend(): void {
  void flush(post);
}

const MANY = 1500;

async function resumeRoom(one: Room, group: Group): Promise<void> {
  const missed = group.last_seq - one.seen;
  if (missed < 0 || missed > MANY) {
    one.seen = group.last_seq;
    one.restart();
    reloaded(one.id);
  }
  one.group.value = group;
  const { subscription } = await call<{ subscription: number }>("follow", { group_id: group.group_id, since_seq: one.seen });
  one.subscription = subscription;
  one.resume();
  void one.count().then(() => one.refreshConversations());
  void one.refreshPresence();
}

/** Learn of groups that were opened elsewhere. */
export async function refreshGroups(): Promise<void> {
  const { groups } = await call<{ groups: Group[] }>("groups");
  const known = new Map(rooms.peek().map((one) => [one.id, one]));
  const next = groups.map((group) => known.get(group.group_id) ?? new Room(group, me.peek(), line!));
  const same = next.length === known.size && next.every((one) => known.has(one.id));
  if (!same) rooms.value = next;
  if (!loaded.peek()) enter();
  const resume = async (one: Room, group: Group) => {
    if (one.subscription === null) await resumeRoom(one, group);
    else if (one.group.peek().title !== group.title) one.group.value = group;
  };
  // Where one is comes first; the others need not wait for each other.
  const order = [...next.keys()].sort((a, b) => Number(next[b] === room.peek()) - Number(next[a] === room.peek()));
  await Promise.all(order.map((at) => resume(next[at]!, groups[at]!)));
}

/** The rooms are known: go to the one in the address, or to the last one. */
function enter(): void {
  loaded.value = true;
  // The address may have changed a moment ago, with word of it still on its way.
  if (room.peek() === null) route.value = parse(location.hash);
  if (room.peek() !== null || agentRoute.peek() !== null) return;
  const last = load<string | null>("room", null);
  const first = rooms.peek().find((one) => one.id === last) ?? rooms.peek()[0];
  if (first !== undefined) go({ groupId: first.id }, true);
}

async function opened(who: Who): Promise<void> {
  if (me.peek() !== "" && me.peek() !== who.principal) return location.reload();
  me.value = who.principal;
  boundTo.value = who.group_id;
  openOutbox(who.principal);
  void meetAgent(who);
  // Before following: a page that nobody looks at makes nobody online.
  if (away.peek()) notify("away", { away: true });
  for (const one of rooms.peek()) one.subscription = null;
  try {
    await refreshGroups();
  } catch (error) {
    if (!(error instanceof RpcError && error.isTransient)) complain(error);
    return;
  }
  wasOnline.value = true;
  if (room.peek() === null) enter();
  void flush(post);
}

/** Only the owner's own connections are told of the agent, and only they may ask. */
async function meetAgent(who: Who): Promise<void> {
  try {
    const { enabled } = who.principal === "user" ? await call<{ enabled: boolean }>("agent_status") : { enabled: false };
    if (!enabled) agent.value = null;
    else agent.value ??= new AgentState(new HubLine(call));
  } catch (error) {
    // A hub from before there were agents beside it does not know the question.
    if (!(error instanceof RpcError && error.isTransient)) agent.value = null;
  }
  if (agent.peek() !== null) return agent.peek()!.opened();
  if (agentRoute.peek() === null) return;
  agentRoute.value = null;
  if (loaded.peek()) enter();
}

const roomOf = (groupId: string): Room | undefined => rooms.peek().find((known) => known.id === groupId);

function noticed(method: string, params: any): void {
  if (method === "event") {
    const one = rooms.peek().find((known) => known.subscription === params.subscription);
    // Notices may overtake the answer that names their subscription.
    const target = one ?? rooms.peek().find((known) => known.id === params.event.group_id);
    target?.take(params.event, params.parties);
    if (params.event.kind === "chat.message" && params.event.by !== me.peek() && target?.id === route.peek().groupId) {
      announcement.value = `${target!.nameOf(params.event.by)}: ${String(params.event.data.text ?? "").slice(0, 200)}`;
    }
  } else if (method === "typing") {
    const where = params.conversation_id === "main" ? null : params.conversation_id;
    roomOf(params.group_id)?.signalled(params.by, where);
  } else if (method === "presence") {
    roomOf(params.group_id)?.stirred(params.actor_id, params.status);
  } else if (method === "activity") {
    roomOf(params.group_id)?.activities.take(params);
  } else if (method === "agent") {
    agent.peek()?.heard(params);
  } else if (method === "ephemeral") {
    roomOf(params.group_id)?.whispered({ by: params.by, where: params.where, text: params.text });
  }
}

let started = false;

export function start(): void {
  const given = token.peek();
  if (given === null) return;
  line = new Line(location.origin.replace(/^http/, "ws") + "/v1/ws", given, {
    onState: (state, at) => {
      lineState.value = state;
      retryAt.value = at;
    },
    onOpen: (who) => void opened(who),
    onNotice: noticed,
  });
  line.open();
  if (started) return;
  started = true;
  watch();
  window.addEventListener("online", () => line?.hurry());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") line?.probe();
  });
  setInterval(() => {
    if (lineState.peek() !== "online" || document.visibilityState !== "visible") return;
    void refreshGroups().catch(() => undefined);
    const here = room.peek();
    void here?.refreshPresence();
    void here?.attention.refreshAgents();
  }, 15_000);
}

effect(() => {
  if (agent.value !== null) agent.value.line.value = lineState.value;
});
effect(() => {
  notify("away", { away: away.value });
  void room.peek()?.refreshPresence();
});
effect(() => {
  const unread = totalUnread.value;
  const title = room.value?.group.value.title;
  document.title = `${unread > 0 ? `(${unread}) ` : ""}${title ? `${title} · ` : ""}Tacit`;
});
effect(() => {
  if (route.value.groupId !== null) save("room", route.value.groupId);
});
