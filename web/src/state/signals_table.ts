// Made by tools/docs.py from packages/c2a/src/tacit/c2a/signals.py; edit the table there instead.

export interface Signal {
  name: string;
  glyph: string;
  meaning: string;
}

export const SIGNALS: readonly Signal[] = [
  { name: "seen", glyph: "👀", meaning: "read, no commitment" },
  { name: "agree", glyph: "👍", meaning: "acknowledge or approve" },
  { name: "working", glyph: "🔧", meaning: "on it now" },
  { name: "queued", glyph: "🕐", meaning: "accepted, behind more important work" },
  { name: "claimed", glyph: "✋", meaning: "this agent owns it" },
  { name: "done", glyph: "✅", meaning: "resolved" },
  { name: "declined", glyph: "🙅", meaning: "not this agent, or it will not act" },
  { name: "blocked", glyph: "🚧", meaning: "cannot go on, needs input" },
  { name: "unclear", glyph: "❓", meaning: "needs clarification" },
];
