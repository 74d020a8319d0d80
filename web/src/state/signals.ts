/** Which of the nine signals of C2A an emoji is: a reaction always says a word (C2A-124 to C2A-132). */
import { SIGNALS, type Signal } from "./signals_table";

export { SIGNALS, type Signal };

const BY_GLYPH = new Map(SIGNALS.map((signal) => [bare(signal.glyph), signal]));

function bare(glyph: string): string {
  return glyph.replace(/[\u{1F3FB}-\u{1F3FF}\uFE0F]/gu, "");
}

export function signalOf(emoji: string): Signal | null {
  return BY_GLYPH.get(bare(emoji)) ?? null;
}
