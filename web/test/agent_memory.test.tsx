// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, describe, expect, it } from "vitest";
import type { AgentLine } from "../src/net/agent";
import { AgentState } from "../src/state/agent";
import type { Question } from "../src/net/agent_operations";
import { Card } from "../src/ui/agent/cards";
import type { Known, Memory } from "../src/net/agent_operations";
import { Knows, Remembered, trustText } from "../src/ui/agent/memory";

const BEN = "agent:ben@relay.example";
const memory: Memory = {
  agent: BEN,
  user_label: "",
  typical_intents: [],
  interaction_count: 4,
  first_interaction: "2026-03-02",
  last_interaction: "2026-03-20",
  learned_patterns: { usually_shares: [], usually_declines: ["budget_range"], usually_requests: ["dietary"], average_response_time: "PT35M", typical_flexibility: {}, preferred_resolution_style: null },
  context_cache: { dietary: { value: "<b>vegan</b>", last_updated: "2026-03-20", confidence: "medium", source: "told", thread_id: null } },
  changes: [{ field: "dietary", old: "no fish", new: "<b>vegan</b>", date: "2026-03-20", source: "told" }],
  trust_level: "familiar",
  trust_signals: ["4 successful threads"],
};
const known: Known = {
  agent: BEN,
  told: [{ field: "dietary", value: "no meat", first: "2026-03-02T10:00:00Z", last: "2026-03-20T10:00:00Z", times: 3, basis: "user_approved", via: null, thread_id: "thr_1" }],
  can_be_undone: [
    { what: "always_share", field: "dietary", for: "them" },
    { what: "always_share", field: "timezone", for: "everybody" },
    { what: "open", thread_id: "thr_1" },
    { what: "space", field: "rent", thread_id: "spc_1" },
  ],
};

let calls: [string, Record<string, unknown>][] = [];
const line: AgentLine = {
  call: async <T,>(command: string, given: Record<string, unknown> = {}) => {
    calls.push([command, given]);
    return (command === "known" ? known : command === "memory" ? { memory: [memory] } : {}) as T;
  },
};

async function drawn(part: (state: AgentState) => preact.VNode): Promise<HTMLElement> {
  const box = document.createElement("div");
  act(() => render(part(new AgentState(line, 0)), box));
  // What it asks for when it is first drawn is answered, and drawn in turn.
  for (let turn = 0; turn < 3; turn++) await act(async () => void (await Promise.resolve()));
  return box;
}

async function press(box: HTMLElement, words: string): Promise<void> {
  await act(async () => [...box.querySelectorAll("button")].find((one) => one.textContent!.trim() === words)!.click());
  for (let turn = 0; turn < 3; turn++) await act(async () => void (await Promise.resolve()));
}

beforeEach(() => {
  calls = [];
});

describe("what is remembered of somebody", () => {
  it("is shown with its source and its past, as text, and corrected or forgotten there", async () => {
    const box = await drawn((state) => <Remembered state={state} who={BEN} />);
    expect(box.querySelector("b")).toBeNull();
    expect(box.textContent).toContain("Ben told it, Fri");
    expect(box.querySelector("s")!.textContent).toBe("no fish");
    await press(box, "Correct");
    const input = box.querySelector("input")!;
    await act(async () => {
      input.value = "eats all";
      input.dispatchEvent(new Event("input"));
    });
    await act(async () => void box.querySelector("form")!.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true })));
    for (let turn = 0; turn < 3; turn++) await act(async () => void (await Promise.resolve()));
    expect(calls).toContainEqual(["memory_edit", { who: BEN, key: "dietary", value: "eats all" }]);
    await press(box, "Forget");
    expect(calls).toContainEqual(["memory_forget", { who: BEN, key: "dietary" }]);
    await press(box, "Forget all of it…");
    expect(calls.filter(([name]) => name === "memory_forget")).toHaveLength(1);
    await press(box, "Forget all of this");
    expect(calls).toContainEqual(["memory_forget", { who: BEN }]);
  });
});

describe("what somebody knows of the owner", () => {
  it("says what cannot be taken back, and calls off what can", async () => {
    const box = await drawn((state) => <Knows state={state} who={BEN} />);
    expect(box.textContent).toContain("cannot be taken back");
    expect(box.textContent).toContain("3 times");
    expect([...box.querySelectorAll("a")].map((one) => one.getAttribute("href"))).toEqual(["#/agent/permissions", "#/agent/threads/thr_1", "#/agent/spaces/spc_1"]);
    await press(box, "Ask me again");
    expect(calls).toContainEqual(["permissions", { field: "dietary", level: "ask", counterpart: BEN }]);
  });
});

describe("a proposal that rests on memory", () => {
  it("says from whom, and since when", async () => {
    const one: Question = {
      question_id: "q_memory",
      kind: "checkpoint",
      thread_id: "thr_1",
      counterpart: BEN,
      asked_at: "2026-03-23T09:00:00Z",
      fields: [],
      proposal: { summary: "Dinner", details: { date: "2026-03-27", time: "19:00-20:30" }, alternatives: [], actions: [], by: "us" },
      choices: ["confirm", "refuse"],
      about: { remembered: [{ field: "general_location_area", value: "central Reading", since: "2026-03-01T10:00:00Z", told_by: "them" }] },
    };
    const box = await drawn((state) => <Card state={state} one={one} />);
    expect(box.querySelector("[aria-label='From memory']")!.textContent).toContain("central Reading");
    expect(box.querySelector("[aria-label='From memory']")!.textContent).toContain("as Ben told");
  });
});

describe("how well somebody is known", () => {
  it("is said in plain words, and what counts nothing is left out", () => {
    const signals = ["1 successful thread", "0 declined resolutions", "user promoted to always_share 2 fields"];
    expect(trustText("Ben", "new", signals)).toBe("You and Ben have not arranged much yet: 1 thing was arranged, 2 things go there without a question.");
    expect(trustText("Ben", "odd", ["something else"])).toBe("odd: something else.");
  });
});
