// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { called, calledAll, canStayBeside, codeIn, effectOf, tokenIn } from "../src/state/sign_in";

describe("sign-in links", () => {
  it("are read exactly, or not at all", () => {
    expect(codeIn("http://127.0.0.1:7433/#sign-in=Ab_-9")).toBe("Ab_-9");
    for (const other of ["http://a/#/g/x", "http://a/#%73ign-in=abc", "http://a/#sign-in=", "http://a/#sign-in=a&token=b", "http://a/sign-in=abc", "http://a/?x#y"]) {
      expect(codeIn(other)).toBeNull();
    }
  });

  it("of the kind that held a token are known as such", () => {
    expect(tokenIn("http://127.0.0.1:7433/#token=tct_abc")).toBe("tct_abc");
    expect(tokenIn("http://a/#sign-in=abc")).toBeNull();
    expect(tokenIn("tct_abc")).toBeNull();
  });

  it("name people as people call each other", () => {
    expect([called("user"), called("usr:ben")]).toEqual(["the owner of this hub", "ben"]);
  });
});

describe("what a link does to those who are signed in", () => {
  const owner = { principal: "user", group_id: null };
  const at = (room: string, name: string) => ({ principal: `usr:${name}`, group_id: room });
  const rows: [string, { principal: string; group_id: string | null }[], { principal: string; group_id: string | null }, string, boolean][] = [
    ["one's own link changes nothing", [at("g_1", "ben")], at("g_1", "ben"), "nothing", false],
    ["the owner's own link changes nothing", [owner], owner, "nothing", false],
    ["a further room of the same person is opened beside", [at("g_1", "ben")], at("g_2", "ben"), "a room beside", true],
    ["another person in another room is asked about, and may stay", [at("g_1", "ben")], at("g_2", "eva"), "somebody else", true],
    ["another person in the same room is asked about, and one of them goes", [at("g_1", "ben")], at("g_1", "eva"), "somebody else", false],
    ["the owner is in every room: to come in as a guest is asked about", [owner], at("g_1", "ben"), "somebody else", true],
    ["also where the guest is known from another room", [owner, at("g_1", "ben")], at("g_2", "ben"), "somebody else", true],
    ["the owner's link is asked about, and a guest's room stays the guest's", [at("g_1", "ben")], owner, "somebody else", true],
    ["a room where somebody else speaks is never entered unasked", [at("g_1", "ben"), at("g_2", "eva")], at("g_2", "ben"), "somebody else", false],
  ];
  it.each(rows)("%s", (_, here, other, effect, both) => {
    expect(effectOf(here, other)).toBe(effect);
    expect(canStayBeside(here, other)).toBe(both);
  });

  it("is said with each name once", () => {
    expect(calledAll([at("g_1", "ben"), at("g_2", "ben")])).toBe("ben");
    expect(calledAll([owner, at("g_2", "ben")])).toBe("the owner of this hub and ben");
  });
});
