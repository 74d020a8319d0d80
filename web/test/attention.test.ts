// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Line } from "../src/net/socket";
import { Attention } from "../src/state/attention";
import { gathered } from "../src/ui/strip";
import type { AgentDecision, Decisions } from "../src/types";

const decided = (state: string): Decisions => ({
  decisions: [{ agent: "ada", directedness: "to_me", policy: "must_respond", mode: "buffered", state, work: { state } } as AgentDecision],
  quiet: 0,
} as unknown as Decisions);

/** A hub with an agent that comes and goes; it says how work stands, and what was asked of it. */
function hub() {
  const said = { online: true, asked: [] as string[] };
  const states: Record<string, () => string> = { e1: () => (said.online ? "working" : "out_of_touch"), e2: () => "answered" };
  const line = {
    call: async (name: string, params: { event_id?: string }) => {
      said.asked.push(params.event_id ?? name);
      if (name === "decisions") return decided(states[params.event_id!]!());
      return { agents: [{ actor_id: "ada", online: said.online }, { actor_id: "bob", online: true }], approvals: [] };
    },
  } as unknown as Line;
  return { said, made: new Attention("g1", line) };
}

describe("work in hand", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it("is asked for again when its agent leaves or comes back, and nothing else is", async () => {
    const { said, made } = hub();
    const left: string[] = [];
    made.onLeft = (agent) => left.push(agent);
    const seen = async () => (await vi.advanceTimersByTimeAsync(10), made.of("e1").value!.decisions[0]!.state);
    made.look("e1");
    made.look("e2");
    await made.refreshAgents();
    expect(await seen()).toBe("working");
    for (const [online, state, gone] of [[false, "out_of_touch", ["ada"]], [true, "working", ["ada"]]] as const) {
      said.online = online;
      said.asked = [];
      await made.refreshAgents();
      expect(await seen()).toBe(state);
      expect(said.asked).toEqual(["agents", "e1"]);
      expect(left).toEqual(gone);
    }
    said.asked = [];
    await made.refreshAgents();
    await seen();
    expect(said.asked).toEqual(["agents"]);
  });

  it("says that its agent is out of touch", () => {
    expect(gathered(decided("out_of_touch"))).toEqual([{ agents: ["ada"], word: "has it, but is out of touch", tone: "owes" }]);
  });
});
