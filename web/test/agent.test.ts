// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import type { AgentLine } from "../src/net/agent";
import { RpcError } from "../src/net/socket";
import { AgentState } from "../src/state/agent";
import type { Question } from "../src/net/agent_operations";
import { change, draftOf, drop } from "../src/state/drafts";
import { basisText, deedText, fieldName, hoursText, nameIn, packetText, placeText, plain, stateText, valueText } from "../src/text/agent";

const asked = (id: string): Question => ({ question_id: id, kind: "consent", thread_id: "thr_1", counterpart: "agent:ben@relay.example", asked_at: "2026-03-23T09:00:00Z", fields: [], proposal: null, choices: [] });

class Fake implements AgentLine {
  open: Question[] = [asked("q1"), asked("q2")];
  calls: [string, Record<string, unknown>][] = [];
  fails: RpcError | null = null;
  async call<T>(command: string, given: Record<string, unknown> = {}): Promise<T> {
    this.calls.push([command, given]);
    if (command === "answer") {
      if (this.fails) throw this.fails;
      this.open = this.open.filter((one) => one.question_id !== given.question_id);
      return {} as T;
    }
    if (command === "pending") return { questions: this.open } as T;
    throw new RpcError("unknown_command", "no");
  }
}

describe("the personal agent's state", () => {
  let line: Fake;
  let state: AgentState;
  beforeEach(async () => {
    drop("q1");
    line = new Fake();
    state = new AgentState(line);
    state.line.value = "online";
    await state.look("questions");
  });

  it("closes a question that was answered elsewhere with a line that says where", () => {
    state.heard({ change: "question", question_id: "q1", open: false, via: "terminal" });
    expect(state.questions.value!.map((one) => one.question_id)).toEqual(["q2"]);
    expect(state.closed.value.map((one) => [one.question.question_id, one.via])).toEqual([["q1", "terminal"]]);
  });

  it("leaves no line for what was answered here, also when the change comes before the answer returns", async () => {
    const said = state.answer(line.open[0]!, { decline_all: true });
    state.heard({ change: "question", question_id: "q1", open: false, via: "page" });
    await said;
    expect(state.closed.value).toEqual([]);
    expect(state.questions.value!.map((one) => one.question_id)).toEqual(["q2"]);
  });

  it("says that it was late when another place was first", async () => {
    line.fails = new RpcError("invalid_request", "answered", { reason: "stale_question" });
    await state.answer(line.open[0]!, { confirm: true });
    expect(state.closed.value.length).toBe(1);
  });

  it("says where another place was first, whether that is heard before the refusal or after", async () => {
    line.fails = new RpcError("stale_question", "answered");
    const said = state.answer(line.open[0]!, { confirm: true });
    state.heard({ change: "question", question_id: "q1", open: false, via: "terminal" });
    await said;
    await state.answer(line.open[1]!, { confirm: true });
    state.heard({ change: "question", question_id: "q2", open: false, via: "inbox" });
    expect(state.closed.value.map((one) => [one.question.question_id, one.via, one.answered])).toEqual([
      ["q1", "terminal", true],
      ["q2", "inbox", true],
    ]);
  });

  it("takes no answer for a moment after a card went, and then does", async () => {
    state = new AgentState(line, 5);
    state.line.value = "online";
    await state.look("questions");
    expect(state.settling.value).toBe(false);
    await state.answer(line.open[0]!, { confirm: true });
    expect(state.settling.value).toBe(true);
    await new Promise<void>((done) => state.settling.subscribe((now) => !now && done()));
  });

  it("asks again after a close, and for all that was missing when the line stands again", async () => {
    await state.look("notices");
    line.calls = [];
    state.heard({ change: "question", question_id: "q1", open: false, via: "terminal" });
    await new Promise((done) => setTimeout(done, 100));
    expect(line.calls.map(([command]) => command)).toContain("pending");
    line.calls = [];
    state.opened();
    expect(line.calls.map(([command]) => command)).toContain("notices");
  });

  it("lets go of the drafts of questions that went while no page was open", async () => {
    sessionStorage.setItem("tacit.agent.draft.q0", "{}");
    change("q1", { choice: 1 });
    await state.look("questions");
    expect(sessionStorage.getItem("tacit.agent.draft.q0")).toBeNull();
    expect(sessionStorage.getItem("tacit.agent.draft.q1")).not.toBeNull();
  });

  it("keeps a question, and its draft, that could not be answered", async () => {
    change("q1", { share: { dietary: true } });
    line.fails = new RpcError("unclear_times", "say the zone");
    await expect(state.answer(line.open[0]!, { confirm: true })).rejects.toThrow("say the zone");
    expect(state.questions.value!.length).toBe(2);
    expect(draftOf("q1").value.share).toEqual({ dietary: true });
    expect(JSON.parse(sessionStorage.getItem("tacit.agent.draft.q1")!)).toEqual({ share: { dietary: true } });
  });

  it("lets go of a draft with its question", () => {
    change("q2", { choice: 1 });
    state.heard({ change: "question", question_id: "q2", open: false });
    expect(sessionStorage.getItem("tacit.agent.draft.q2")).toBeNull();
  });

  it("remembers what the agent does not offer, so that nothing is shown for it", async () => {
    await state.look("notices");
    expect(state.offers("notices")).toBe(false);
    expect(state.offers("threads")).toBe(true);
  });

  it("finds out what was answered while the line was away", async () => {
    line.open = [asked("q2"), asked("q3")];
    state.opened();
    await new Promise((done) => setTimeout(done));
    expect(state.questions.value!.map((one) => one.question_id)).toEqual(["q2", "q3"]);
    expect(state.closed.value.map((one) => one.question.question_id)).toEqual(["q1"]);
  });
});

describe("the words of others", () => {
  it("are one line with codes for marks that steer it, and at most 280 characters", () => {
    expect(plain("a\u202Eb\u0000\u2028c\n\n d\u200F")).toBe("a⟨U+202E⟩b⟨U+0000⟩⟨U+2028⟩c d⟨U+200F⟩");
    expect([...plain("😀".repeat(400))].length).toBe(280);
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("may be %s, which is in no table of ours", (name) => {
    expect(fieldName(name).toLowerCase()).toBe(plain(name.replaceAll("_", " ")).toLowerCase() || "something");
    expect(deedText(name)).toContain("does “");
    expect(placeText(name)).toContain("elsewhere (");
    expect(typeof stateText(name).text).toBe("string");
    expect(packetText(name)).toBe(`sent ${name}`);
    expect(basisText(name)).toBe(name);
    expect(typeof valueText(JSON.parse(`{"${name}": {"${name}": 1}}`))).toBe("string");
  });

  it("say both offsets where they differ, and the zone where the hours say none", () => {
    expect(hoursText("22:00+01:00/03:00Z", "2026-03-27")).toBe("22:00 (UTC+01:00) – 03:00 (UTC)");
    expect(hoursText("19:00", "2026-03-27", "Asia/Tokyo")).toBe("19:00 (Asia/Tokyo)");
    expect(hoursText("19:00/21:00+01:00", "2026-03-27", "Asia/Tokyo")).toContain("(Asia/Tokyo)");
    expect(hoursText("18:00+05:45/21:00+05:45", "2026-03-27", "Asia/Tokyo")).toBe("18:00–21:00 (UTC+05:45)");
    expect(valueText({ date: "2026-03-27", time: "19:00", timezone: "Asia/Tokyo" })).toContain("19:00 (Asia/Tokyo)");
  });

  it("make a name out of an address and nothing more", () => {
    expect(nameIn("agent:ben@relay.example")).toBe("Ben");
    expect(nameIn("agent:\u202Eben@x")).toBe("⟨U+202E⟩ben");
  });

  it("are values as people write them", () => {
    expect(valueText([{ date: "2026-03-27", time: "18:30+05:45/22:00+05:45" }])).toMatch(/27.*18:30–22:00 \(UTC\+05:45\)/);
    expect(valueText("no meat")).toBe("no meat");
    expect(hoursText("whenever")).toBe("whenever");
    expect(placeText("message:m_1")).toBe("by a message of yours");
  });
});
