import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { visible } from "../src/text/visible";

const rows = JSON.parse(readFileSync(new URL("./visible.json", import.meta.url), "utf8")) as Record<"name" | "text" | "line" | "lines", string>[];

test.each(rows.map((row) => [row.name, row] as const))("what nobody would see is a code, and scripts stay readable: %s", (_, row) => {
  expect(visible(row.text)).toBe(row.line);
  expect(visible(row.text, true)).toBe(row.lines);
});

test("half a character is a code too", () => {
  expect(visible("a\ud83db")).toBe("a⟨U+D83D⟩b");
});
