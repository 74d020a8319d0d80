// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { called, codeIn, tokenIn } from "../src/state/sign_in";

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
