/** The keyboard: every part of the room can be reached and used without a pointer. */

import { acknowledge, openThread } from "../state/actions";
import { placeKey, type Place } from "../state/fold";
import { me, room, rooms } from "../state/hub";
import { go, route } from "../state/router";
import { closeTop, help, palette, panel, picking, selectAndReveal, selected } from "../state/ui";
import type { Row } from "../types";
import { editRow } from "./editor";

export const KEYS: [string, string][] = [
  ["Ctrl K", "jump to a room, a person, a view"],
  ["/", "search this room"],
  ["j k  or  ↓ ↑", "next and previous message"],
  ["Home End", "oldest loaded, newest"],
  ["Enter  or  t", "open the thread"],
  ["+", "react with a signal"],
  ["a", "acknowledge"],
  ["e", "edit your message"],
  ["i", "who saw it, and why"],
  ["c", "write a message"],
  ["Alt ↓ ↑", "next and previous room"],
  ["Esc", "close, or leave the field"],
  ["?", "this list"],
];

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
}

function here(): { place: Place; rows: Row[] } | null {
  const one = room.peek();
  const at = route.peek();
  if (one === null || (at.view !== "talk" && at.view !== "dm")) return null;
  const open = panel.peek();
  const inPanel = document.activeElement?.closest(".panel") != null;
  const place: Place =
    open?.kind === "thread" && inPanel
      ? { groupId: one.id, root: open.root }
      : { groupId: one.id, ...(at.view === "dm" && at.detail ? { parties: at.detail.split(",") } : {}) };
  return { place, rows: one.timeline(place).rows.peek().filter((row) => row.event.kind === "chat.message") };
}

/** False where there are no messages to move among: the key scrolls then. */
function move(step: number): boolean {
  const found = here();
  if (found === null || found.rows.length === 0) return false;
  const at = found.rows.findIndex((row) => row.event.id === selected.peek());
  const next = at < 0 ? found.rows.length - 1 : Math.min(found.rows.length - 1, Math.max(0, at + step));
  selectAndReveal(found.rows[next]!.event.id);
  return true;
}

/** Parts that have a use for arrows, Home and End of their own. */
const OWN_ARROWS = "[role=menu], [role=listbox], .ledger-list, .panel-body, pre, .table";

function stepRoom(step: number): void {
  const all = rooms.peek();
  const at = all.findIndex((one) => one.id === route.peek().groupId);
  const next = all[(at + step + all.length) % all.length];
  if (next !== undefined) go({ groupId: next.id });
}

function onMessage(key: string): boolean {
  const found = here();
  const row = found?.rows.find((one) => one.event.id === selected.peek());
  if (row === undefined || row.deleted) return false;
  switch (key) {
    case "Enter":
      if (document.activeElement?.tagName !== "ARTICLE") return false;
      openThread(row);
      return true;
    case "t":
    case "r":
      openThread(row);
      return true;
    case "+":
    case "=":
      picking.value = row.event.id;
      return true;
    case "a":
      if (!row.owing?.includes(me.peek())) return false;
      void acknowledge(row.event);
      return true;
    case "e":
      if (row.event.by !== me.peek() || row.event.data.clowl) return false;
      editRow(row, placeKey(found!.place));
      return true;
    case "i":
      panel.value = { kind: "inspector", row };
      return true;
    default:
      return false;
  }
}

/** The browser scrolls what has the focus: a view without messages takes it, and the key goes on. */
function toScroll(event: KeyboardEvent): boolean {
  const view = document.querySelector<HTMLElement>(".main .page:not(.ledger, .traces), .main .ledger-list, .main .trace-list");
  if (view !== null && !view.contains(event.target as Node)) view.focus({ preventScroll: true });
  return false;
}

const STEPS: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

function plain(event: KeyboardEvent): boolean {
  switch (event.key) {
    case "/":
      panel.value = { kind: "search" };
      return true;
    case "?":
      help.value = true;
      return true;
    case "j":
    case "ArrowDown":
    case "k":
    case "ArrowUp":
    case "Home":
    case "End":
      if (event.target instanceof HTMLElement && event.target.closest(OWN_ARROWS)) return false;
      return move(STEPS[event.key]!) || toScroll(event);
    case "c": {
      const field = document.querySelector<HTMLElement>(".main .composer textarea");
      field?.focus();
      return field !== null;
    }
    default:
      return onMessage(event.key);
  }
}

export function listen(): () => void {
  const pressed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      palette.value = !palette.peek();
    } else if (event.key === "Escape") {
      if (!closeTop() && isTyping(event.target)) (event.target as HTMLElement).blur();
    } else if (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      stepRoom(event.key === "ArrowDown" ? 1 : -1);
    } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
      if (palette.peek() || help.peek() || document.querySelector("[aria-modal=true]")) return;
      if (plain(event)) event.preventDefault();
    }
  };
  // A file that falls beside a conversation would replace the page.
  const beside = (event: DragEvent) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "none";
  };
  document.addEventListener("keydown", pressed);
  window.addEventListener("dragover", beside);
  window.addEventListener("drop", beside);
  return () => {
    document.removeEventListener("keydown", pressed);
    window.removeEventListener("dragover", beside);
    window.removeEventListener("drop", beside);
  };
}

