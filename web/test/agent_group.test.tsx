// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, describe, expect, it } from "vitest";
import type { AgentLine } from "../src/net/agent";
import { AgentState } from "../src/state/agent";
import type { Question } from "../src/net/agent_operations";
import { namesOf, valueText } from "../src/text/agent";
import { Card } from "../src/ui/agent/cards";
import type { WholeGroup } from "../src/net/agent_operations";
import { GroupPart } from "../src/ui/agent/group";

const [ANNA, BOB, CHARLIE, DIANA] = ["anna", "bob", "charlie", "diana"].map((name) => `agent:${name}@relay.example`) as [string, string, string, string];
const ID = "thr_group";
const told: WholeGroup = {
  thread_id: ID,
  state: "NEGOTIATING",
  coordinator: ANNA,
  coordinates: true,
  participants: [
    { agent: ANNA, status: "context_received" },
    { agent: BOB, status: "context_received", thread_id: `${ID}/${BOB}` },
    { agent: CHARLIE, status: "awaiting_response", thread_id: `${ID}/${CHARLIE}` },
    { agent: DIANA, status: "left_out", thread_id: `${ID}/${DIANA}` },
  ],
  digest: "50ed2b5f9576",
  unsigned: null,
  confirmation: { mode: "quorum", quorum: 2, order: null },
  windows: [{ window: "Friday 27 March 19:00-22:00", available_count: 2, missing: [CHARLIE] }],
  trade_off: null,
  binding: { agent: CHARLIE, field: "time_windows" },
  asked_to_bend: [CHARLIE],
  offered_to: null,
  may_coordinate: [BOB, CHARLIE],
  follows: null,
};
const question: Question = {
  question_id: "qst_1",
  kind: "escalation",
  thread_id: ID,
  counterpart: ANNA,
  asked_at: "2026-03-23T09:00:00Z",
  fields: [],
  proposal: null,
  choices: ["go on without them", "wait once more", "stop"],
  about: { group: "silent", reason: "No answer from charlie@relay.example", silent: [CHARLIE] },
  group: { thread_id: ID, part: "hub", others: [BOB, CHARLIE, DIANA] },
};

let group = told;
let calls: [string, Record<string, unknown>][] = [];
const line: AgentLine = {
  call: async <T,>(command: string, given: Record<string, unknown> = {}) => {
    calls.push([command, given]);
    return (command === "group" ? group : command === "pending" ? { questions: [] } : {}) as T;
  },
};

async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await act(async () => void (await Promise.resolve()));
}

async function drawn(part: (state: AgentState) => preact.VNode, state = new AgentState(line, 0)): Promise<HTMLElement> {
  const box = document.body.appendChild(document.createElement("div"));
  act(() => render(part(state), box));
  await settled();
  return box;
}

const button = (box: HTMLElement, words: string) => [...box.querySelectorAll("button")].find((one) => one.textContent!.trim() === words);

beforeEach(() => {
  document.body.replaceChildren();
  group = told;
  calls = [];
});

describe("a group", () => {
  it("shows its coordinator who takes part, ranked windows, who binds and when it stands", async () => {
    const box = await drawn((state) => <GroupPart state={state} id={ID} />);
    const people = [...box.querySelectorAll(".group-people li")].map((one) => one.textContent);
    expect(people[0]).toContain("Anna coordinates");
    expect(people[1]).toContain("has answered");
    expect(people[2]).toContain("asked to bend");
    expect(people[3]).toContain("goes on without them");
    expect(box.textContent).toContain("2 of 3, without Charlie");
    expect(box.textContent).toContain("more free time of Charlie, who alone was asked");
    expect(box.textContent).toContain("It stands once 2 have said yes.");
    expect(box.querySelector("a")!.getAttribute("href")).toBe(`#/agent/threads/${encodeURIComponent(`${ID}/${BOB}`)}`);
  });

  it("tells a participant who else is in it, and nothing that only its coordinator knows", async () => {
    group = { ...told, coordinator: BOB, coordinates: false, windows: [], binding: null };
    const box = await drawn((state) => <GroupPart state={state} id={ID} />);
    expect(box.querySelectorAll(".group-people li").length).toBe(4);
    expect(box.querySelector(".state-tag")).toBeNull();
    expect(box.querySelector("form")).toBeNull();
  });

  it("is handed over to one who still takes part, and says that it was offered", async () => {
    const box = await drawn((state) => <GroupPart state={state} id={ID} />);
    const select = box.querySelector("select")!;
    expect([...select.options].map((one) => one.textContent)).toEqual(["who?", "Bob", "Charlie"]);
    await act(async () => {
      select.value = BOB;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
    group = { ...told, offered_to: BOB, may_coordinate: [] };
    await act(async () => void box.querySelector("form")!.dispatchEvent(new Event("submit", { cancelable: true })));
    await settled();
    expect(calls).toContainEqual(["transfer", { thread_id: ID, to: BOB }]);
    expect(box.textContent).toContain("Bob is asked to coordinate this");
  });

  it("is handed over to nobody whose agent could not take it", async () => {
    group = { ...told, may_coordinate: [CHARLIE] };
    const box = await drawn((state) => <GroupPart state={state} id={ID} />);
    expect([...box.querySelectorAll("option")].map((one) => one.textContent)).toEqual(["who?", "Charlie"]);
    group = { ...told, may_coordinate: [] };
    expect((await drawn((state) => <GroupPart state={state} id={ID} />)).querySelector("form")).toBeNull();
  });

  it("asks its coordinator's owner with every choice of its own, none of which is taken for trying on", async () => {
    const state = new AgentState(line, 0);
    state.questions.value = [question];
    const box = await drawn((given) => <GroupPart state={given} id={ID} />, state);
    expect(box.querySelector(".ask h3")!.textContent).toBe("How should it go on with Bob, Charlie and Diana?");
    expect([...box.querySelectorAll("label.offer")].map((one) => one.textContent)).toEqual(["Go on without them", "Wait once more"]);
    expect(button(box, "Keep trying")).toBeUndefined();
    await act(async () => box.querySelectorAll<HTMLInputElement>("label.offer input")[1]!.click());
    await act(async () => button(box, "Choose this")!.click());
    await settled();
    expect(calls).toContainEqual(["answer", { question_id: "qst_1", choose: 1 }]);
  });
});

describe("an escalation between two", () => {
  it("still ends with trying on and stopping", async () => {
    const { group: _, ...two } = question;
    const one: Question = { ...two, question_id: "qst_2", counterpart: BOB, choices: ["Friday", "keep trying", "stop"], about: { reason: "no overlap" } };
    const box = await drawn((state) => <Card state={state} one={one} />);
    expect([...box.querySelectorAll("label.offer")].map((each) => each.textContent)).toEqual(["Friday"]);
    await act(async () => button(box, "Keep trying")!.click());
    await settled();
    expect(calls).toContainEqual(["answer", { question_id: "qst_2", choose: 1 }]);
  });
});

describe("words for several", () => {
  it("names few, and counts many", () => {
    expect(namesOf([BOB])).toBe("Bob");
    expect(namesOf([BOB, CHARLIE, DIANA])).toBe("Bob, Charlie and Diana");
    expect(namesOf([ANNA, BOB, CHARLIE, DIANA, "agent:emil@relay.example"])).toBe("Anna, Bob, Charlie and 2 others");
    expect(valueText({ windows: told.windows, best_window: "x" })).toBe("Friday 27 March 19:00-22:00 for 2, without Charlie");
  });
});
