// @vitest-environment happy-dom
import { render } from "preact";
import { describe, expect, it } from "vitest";
import { completed, completions, mentioned, pieces, typedAt } from "../src/text/mentions";
import { Prose, safeAddress } from "../src/text/markdown";
import { dayOf, lasting, sized } from "../src/text/time";

const names = new Set(["ada", "ben", "backend", "all"]);
function drawn(text: string, format = "markdown"): HTMLElement {
  const box = document.createElement("div");
  render(<Prose text={text} format={format} names={names} me="usr:ben" />, box);
  return box;
}

describe("mentions", () => {
  it("knows the name that is being typed", () => {
    expect(typedAt("hi @ad", 6)).toEqual({ start: 3, query: "ad" });
    expect(typedAt("mail@ad", 7)).toBeNull();
    expect(typedAt("@", 1)).toEqual({ start: 0, query: "" });
  });

  it("offers beginnings first", () => {
    const all = [
      { name: "bada", label: "bada", kind: "agent" as const },
      { name: "ada", label: "Ada", kind: "agent" as const },
    ];
    expect(completions(all, "ad").map((one) => one.name)).toEqual(["ada", "bada"]);
    const alike = ["mayall", "maya"].map((name) => ({ name, label: name, kind: "agent" as const }));
    expect(completions(alike, "maya").map((one) => one.name)).toEqual(["maya", "mayall"]);
    expect(completed("hi @ad!", 6, { start: 3, query: "ad" }, "ada")).toEqual({ text: "hi @ada !", caret: 8 });
  });

  it("finds known names only, not in code or addresses", () => {
    expect(mentioned("@ada, ask @ben. and @nobody or x@ada.org `@backend`", names)).toEqual(["ada", "ben"]);
    expect(pieces("thanks @ada.", names)).toEqual([{ text: "thanks " }, { text: "@ada", name: "ada" }, { text: "." }]);
  });
});

describe("markdown", () => {
  it("draws what people write", () => {
    const box = drawn("**bold** *it* `code` ~~no~~ [x](https://example.org) @ada\n\n- [x] done\n- [ ] open\n\n1. one");
    expect(box.querySelector("strong")!.textContent).toBe("bold");
    expect(box.querySelector("a")!.getAttribute("rel")).toContain("noopener");
    expect(box.querySelector(".mention")!.textContent).toBe("@ada");
    expect(box.querySelectorAll("li")).toHaveLength(3);
  });

  it("makes no element out of anybody's HTML", () => {
    for (const text of ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<b>x</b>", "a <i onclick=x>b</i>"]) {
      const box = drawn(text);
      expect(box.querySelector("script, img, b, i")).toBeNull();
      expect(box.textContent).toContain("<");
    }
  });

  it("follows harmless addresses only", () => {
    expect(safeAddress("https://example.org")).toBe("https://example.org");
    for (const bad of ["javascript:alert(1)", "JAVASCRIPT:x", "\u0001javascript:x", "data:text/html,x", "//example.org", "vbscript:x", " javascript:x"]) {
      expect(safeAddress(bad)).toBeNull();
    }
    expect(drawn("[x](javascript:alert(1)) ![y](javascript:x)").querySelector("a")).toBeNull();
    expect(drawn("![y](https://example.org/a.png)").querySelector("img")).toBeNull();
  });

  it("makes no link of what signs somebody in", () => {
    for (const bad of ["https://hub.example/#sign-in=abc", "http://127.0.0.1:7433/#token=tct_abc", "https://hub.example/#Sign-In=abc"]) {
      expect(safeAddress(bad)).toBeNull();
      expect(drawn(`see [this](${bad}) or ${bad}`).querySelector("a")).toBeNull();
    }
    expect(safeAddress("https://hub.example/sign-in=abc")).not.toBeNull();
  });

  it("survives absurd nesting and length", () => {
    for (const text of ["> ".repeat(3000) + "x", "*".repeat(30_000), "[".repeat(3000), "- ".repeat(1500) + "x", "a".repeat(60_000)]) {
      expect(drawn(text).innerHTML.length).toBeGreaterThan(0);
    }
  });

  it("shows as written what is made to cost", () => {
    for (const text of ["_".repeat(30_000) + "x", "a_".repeat(15_000), "!".repeat(30_000), "*a".repeat(10_000), "**a** ".repeat(3_000), "- ".repeat(9_000) + "x", "a" + " ".repeat(30_000) + "b", "@a" + ".".repeat(39_000) + "a", "- a" + "\n|a".repeat(12_000)]) {
      const box = drawn(text);
      expect(box.querySelector("em, strong, li")).toBeNull();
      expect(box.textContent).toBe(text);
    }
  });

  it("formats a long answer with many paragraphs", () => {
    const box = drawn("A **bold** word and `code`, see [it](https://example.org).\n\n".repeat(400));
    expect(box.querySelectorAll("strong")).toHaveLength(400);
    expect(box.querySelectorAll("a")).toHaveLength(400);
    expect(drawn("| a | b |\n|---|---|\n" + "| **1** | `2` |\n".repeat(500)).querySelectorAll("strong")).toHaveLength(500);
    expect(drawn("```\n" + "_*".repeat(9_000) + "\n```").querySelector("pre")!.textContent).toHaveLength(18_000);
  });

  it("shows plain text as it is", () => {
    expect(drawn("**not bold** https://example.org.", "plain").querySelector("strong")).toBeNull();
    expect(drawn("see https://example.org.", "plain").querySelector("a")!.getAttribute("href")).toBe("https://example.org");
  });
});

describe("words for numbers", () => {
  it("says times and sizes", () => {
    expect([lasting(34), lasting(2500), lasting(90_000)]).toEqual(["34 ms", "2.5 s", "1 min 30 s"]);
    expect([sized(12), sized(1536), sized(2_500_000)]).toEqual(["12 B", "1.5 kB", "2.5 MB"]);
    const now = new Date(2026, 5, 15, 12);
    expect(dayOf(new Date(2026, 5, 15, 1).toISOString(), now)).toBe("Today");
    expect(dayOf(new Date(2026, 5, 14, 23).toISOString(), now)).toBe("Yesterday");
  });
});
