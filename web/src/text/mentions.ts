/** Mentions: completing a name that is being typed, and finding the names in a text. */

export interface Mentionable {
  /** What follows the `@`. */
  name: string;
  label: string;
  kind: "agent" | "person" | "role" | "everyone";
}

export interface Typed {
  start: number;
  query: string;
}

/** The mention that the caret stands in, if any. */
export function typedAt(text: string, caret: number): Typed | null {
  const match = /(^|[\s([{])@([\p{L}\p{N}._:-]{0,40})$/u.exec(text.slice(0, caret));
  if (match === null) return null;
  return { start: caret - match[2]!.length - 1, query: match[2]!.toLowerCase() };
}

/** The best few for a query: the whole name first, beginnings next, then anything that contains it. */
export function completions(all: readonly Mentionable[], query: string, most = 7): Mentionable[] {
  const rank = (one: Mentionable): number => {
    const name = one.name.toLowerCase();
    const label = one.label.toLowerCase();
    if (name === query) return -1;
    if (name.startsWith(query)) return 0;
    if (label.startsWith(query)) return 1;
    return name.includes(query) || label.includes(query) ? 2 : 3;
  };
  return all
    .map((one) => ({ one, rank: rank(one) }))
    .filter((found) => found.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map((found) => found.one);
}

/** Replace the typed part with a whole name. */
export function completed(text: string, caret: number, typed: Typed, name: string): { text: string; caret: number } {
  const after = text.slice(caret);
  const gap = after.startsWith(" ") ? "" : " ";
  const head = `${text.slice(0, typed.start)}@${name}${gap}`;
  return { text: head + after, caret: head.length + (gap === "" ? 1 : 0) };
}

const NAME = /(?<![\p{L}\p{N}_@./-])@([\p{L}\p{N}][\p{L}\p{N}._:-]{0,127})/gu;

/** Pieces of a text: plain parts and the known names in it. */
export function pieces(text: string, known: ReadonlySet<string>): { text: string; name?: string }[] {
  const out: { text: string; name?: string }[] = [];
  let at = 0;
  for (const match of text.matchAll(NAME)) {
    let name = match[1]!;
    while (name !== "" && !known.has(name.toLowerCase())) {
      const shorter = name.replace(/[._:-]+$/u, "");
      if (shorter === name) break;
      name = shorter;
    }
    if (!known.has(name.toLowerCase())) continue;
    if (match.index > at) out.push({ text: text.slice(at, match.index) });
    out.push({ text: `@${name}`, name });
    at = match.index + name.length + 1;
  }
  if (at < text.length) out.push({ text: text.slice(at) });
  return out;
}

/** The known names that a text mentions, each once. */
export function mentioned(text: string, known: ReadonlySet<string>): string[] {
  const bare = text.replace(/```[\s\S]*?(```|$)/g, " ").replace(/`[^`\n]*`/g, " ");
  return [...new Set(pieces(bare, known).flatMap((one) => (one.name === undefined ? [] : [one.name])))];
}
