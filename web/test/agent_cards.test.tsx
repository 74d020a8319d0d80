// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, describe, expect, it } from "vitest";
import type { AgentLine } from "../src/net/agent";
import { AgentState } from "../src/state/agent";
import type { Alternative, ConsentField, Question } from "../src/net/agent_operations";
import { consentOf } from "../src/state/consent";
import { change } from "../src/state/drafts";
import { Card } from "../src/ui/agent/cards";
import { AgentStrip } from "../src/ui/agent/room";

const field = (name: string, more: Partial<ConsentField> = {}): ConsentField => ({ field: name, reason: "to cook", priority: "required", values: ["no meat"], ...more });
let last = 0;
const asked = (more: Partial<Question> = {}): Question => ({
  question_id: `q${++last}`,
  kind: "consent",
  thread_id: "thr_1",
  counterpart: "agent:ben@relay.example",
  asked_at: "2026-03-23T09:00:00Z",
  fields: [],
  proposal: null,
  choices: [],
  ...more,
});
const proposed = (by: string, main: Alternative, alternatives: Alternative[] = []): Question => asked({ kind: "checkpoint", proposal: { ...main, alternatives, actions: [], by } });

let calls: [string, Record<string, unknown>][] = [];
const line: AgentLine = {
  call: async <T,>(command: string, given: Record<string, unknown> = {}) => {
    calls.push([command, given]);
    return { questions: [] } as T;
  },
};

function drawn(one: Question): HTMLElement {
  const box = document.createElement("div");
  act(() => render(<Card state={new AgentState(line, 0)} one={one} />, box));
  return box;
}

beforeEach(() => {
  calls = [];
});

describe("a card of the personal agent", () => {
  it.each(["constructor", "__proto__", "toString", "valueOf"])("is drawn and answered with a field named %s, which is off until it is chosen", (name) => {
    const one = asked({ fields: [field("dietary"), field(name)] });
    change(one.question_id, { share: { dietary: true }, values: { dietary: "no nuts" } });
    const box = drawn(one);
    const row = box.querySelectorAll(".field-row")[1]!;
    const turned = row.querySelector<HTMLInputElement>("input[role=switch]")!;
    expect(turned.checked).toBe(false);
    expect(row.querySelector(".field-label")!.textContent!.toLowerCase()).toBe(name.replaceAll("_", "").toLowerCase());
    expect(row.querySelector(".value")!.textContent).toBe("no meat");
    act(() => {
      turned.checked = true;
      turned.dispatchEvent(new Event("change"));
    });
    act(() => box.querySelector<HTMLButtonElement>("button.primary")!.click());
    const share = calls.find(([command]) => command === "answer")![1].share as Record<string, unknown>;
    expect(JSON.stringify(share)).toBe(`{"dietary":"no nuts","${name}":null}`);
  });

  it("that cannot be drawn says so and leaves the others alone", () => {
    const state = new AgentState(line, 0);
    // A checkpoint without a proposal.
    state.questions.value = [asked({ kind: "checkpoint" }), asked()];
    const box = document.createElement("div");
    act(() => render(<AgentStrip state={state} />, box));
    expect(box.textContent).toContain("could not be shown");
    expect(box.querySelector("code")!.textContent).toBe("tacit agent");
    expect(box.querySelector(".more-asks")).not.toBeNull();
    act(() => void (state.questions.value = state.questions.value!.slice(1)));
    expect(box.querySelector("article.kind-consent")).not.toBeNull();
    expect(box.textContent).not.toContain("could not be shown");
  });

  it("takes no answer in the moment after another went", () => {
    const state = new AgentState(line, 60_000);
    const [first, second] = [asked(), asked()];
    state.questions.value = [first, second];
    const box = document.createElement("div");
    act(() => render(<AgentStrip state={state} />, box));
    const nothing = () => [...box.querySelectorAll("button")].find((one) => one.textContent === "Share nothing")!;
    expect(nothing().disabled).toBe(false);
    act(() => state.heard({ change: "question", question_id: first.question_id, open: false, via: "terminal" }));
    expect(box.querySelector("article")!.id).toBe(`card-${second.question_id}`);
    expect(nothing().disabled).toBe(true);
  });
});

describe("what is offered", () => {
  it("is in quotation marks where the words are theirs, with a date or without", () => {
    const theirs = drawn(proposed("them", { summary: "Dinner, and all is paid" }, [{ summary: "Friday", reason: "we like it", details: { date: "2026-03-27", time: "19:00", timezone: "Asia/Tokyo" } }]));
    expect(theirs.textContent).toContain("“Dinner, and all is paid”");
    expect(theirs.textContent).toContain("“Friday”");
    expect(theirs.textContent).toContain("“we like it”");
    expect(theirs.textContent).toContain("19:00 (Asia/Tokyo)");
    expect(drawn(proposed("us", { summary: "Dinner" })).textContent).not.toContain("“");
  });

  it("keeps hours and a zone that came without a day", () => {
    const box = drawn(proposed("them", { summary: "Dinner", details: { time: "19:00", timezone: "Asia/Tokyo", date: ["2026-03-27"] } }));
    expect(box.textContent).toContain("19:00 (Asia/Tokyo)");
    expect(box.textContent).toContain("27");
  });
});

describe("the reason for a field", () => {
  it("is a quotation of the counterpart unless it is said to be our own", () => {
    const box = drawn(asked({ fields: [field("dietary", { ticked: true, reason: "Your own wish needs this" }), field("budget_range", { own: true, reason: "You asked for it" })] }));
    const rows = [...box.querySelectorAll(".field-row")];
    expect(rows[0]!.querySelector("blockquote")!.textContent).toBe("Your own wish needs this");
    expect(rows[1]!.querySelector("blockquote")).toBeNull();
    expect(rows[1]!.textContent).toContain("You asked for it");
  });
});

describe("a value that was emptied", () => {
  it.each([[""], ["  "], [[null]]])("is not shared as it was known: %j", (written) => {
    const fields = [field("dietary", { ticked: true }), field("budget_range", { ticked: true })];
    const { lacking, said } = consentOf(fields, { values: { dietary: written } });
    expect(lacking.map((one) => one.field)).toEqual(["dietary"]);
    expect(said).toEqual({ share: { budget_range: null }, decline: ["dietary"] });
  });

  it("holds the answer back until it is said what to share", () => {
    const one = asked({ fields: [field("dietary", { ticked: true })] });
    change(one.question_id, { values: { dietary: "" } });
    const box = drawn(one);
    expect(box.querySelector<HTMLButtonElement>("button.primary")!.disabled).toBe(true);
    expect(box.querySelector(".field-value")!.textContent).not.toContain("no meat");
    act(() => change(one.question_id, { values: { dietary: "no nuts" } }));
    expect(box.querySelector<HTMLButtonElement>("button.primary")!.disabled).toBe(false);
  });
});
