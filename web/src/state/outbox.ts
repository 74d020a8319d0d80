/**
 * The outbox: what a person sent and the ledger has not confirmed. It outlives a reload, a closed tab and a hub
 * that is away; each message carries its idempotency key, so sending it twice appends it once (CCCS-055).
 *
 * The hub remembers a key for five minutes. A message that was tried and is older than that is looked for in the
 * ledger before it is tried again.
 */

import { signal } from "@preact/signals";
import type { LedgerEvent } from "../types";
import { RpcError } from "../net/socket";
import { load, onSaved, save } from "./storage";

export interface Parcel {
  client_id: string;
  group_id: string;
  data: Record<string, any>;
  created: number;
  /** When it first went out; the hub may have it. */
  tried?: number;
  refused?: string;
}

export interface Post {
  append: (parcel: Parcel) => Promise<LedgerEvent>;
  /** Look for a message that may have landed unseen. */
  find: (parcel: Parcel) => Promise<LedgerEvent | null>;
  landed: (event: LedgerEvent) => void;
}

export const KEY_WINDOW_MS = 240_000;

export const parcels = signal<Parcel[]>([]);
let owner = "";

const read = (): Parcel[] => load<Parcel[]>(`outbox.${owner}`, []);

function change(act: (all: Parcel[]) => Parcel[]): void {
  // Another tab may have written meanwhile: change what is stored, not what is remembered.
  const all = act(read());
  save(`outbox.${owner}`, all);
  parcels.value = all;
}

export function openOutbox(principal: string): void {
  if (owner === principal) return;
  owner = principal;
  parcels.value = read();
  onSaved(`outbox.${owner}`, () => {
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
    const parcel = read().find((one) => one.refused === undefined);
    if (parcel === undefined) return;
    try {
      const known = parcel.tried !== undefined && now() - parcel.tried > KEY_WINDOW_MS ? await post.find(parcel) : null;
      if (known === null && parcel.tried === undefined) mark(parcel.client_id, { tried: now() });
      const event = known ?? (await post.append(parcel));
      drop(parcel.client_id);
      post.landed(event);
    } catch (error) {
      if (error instanceof RpcError && !error.isTransient) {
        mark(parcel.client_id, { refused: error.message });
        continue;
      }
      return;
    }
  }
}

function mark(clientId: string, what: Partial<Parcel>): void {
  change((all) => all.map((one) => (one.client_id === clientId ? { ...one, ...what } : one)));
}
