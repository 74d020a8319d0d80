/** The personal agent's values and words as people read them; whatever a counterpart wrote is plain, short and quoted. */

import { visible } from "./visible";

export const MOST_QUOTED = 280;

/** Somebody else's words: one line, codes for marks that steer how text is drawn, at most 280 characters (A2ACP-066). */
export function plain(text: unknown, most = MOST_QUOTED): string {
  const said = typeof text === "string" ? text : text === null || text === undefined ? "" : JSON.stringify(text);
  const bare = visible(said.replace(/(?:\r?\n|[\t ])+/g, " ")).trim();
  const signs = [...bare];
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : bare;
}

/** The name in an address: `agent:ben@relay.example` is ben. */
export function nameIn(address: string): string {
  const name = plain(address, 80).replace(/^agent:/, "").split("@")[0]!.trim();
  return name === "" ? "somebody" : name[0]!.toUpperCase() + name.slice(1);
}

/** Several of them: `Ben, Cleo and Diana`; of many the first, and how many more. */
export function namesOf(addresses: string[], most = 4): string {
  const names = addresses.slice(0, addresses.length > most ? most - 1 : most).map(nameIn);
  const rest = addresses.length - names.length;
  const all = rest > 0 ? [...names, `${rest} others`] : names;
  return all.length < 2 ? (all[0] ?? "nobody") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

export const bareAddress = (address: string): string => plain(address, 200).replace(/^agent:/, "");

/** What a table says of a name that may be somebody else's: `constructor` is in no table of ours. */
export function own<T>(table: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined {
  return table && Object.hasOwn(table, name) ? table[name] : undefined;
}

const FIELDS: Record<string, string> = {
  time_windows: "Times you are free",
  specific_availability: "Times you are free",
  general_availability: "When you are usually free",
  dietary: "What you eat",
  general_location_area: "The area you are in",
  general_location: "The area you are in",
  specific_location: "Where exactly you are",
  budget_range: "What you would spend",
  event_preferences: "What you like to do",
  transport_mode: "How you get around",
  contact_details: "How to reach you",
  project_details: "Details of a project",
  health_info: "Your health",
  financial_details_beyond_budget: "Your money",
  work_schedule_internals: "What fills your working day",
  private_conversations: "Your private conversations",
  credentials: "Passwords and keys",
  other_people: "What belongs to other people",
  timezone: "Your time zone",
  location_preference: "Where you would go",
  event_type: "What it is",
  party_size: "How many",
  availability_overlap: "Which times suit how many",
  participants: "Who takes part",
};

/** A field in words; one that is not of ours is the counterpart's own name for it, and short. */
export function fieldName(field: string): string {
  const known = own(FIELDS, field);
  if (known !== undefined) return known;
  const words = plain(field, 60).replaceAll("_", " ").trim();
  return words === "" ? "Something" : words[0]!.toUpperCase() + words.slice(1);
}

/** A field of somebody else's. */
export function theirField(field: string): string {
  return fieldName(field).replace(/\byou would\b/, "they would").replace(/\byou\b/gi, "they").replace(/\bYour\b/, "Their").replace(/\byour\b/, "their");
}

const DEEDS: Record<string, string> = { calendar: "puts it into the calendar" };

/** What an agent does once both have agreed. */
export const deedText = (action: string): string => own(DEEDS, action) ?? `does “${plain(action, 60).replaceAll("_", " ")}”`;

export interface Window {
  date: string;
  time: string;
  timezone?: string;
}

export function isWindow(value: unknown): value is Window {
  return typeof value === "object" && value !== null && typeof (value as Window).date === "string" && typeof (value as Window).time === "string";
}

export const isWindows = (value: unknown): value is Window[] => Array.isArray(value) && value.length > 0 && value.every(isWindow);

const SLOT = /^(\d\d:\d\d)(Z|[+-]\d\d:\d\d)\/(\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/;

/** The hours of a window and their offsets: `18:00+00:00/21:00+00:00`. */
export function hoursOf(time: string): { from: string; to: string; offsets: [string, string] } | null {
  const found = SLOT.exec(time);
  return found === null ? null : { from: found[1]!, to: found[3]!, offsets: [found[2]!, found[4]!] };
}

const dayNames = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });

/** A calendar day as it was written, wherever the reader is. */
export function dayText(date: string): string {
  const found = /^\d{4}-\d\d-\d\d$/.test(date) ? new Date(`${date}T00:00:00Z`) : null;
  return found === null || Number.isNaN(found.getTime()) ? plain(date, 40) : dayNames.format(found);
}

const hasOffset = (time: string): boolean => time.split("/").every((one) => /(Z|[+-]\d\d:?\d\d)$/.test(one.trim()));

/**
 * Hours as people write them; their offset only where it is not the reader's own on that day, and both where they differ.
 * Hours that say no offset are those of the zone that was said beside them.
 */
export function hoursText(time: string, date?: string, zone?: unknown): string {
  const found = hoursOf(time);
  if (found === null) {
    const said = hasOffset(time) || typeof zone !== "string" ? "" : plain(zone, 60);
    return `${plain(time, 60)}${said === "" ? "" : ` (${said})`}`;
  }
  const [first, last] = found.offsets.map((one) => (one === "Z" ? "+00:00" : one)) as [string, string];
  if (first !== last) return `${found.from} (${offsetText(first)}) – ${found.to} (${offsetText(last)})`;
  const same = date !== undefined && offsetOn(date) === first;
  return `${found.from}–${found.to}${same ? "" : ` (${offsetText(first)})`}`;
}

const offsetText = (offset: string): string => `UTC${offset === "+00:00" ? "" : offset}`;

function offsetOn(date: string): string {
  const minutes = -new Date(`${date}T12:00:00`).getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`;
}

interface Overlap {
  windows: { window: string; available_count: number; missing: string[] }[];
}

/** What a group's answers come to, as it is told to somebody. */
function isOverlap(value: unknown): value is Overlap {
  const windows = typeof value === "object" && value !== null ? (value as Overlap).windows : null;
  return Array.isArray(windows) && windows.every((one) => typeof one?.window === "string" && Array.isArray(one.missing) && one.missing.every((who) => typeof who === "string"));
}

function overlapText(one: Overlap["windows"][number]): string {
  return `${plain(one.window, 80)} for ${plain(one.available_count, 10)}${one.missing.length === 0 ? "" : `, without ${namesOf(one.missing)}`}`;
}

/** A value as a person would write it. */
export function valueText(value: unknown, most = 600): string {
  if (isWindow(value)) return `${dayText(value.date)} ${hoursText(value.time, value.date, value.timezone)}`;
  if (Array.isArray(value)) return plain(value.map((one) => valueText(one, most)).join(", "), most);
  if (isOverlap(value)) return plain(value.windows.map(overlapText).join("; "), most);
  if (typeof value === "object" && value !== null) {
    const parts = Object.entries(value).map(([name, one]) => `${fieldName(name).toLowerCase()}: ${valueText(one, most)}`);
    return plain(parts.join("; "), most);
  }
  if (typeof value === "string" && hoursOf(value) !== null) return hoursText(value);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value)) return dayText(value);
  return plain(typeof value === "string" ? value : String(value ?? ""), most);
}

/** The value of a field; a word of the vocabulary reads as one. */
export function fieldValue(field: string, value: unknown): string {
  const text = valueText(value);
  return field === "event_type" ? text.replaceAll("_", " ") : text;
}

const PLACES: Record<string, string> = { terminal: "at the terminal", inbox: "in the inbox", page: "on its own page", room: "in the room" };

/** Where a question was answered, in words. */
export function placeText(via: string | undefined): string {
  if (via === undefined || via === "") return "elsewhere";
  return own(PLACES, via) ?? (via.startsWith("message:") ? "by a message of yours" : `elsewhere (${plain(via, 40)})`);
}

const STATES: Record<string, { text: string; tone: string }> = {
  INITIATED: { text: "begun", tone: "works" },
  NEGOTIATING: { text: "being talked over", tone: "works" },
  PROPOSED: { text: "proposed", tone: "asks" },
  CONFIRMED: { text: "agreed", tone: "good" },
  EXECUTING: { text: "being carried out", tone: "works" },
  COMPLETED: { text: "done", tone: "good" },
  STALLED: { text: "stands still", tone: "asks" },
  ROLLBACK: { text: "being undone", tone: "bad" },
  DECLINED: { text: "declined", tone: "still" },
  FAILED: { text: "failed", tone: "bad" },
  EXPIRED: { text: "run out of time", tone: "still" },
};

export const stateText = (state: string): { text: string; tone: string } => own(STATES, state) ?? { text: plain(state, 40).toLowerCase().replaceAll("_", " "), tone: "still" };

const PACKETS: Record<string, string> = {
  context: "told something",
  context_request: "asked for something",
  context_response: "answered what was asked",
  intent_update: "wanted something else",
  resolution: "proposed an outcome",
  resolution_response: "answered the proposal",
  thread_fork: "made several of one",
  thread_status: "said how it stands",
  thread_sync: "compared notes",
  processing_error: "could not go on",
};

/** What an agent did by sending a packet of this type. */
export const packetText = (type: string): string => own(PACKETS, type) ?? `sent ${plain(type, 40)}`;

const BASES: Record<string, string> = { user_approved: "you said yes", user_preauthorised: "always allowed", implicit: "part of your wish", space: "you wrote it into a shared space" };

/** What allowed a value to leave. */
export const basisText = (basis: string | null): string => own(BASES, basis ?? "") ?? plain(basis, 40);
