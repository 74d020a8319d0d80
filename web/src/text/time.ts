/** Times as people read them, in the reader's own language and zone. */

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** Sorts as it reads, in the reader's zone. */
const stamp = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });

export const stampOf = (ts: string): string => stamp.format(new Date(ts));
export const clockOf = (ts: string): string => clock.format(new Date(ts));
export const fullOf = (ts: string): string => full.format(new Date(ts));

export function dayKey(ts: string): string {
  const at = new Date(ts);
  return `${at.getFullYear()}-${at.getMonth()}-${at.getDate()}`;
}

export function dayOf(ts: string, now = new Date()): string {
  const at = new Date(ts);
  const days = Math.round((startOfDay(now) - startOfDay(at)) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return (at.getFullYear() === now.getFullYear() ? day : dayOfYear).format(at);
}

/** A day inside a sentence. */
export const onDay = (ts: string): string => dayOf(ts).replace(/^(Today|Yesterday)$/, (word) => word.toLowerCase());

function startOfDay(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}

export function agoOf(ts: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(ts)) / 1000);
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return short.format(new Date(ts));
}

export function lasting(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

export function sized(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
