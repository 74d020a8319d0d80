/** What is open on the page: drawers, the side panel, the palette. */

import { signal } from "@preact/signals";
import type { Row } from "../types";

export type Panel =
  | { kind: "thread"; root: string }
  | { kind: "inspector"; row: Row }
  | { kind: "search" }
  | { kind: "trace"; tid: string }
  | { kind: "event"; row: Row }
  | { kind: "owed" }
  | null;

export const panel = signal<Panel>(null);
export const drawer = signal(false);
export const palette = signal(false);
export const help = signal(false);
export const dialog = signal<"group" | "agent" | "person" | null>(null);
/** The request whose card is to be looked at, by its id. */
export const wantedCard = signal<string | null>(null);
export const relaying = signal<Row | null>(null);

/** The message that the keyboard is on, by event id. */
export const selected = signal<string | null>(null);

/** Bring the selected message into view: asked for by keys and jumps, never by a pointer that is already there. */
export const revealed = signal(0);
export function selectAndReveal(id: string): void {
  selected.value = id;
  revealed.value++;
}

/**
 * The message that is being edited: its key and where. The key outlives the way from the outbox into the history, and
 * so does what was typed: whoever types while the message lands types on.
 */
export const editing = signal<{ key: string; where: string } | null>(null);
export const typed = { text: "", from: 0, to: 0 };
export function beginEditing(key: string, where: string, text: string): void {
  Object.assign(typed, { text, from: text.length, to: text.length });
  editing.value = { key, where };
}
export function isEditing(key: string, where: string): boolean {
  return editing.value?.key === key && editing.value.where === where;
}
export const picking = signal<string | null>(null);
export const replying = signal<Row | null>(null);

/** Ask a history to show a position; `nonce` lets the same one be asked for again. */
export interface Jump {
  key: string;
  seq: number;
  nonce: number;
}
export const jump = signal<Jump | null>(null);
let nonces = 0;
export function jumpTo(key: string, seq: number): void {
  jump.value = { key, seq, nonce: ++nonces };
}

/** A message was sent from here: its place goes to the end. */
export const sent = signal<{ key: string; nonce: number } | null>(null);
export function wasSent(key: string): void {
  sent.value = { key, nonce: ++nonces };
}

export function closeTop(): boolean {
  for (const one of [palette, help]) {
    if (one.value) {
      one.value = false;
      return true;
    }
  }
  for (const one of [dialog, relaying, picking, editing, replying, panel] as { value: unknown }[]) {
    if (one.value !== null) {
      one.value = null;
      return true;
    }
  }
  if (drawer.value) {
    drawer.value = false;
    return true;
  }
  return false;
}
