/** The nine signals of C2A and their glyphs: a reaction always says a word (C2A-124 to C2A-132). */

export interface Signal {
  name: string;
  glyph: string;
  meaning: string;
}

export const SIGNALS: readonly Signal[] = [
  { name: "seen", glyph: "👀", meaning: "read, no commitment" },
  { name: "agree", glyph: "👍", meaning: "acknowledge or approve" },
  { name: "working", glyph: "🔧", meaning: "on it now" },
  { name: "queued", glyph: "🕐", meaning: "accepted, behind other work" },
  { name: "claimed", glyph: "✋", meaning: "this one owns it" },
  { name: "done", glyph: "✅", meaning: "resolved" },
  { name: "declined", glyph: "🙅", meaning: "will not act" },
  { name: "blocked", glyph: "🚧", meaning: "needs input" },
  { name: "unclear", glyph: "❓", meaning: "needs clarification" },
];

const BY_GLYPH = new Map(SIGNALS.map((one) => [bare(one.glyph), one]));

function bare(glyph: string): string {
  return glyph.replace(/[\u{1F3FB}-\u{1F3FF}\uFE0F]/gu, "");
}

export function signalOf(emoji: string): Signal | null {
  return BY_GLYPH.get(bare(emoji)) ?? null;
}
