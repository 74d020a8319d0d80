/** The running page: the sign-ins that are at work, the rooms that they open, and what the whole page shares. */

import { computed, effect, signal, untracked } from "@preact/signals";
import type { LedgerEvent } from "../types";
import { HubLine } from "../net/agent";
import { type LineState, RpcError } from "../net/socket";
import { AgentState } from "./agent";
import { agentRoute } from "./agent_route";
import { away, watch } from "./looking";
import { newId } from "./ids";
import { flush, openOutbox, put, type Parcel, type Post } from "./outbox";
import { go, parse, route } from "./router";
import { kept, leave } from "./session";
import { type Page, SignIn } from "./signed_in";
import { load, save } from "./storage";

export const signIns = signal<SignIn[]>([]);
/**
 * Who one is in a room by a sign-in to that room alone. It goes before the owner's, which opens every room, and also
 * when it has ended, until that is dismissed: nobody comes to speak as the owner without having said so.
 */
const tokenOfGuest = (groupId: string | null): string | undefined => kept.value.find(({ who }) => who !== undefined && who.group_id !== null && who.group_id === groupId)?.token;
export const rooms = computed(() => signIns.value.flatMap((one) => one.rooms.value.filter(({ id }) => one.token === (tokenOfGuest(id) ?? one.token))));
/** Is it known which rooms there are? */
export const loaded = computed(() => signIns.value.length > 0 && signIns.value.every((one) => one.isLearned.value));

export const room = computed(() => rooms.value.find((one) => one.group.value.group_id === route.value.groupId) ?? null);
export const totalUnread = computed(() => rooms.value.reduce((sum, one) => sum + one.unreadHere.value + one.unreadPrivate.value, 0));

/** The sign-in that opens a room; where none is known to, the first that is good. */
export function signInTo(groupId: string | null): SignIn | undefined {
  const all = signIns.value;
  const guest = tokenOfGuest(groupId);
  if (guest !== undefined) return all.find((one) => one.token === guest);
  return all.find((one) => one.rooms.value.some(({ id }) => id === groupId)) ?? all.find((one) => !one.hasEnded) ?? all[0];
}

/** Who one is where one looks. */
export const signedIn = computed(() => signInTo(route.value.groupId));
export const me = computed(() => signedIn.value?.me.value ?? "");
/** Is one somebody else in one room than in another? */
export const areSeveral = computed(() => new Set(rooms.value.map((one) => one.me)).size > 1);
export const isOwner = computed(() => me.value === "user");
export const lineState = computed<LineState>(() => signedIn.value?.lineState.value ?? "connecting");
export const retryAt = computed(() => signedIn.value?.retryAt.value ?? 0);
export const wasOnline = computed(() => signedIn.value?.wasOnline.value ?? false);

/** The owner's personal agent, where the hub runs one. */
export const agent = signal<AgentState | null>(null);
const ownersSignIn = computed(() => signIns.value.find((one) => one.me.value === "user" && !one.hasEnded));

/** What agents ask of this person, in every room, the oldest first. */
export const requests = computed(() =>
  rooms.value
    .filter((one) => one.me === "user" || one.me.startsWith("usr:"))
    .flatMap((one) => one.attention.approvals.value.map((asked) => ({ room: one, asked })))
    .sort((a, b) => Date.parse(a.asked.asked_at) - Date.parse(b.asked.asked_at)),
);

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

/** Ask the hub, as whoever one is in the room that is asked about, else where one looks. */
export function call<T = any>(method: string, params: Record<string, unknown> = {}): Promise<T> {
  const asking = untracked(() => (typeof params.group_id === "string" ? signInTo(params.group_id) : signedIn.value));
  if (asking === undefined) return Promise.reject(new RpcError("offline", "Not connected."));
  return asking.call<T>(method, params);
}

export function notify(method: string, params: { group_id: string } & Record<string, unknown>): void {
  signInTo(params.group_id)?.notify(method, params);
}

/** The token by which files of a room are sent and fetched. */
export function tokenIn(groupId: string): string {
  return signInTo(groupId)?.token ?? "";
}

export function hurry(): void {
  for (const one of signIns.peek()) one.hurry();
}

/** Who a message on its way is said by, in the room that it was written for. */
const speaker = (parcel: Parcel): SignIn | undefined => signIns.peek().find((one) => one.me.peek() === parcel.by && one.opens(parcel.group_id));
const callAs = <T>(parcel: Parcel, method: string, params: Record<string, unknown>): Promise<T> =>
  speaker(parcel)?.call<T>(method, params) ?? Promise.reject(new RpcError("offline", "Not connected."));

const post: Post = {
  ready: (parcel: Parcel) => speaker(parcel)?.lineState.peek() === "online",
  append: (parcel: Parcel) =>
    callAs<LedgerEvent>(parcel, "append", { group_id: parcel.group_id, kind: "chat.message", data: { ...parcel.data, client_id: parcel.client_id } }),
  async find(parcel: Parcel) {
    let cursor: Record<string, unknown> = { since_ts: new Date(parcel.created - 5000).toISOString() };
    for (;;) {
      const page = await callAs<{ events: LedgerEvent[]; next_cursor: number }>(parcel, "events", {
        group_id: parcel.group_id,
        kinds: ["chat.message"],
        limit: 1000,
        ...cursor,
      });
      const found = page.events.find((one) => one.by === parcel.by && one.data.client_id === parcel.client_id);
      if (found !== undefined) return found;
      if (page.events.length < 1000) return null;
      cursor = { since_seq: page.next_cursor };
    }
  },
  revise: (parcel: Parcel) =>
    callAs(parcel, "edit", { group_id: parcel.group_id, event_id: parcel.landed, text: parcel.revised!.text, client_id: parcel.revised!.key }),
  isShown: (event: LedgerEvent) => (rooms.peek().find((one) => one.id === event.group_id)?.seen ?? 0) >= event.seq,
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
  put({ client_id, group_id: groupId, by: signInTo(groupId)?.me.peek() ?? "", data, created: Date.now() });
  void flush(post);
  return client_id;
}

export function resend(): void {
  void flush(post);
}

/** Learn of rooms that were opened elsewhere. */
export async function refreshGroups(): Promise<void> {
  await Promise.all(signIns.peek().map((one) => (one.lineState.peek() === "online" ? one.refreshGroups() : undefined)));
}

/** Go to the room in the address, or to the last one, unless one is somewhere. */
export function enter(): void {
  // The address may have changed a moment ago, with word of it still on its way.
  if (room.peek() === null) route.value = parse(location.hash);
  if (loaded.peek() && ownersSignIn.peek() === undefined) agentRoute.value = null;
  if (room.peek() !== null || agentRoute.peek() !== null) return;
  const wanted = route.peek().groupId ?? load<string | null>("room", null);
  // A room that is not known yet may be another sign-in's.
  const first = rooms.peek().find((one) => one.id === wanted) ?? (loaded.peek() || wanted === null ? rooms.peek()[0] : undefined);
  if (first !== undefined) go({ groupId: first.id }, true);
}

/** Only the owner's own connections are told of the agent, and only they may ask. */
async function meetAgent(owner: SignIn): Promise<void> {
  try {
    const { enabled, state } = await owner.call<{ enabled: boolean; state: string }>("agent_status");
    if (!enabled) agent.value = null;
    else agent.value ??= new AgentState(new HubLine(owner.call));
    agent.peek()?.stands(state);
  } catch (error) {
    // A hub from before there were agents beside it does not know the question.
    if (!(error instanceof RpcError && error.isTransient)) agent.value = null;
  }
  if (agent.peek() !== null) return agent.peek()!.opened();
  if (agentRoute.peek() === null) return;
  agentRoute.value = null;
  enter();
}

/** What is said of a sign-in that the hub takes no more; the others go on. */
export function endedWords(token: string): string {
  const { title, who } = kept.value.find((one) => one.token === token) ?? {};
  const where = title ?? (who?.group_id === null ? "the whole hub" : "another room");
  return `Your sign-in to ${where} is not valid any more. Ask for a new link.`;
}

const page: Page = {
  met(one) {
    openOutbox(one.me.peek());
    if (one.me.peek() === "user") void meetAgent(one);
    // Before following: a page that nobody looks at makes nobody online.
    if (away.peek()) one.notify("away", { away: true });
  },
  learned(one) {
    if (one.hasEnded && signIns.peek().some((other) => !other.hasEnded)) say(endedWords(one.token), "bad");
    enter();
  },
  followed() {
    enter();
    void flush(post);
  },
  said(where, event) {
    if (event.kind !== "chat.message" || event.by === where.me || where !== room.peek()) return;
    announcement.value = `${where.nameOf(event.by)}: ${String(event.data.text ?? "").slice(0, 200)}`;
  },
  agentChanged: (change) => agent.peek()?.heard(change),
  complain,
  isShown: (known) => known.id === route.peek().groupId,
};

/** Let those sign-ins work that the browser keeps, and no others. */
export function connect(): void {
  const before = signIns.peek();
  const tokens = kept.peek().map((one) => one.token);
  for (const one of before) if (!tokens.includes(one.token)) one.close();
  signIns.value = tokens.map((token) => before.find((one) => one.token === token) ?? new SignIn(token, page));
  for (const one of signIns.peek()) if (!before.includes(one)) one.open();
  if (!begun) begin();
}

/** Let go of a sign-in that has ended. */
export function forget(token: string): void {
  leave((one) => one.token === token);
  connect();
}

let begun = false;

/** What goes on for as long as the page is open, however many sign-ins there are. */
function begin(): void {
  begun = true;
  watch();
  window.addEventListener("online", hurry);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") for (const one of signIns.peek()) one.probe();
  });
  setInterval(() => {
    if (document.visibilityState !== "visible") return;
    void refreshGroups().catch(() => undefined);
    if (lineState.peek() !== "online") return;
    const here = room.peek();
    void here?.refreshPresence();
    void here?.attention.refreshAgents();
  }, 15_000);
}

effect(() => {
  if (agent.value !== null) agent.value.line.value = ownersSignIn.value?.lineState.value ?? "denied";
});
effect(() => {
  const isAway = away.value;
  for (const one of signIns.peek()) one.notify("away", { away: isAway });
  void room.peek()?.refreshPresence();
});
effect(() => {
  const unread = totalUnread.value;
  const title = room.value?.group.value.title;
  const waiting = requests.value.length + (agent.value?.waiting.value ?? 0);
  const asks = waiting === 0 ? "" : waiting === 1 ? "1 request · " : `${waiting} requests · `;
  document.title = `${asks}${unread > 0 ? `(${unread}) ` : ""}${title ? `${title} · ` : ""}Tacit`;
});
effect(() => {
  if (route.value.groupId !== null) save("room", route.value.groupId);
});
