// @vitest-environment happy-dom
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const group = (id: string) => ({ group_id: id, title: id, created: "", last_seq: 0, scopes: [], actors: [], people: [] });
const calls: { method: string; params: any }[] = [];

/** A hub that is slow to let anybody follow a room, and quick with all else. */
class Wire extends EventTarget {
  static OPEN = 1;
  readyState = 1;
  constructor() {
    super();
    queueMicrotask(() => this.dispatchEvent(new Event("open")));
  }
  send(text: string) {
    const { id, method, params } = JSON.parse(text);
    calls.push({ method, params });
    const results: Record<string, unknown> = {
      authenticate: { principal: "usr:ben", group_id: null },
      groups: { groups: ["g_1", "g_2", "g_3"].map(group) },
    };
    if (method in results) queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify({ id, result: results[method] }) })));
  }
  close() {}
}

describe("signing in", () => {
  beforeAll(() => {
    vi.useFakeTimers();
    vi.stubGlobal("WebSocket", Wire);
    localStorage.setItem("tacit.room", JSON.stringify("g_2"));
  });
  afterAll(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("shows the last room before any room is followed, and waits for none with the others", async () => {
    const { connect, loaded, room } = await import("../src/state/hub");
    const { kept } = await import("../src/state/session");
    const before = history.length;
    kept.value = [{ token: "t" }];
    connect();
    await vi.advanceTimersByTimeAsync(0);
    expect(loaded.value).toBe(true);
    expect(room.value!.id).toBe("g_2");
    expect(history.length).toBe(before);
    expect(calls.filter((one) => one.method === "follow").map((one) => one.params.group_id)).toEqual(["g_2", "g_1", "g_3"]);
  });
});
