/**
 * The outbox: what a person sent and the ledger has not confirmed. It outlives a reload, a closed tab and a hub
 * that is away; each message carries its idempotency key, so sending it twice appends it once (CCCS-055).
 *
 * The hub remembers a key for five minutes. A message that was tried and is older than that is looked for in the
 * ledger before it is tried again.
 *
 * A message may be edited on its way. What was never tried is rewritten where it lies; what may have reached the hub
 * goes out as it was, and its new text follows as an edit once the message has an id: never as a second message.
 */

import { signal } from "@preact/signals";
import type { LedgerEvent } from "../types";
import { RpcError } from "../net/socket";
import { newId } from "./ids";
import { load, onSaved, save } from "./storage";

export interface Parcel {
  client_id: string;
  group_id: string;
  /** Who says it: one may be somebody else in another room. */
  by: string;
  data: Record<string, any>;
  created: number;
  /** When it first went out; the hub may have it. */
  tried?: number;
  refused?: string;
  /** The text that it shall have by now, and the key of the edit that says so. */
  revised?: { text: string; key: string };
  /** The event that it became while its edit is still owed. */
  landed?: string;
}

export interface Post {
  /** Is there a line for it? Without one it is not tried, and what was never tried may still be rewritten. */
  ready: (parcel: Parcel) => boolean;
  append: (parcel: Parcel) => Promise<LedgerEvent>;
  /** Look for a message that may have landed unseen. */
  find: (parcel: Parcel) => Promise<LedgerEvent | null>;
  /** Say in the ledger what the message became meanwhile. */
  revise: (parcel: Parcel) => Promise<unknown>;
  /** Has the stream gone past this event? Then its history has it, and nobody will hear of it again. */
  isShown: (event: LedgerEvent) => boolean;
  /** The hub will not have it. */
  refused: (parcel: Parcel, error: RpcError) => void;
  /** The message stands, but its edit was refused. */
  unrevised: (error: RpcError) => void;
}

export const KEY_WINDOW_MS = 240_000;

export const parcels = signal<Parcel[]>([]);
/** What has landed and was not seen on the stream yet: shown until it is; each knows the event that it became. */
export const settled = signal<Parcel[]>([]);
const authors: string[] = [];

const read = (): Parcel[] => authors.flatMap((by) => load<Parcel[]>(`outbox.${by}`, []).map((one) => ({ ...one, by })));

function change(act: (all: Parcel[]) => Parcel[]): void {
  // Another tab may have written meanwhile: change what is stored, not what is remembered.
  const all = act(read());
  for (const by of authors) save(`outbox.${by}`, all.filter((one) => one.by === by));
  parcels.value = all;
}

/** What somebody who is signed in here has on its way is sent from now on, and shown. */
export function openOutbox(principal: string): void {
  if (authors.includes(principal)) return;
  authors.push(principal);
  parcels.value = read();
  onSaved(`outbox.${principal}`, () => {
    parcels.value = read();
  });
}

export function put(parcel: Parcel): void {
  change((all) => [...all, parcel]);
}

export function drop(clientId: string): void {
  change((all) => all.filter((one) => one.client_id !== clientId));
}

export function retry(clientId: string): void {
  change((all) => all.map((one) => (one.client_id === clientId ? { ...one, refused: undefined } : one)));
}

/** The stream has shown a message: it stands in its history now. */
export function arrived(clientId: unknown): void {
  if (settled.peek().some((one) => one.client_id === clientId)) settled.value = settled.peek().filter((one) => one.client_id !== clientId);
}

/** A group's histories are loaded anew: they have all that landed there. */
export function reloaded(groupId: string): void {
  settled.value = settled.peek().filter((one) => one.group_id !== groupId);
}

/** What a message shall say, its edit on the way included. */
export function wanted(parcel: Parcel): string {
  return parcel.revised?.text ?? String(parcel.data.text);
}

/**
 * Give a message that is on its way another text. `rewritten` makes its data anew if the hub cannot have it yet.
 * False when it is not here any more: then the ledger has it, and it is edited there.
 */
export function revise(clientId: string, text: string, rewritten: (data: Parcel["data"]) => Parcel["data"], key: string = newId()): boolean {
  let taken = false;
  change((all) =>
    all.map((one) => {
      if (one.client_id !== clientId) return one;
      taken = true;
      const unknown = one.landed === undefined && (one.tried === undefined || one.refused !== undefined);
      return unknown ? { ...one, data: rewritten(one.data), refused: undefined } : { ...one, revised: { text, key } };
    }),
  );
  const known = taken ? undefined : settled.peek().find((one) => one.client_id === clientId);
  if (known === undefined) return taken;
  put({ ...known, revised: { text, key } });
  return true;
}

let running = false;
let again = false;

/** Send everything that waits, oldest first, one tab at a time. */
export async function flush(post: Post, now: () => number = Date.now): Promise<void> {
  if (running) {
    again = true;
    return;
  }
  running = true;
  try {
    do {
      again = false;
      await exclusively(() => empty(post, now));
    } while (again);
  } finally {
    running = false;
  }
}

async function exclusively(work: () => Promise<void>): Promise<void> {
  // Pages over plain HTTP have no locks: there two tabs may both send, and the key makes it one message.
  if (!navigator.locks) return work();
  await navigator.locks.request("tacit.outbox", work);
}

async function empty(post: Post, now: () => number): Promise<void> {
  for (;;) {
    const parcel = read().find((one) => one.refused === undefined && post.ready(one));
    if (parcel === undefined) return;
    if (parcel.landed !== undefined) {
      if (await isRevised(post, parcel)) continue;
      return;
    }
    try {
      const known = parcel.tried !== undefined && now() - parcel.tried > KEY_WINDOW_MS ? await post.find(parcel) : null;
      if (known === null && parcel.tried === undefined) mark(parcel.client_id, { tried: now() });
      const event = known ?? (await post.append(parcel));
      settle(parcel, event, post.isShown(event));
    } catch (error) {
      if (error instanceof RpcError && !error.isTransient) {
        mark(parcel.client_id, { refused: error.message });
        post.refused(parcel, error);
        continue;
      }
      return;
    }
  }
}

/** The message is in the ledger. If it shall say something else by now, its edit is still owed. */
function settle(parcel: Parcel, event: LedgerEvent, isShown: boolean): void {
  const now = read().find((one) => one.client_id === parcel.client_id);
  if (now !== undefined && wanted(now) !== String(event.data.text ?? "")) {
    return mark(parcel.client_id, { landed: event.id, revised: now.revised ?? { text: wanted(now), key: newId() } });
  }
  if (!isShown) settled.value = [...settled.peek().slice(-20), { ...(now ?? parcel), landed: event.id }];
  drop(parcel.client_id);
}

/** False when the hub is away: try later. */
async function isRevised(post: Post, parcel: Parcel): Promise<boolean> {
  try {
    await post.revise(parcel);
  } catch (error) {
    if (!(error instanceof RpcError) || error.isTransient) return false;
    post.unrevised(error);
  }
  // Edited once more meanwhile: that edit follows under a key of its own.
  change((all) => all.filter((one) => one.client_id !== parcel.client_id || one.revised?.key !== parcel.revised?.key));
  return true;
}

function mark(clientId: string, what: Partial<Parcel>): void {
  change((all) => all.map((one) => (one.client_id === clientId ? { ...one, ...what } : one)));
}
