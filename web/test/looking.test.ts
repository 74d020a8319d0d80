// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { away, IDLE_MS, watch } from "../src/state/looking";

let seen = "visible";
const turn = (to: string) => {
  seen = to;
  document.dispatchEvent(new Event("visibilitychange"));
};
const touch = () => window.dispatchEvent(new Event("pointermove"));

describe("looking at the page", () => {
  let stop = () => {};
  beforeEach(() => {
    vi.useFakeTimers();
    seen = "visible";
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => seen });
    away.value = false;
    stop = watch();
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  it("ends when nobody touches it for five minutes, and begins again with a touch", () => {
    vi.advanceTimersByTime(IDLE_MS - 2000);
    touch();
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(away.value).toBe(false);
    vi.advanceTimersByTime(1);
    expect(away.value).toBe(true);
    touch();
    expect(away.value).toBe(false);
  });

  it("ends at once when the page is hidden; a pointer over a hidden page means nothing", () => {
    turn("hidden");
    expect(away.value).toBe(true);
    touch();
    expect(away.value).toBe(true);
    turn("visible");
    expect(away.value).toBe(false);
    vi.advanceTimersByTime(IDLE_MS);
    expect(away.value).toBe(true);
  });

  it("has not begun on a page that was opened in the background", () => {
    stop();
    seen = "hidden";
    stop = watch();
    expect(away.value).toBe(true);
  });
});
