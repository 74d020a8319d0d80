// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { keep, kept, learn, recall } from "../src/state/session";

const ben = (room: string) => ({ principal: "usr:ben", group_id: room });
const stored = () => JSON.parse(localStorage.getItem("tacit.sign-ins") ?? "null");

describe("the sign-ins that a browser keeps", () => {
  beforeEach(() => {
    localStorage.clear();
    recall();
  });

  it("begin with the one token that browsers kept before, and lose it at no step", () => {
    localStorage.setItem("tacit.token", JSON.stringify("tct_old"));
    recall();
    expect(kept.value).toEqual([{ token: "tct_old" }]);
    keep({ token: "tct_new", who: ben("g_2") });
    expect(stored()).toEqual([{ token: "tct_old" }, { token: "tct_new", who: ben("g_2") }]);
    expect(localStorage.getItem("tacit.token")).toBeNull();
  });

  it("have one for a room, the newest", () => {
    keep({ token: "a", who: ben("g_1") });
    keep({ token: "b", who: ben("g_2") });
    keep({ token: "c", who: ben("g_1") });
    expect(stored().map((one: { token: string }) => one.token)).toEqual(["b", "c"]);
    keep({ token: "e", who: { principal: "user", group_id: null } });
    keep({ token: "d" });
    learn("d", { who: ben("g_2") });
    expect(stored().map((one: { token: string }) => one.token)).toEqual(["c", "e", "d"]);
  });

  it("are added to what another tab has stored meanwhile", () => {
    keep({ token: "a", who: ben("g_1") });
    localStorage.setItem("tacit.sign-ins", JSON.stringify([...stored(), { token: "elsewhere", who: ben("g_3") }]));
    keep({ token: "b", who: ben("g_2") });
    expect(kept.value.map((one) => one.token)).toEqual(["a", "elsewhere", "b"]);
  });

  it("do not come back by what the hub says of one that was left in another tab", () => {
    keep({ token: "a", who: ben("g_1") });
    localStorage.removeItem("tacit.sign-ins");
    learn("a", { title: "Lobby" });
    expect(stored()).toBeNull();
  });
});
