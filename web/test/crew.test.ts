import { describe, expect, it } from "vitest";
import { BLANK, about, costTold, request, words } from "../src/state/crew";
import type { CrewDriver } from "../src/types";

const driver = (name: string, ...flags: string[]): CrewDriver => ({
  name,
  description: "",
  takes: Object.fromEntries(flags.map((flag) => [flag, ""])),
  program: "",
  key_env: "",
  has_key: false,
  installed: true,
  install: "",
});

describe("what the form says about an agent", () => {
  it("is split into words without a shell", () => {
    expect(words(`--text ./answer.sh "two words" 'and $(none)' a\\b`)).toEqual(["--text", "./answer.sh", "two words", "and $(none)", "a\\b"]);
    expect(words(`"a \\"quoted\\" word"`)).toEqual(['a "quoted" word']);
    expect(words("   ")).toEqual([]);
  });

  it("gives a driver only the options that it takes", () => {
    const form = { ...BLANK, name: " ada ", driver: "codex", model: "m", folder: "/srv/x", access: "write", roles: "Back, review", dollars: "2.5", worktree: true };
    expect(request("g", form, driver("codex", "--model", "--cwd", "--access", "--use-my-config"))).toEqual({
      group_id: "g",
      actor_id: "ada",
      driver: "codex",
      options: ["--model", "m", "--cwd", "/srv/x", "--access", "write", "--use-my-config"],
      worktree: true,
      roles: ["back", "review"],
      budget: { cost_usd: 2.5 },
    });
    const plain = request("g", { ...form, driver: "openai", dollars: "" }, driver("openai", "--model"));
    expect(plain).toMatchObject({ options: ["--model", "m"], worktree: false });
    expect(plain).not.toHaveProperty("budget");
  });
});

describe("what agents cost", () => {
  it("carries a sign where it is reckoned by bytes", () => {
    expect([about(true, "1,200"), about(false, "1,200"), about(undefined, "1,200")]).toEqual(["~1,200", "1,200", "1,200"]);
  });
  const one = (currency: string, turns: number, cost: number) => ({ currency, turns, cost });
  it("is told as far as it is known", () => {
    const of = (agent: { cost: number }) => agent.cost;
    expect(costTold([], of)).toBe("-");
    expect(costTold([one("", 0, 0)], of)).toBe("-");
    expect(costTold([one("", 3, 0)], of)).toBe("not told");
    expect(costTold([one("USD", 3, 0.5), one("", 0, 0)], of)).toBe("0.50 USD");
    expect(costTold([one("USD", 3, 0.5), one("", 2, 0)], of)).toBe("at least 0.50 USD");
    expect(costTold([one("USD", 3, 0.5), one("", 2, 0)], of, true)).toBe("at least ~0.50 USD");
  });
});
