// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isTooLarge, Line, MOST_BYTES, RpcError, type LineState } from "../src/net/socket";
import { newId } from "../src/state/ids";

class Wire extends EventTarget {
  static OPEN = 1;
  static all: Wire[] = [];
  readyState = 1;
  sent: any[] = [];
  constructor() {
    super();
    Wire.all.push(this);
    queueMicrotask(() => this.dispatchEvent(new Event("open")));
  }
  send(text: string) {
    const call = JSON.parse(text);
    this.sent.push(call);
    if (call.method === "authenticate") this.answer(call.id, { principal: "user", group_id: null });
  }
  answer(id: number, result: unknown) {
    queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify({ id, result }) })));
  }
  close(code = 1000) {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }
}

const waits: number[] = [];

async function opened(): Promise<Line> {
  const line = new Line("ws://x", "t", {
    onState: (state: LineState, at: number) => state === "waiting" && waits.push(at - Date.now()),
    onOpen: () => undefined,
    onNotice: () => undefined,
  });
  line.open();
  await vi.advanceTimersByTimeAsync(0);
  return line;
}

const failure = (call: Promise<unknown>): Promise<RpcError> => call.then(() => Promise.reject(new Error("it was taken")), (error) => error);

describe("the line to the hub", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("WebSocket", Wire);
    Wire.all = [];
    waits.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("never sends what the hub would hang up on, and says so for good", async () => {
    const line = await opened();
    const error = await failure(line.call("append", { data: { text: "ü".repeat(MOST_BYTES / 2) } }));
    expect(error.isTransient).toBe(false);
    expect(error.message).toContain("larger than 1 MiB");
    expect(Wire.all[0]!.sent.map((one) => one.method)).toEqual(["authenticate"]);
    expect(isTooLarge("x".repeat(MOST_BYTES - 1))).toBe(false);
  });

  it("takes a line closed for size as a refusal of the largest request alone", async () => {
    const line = await opened();
    const small = failure(line.call("inbox"));
    const large = failure(line.call("append", { text: "x".repeat(1000) }));
    Wire.all[0]!.close(1009);
    expect((await small).code).toBe("offline");
    expect((await large).code).toBe("too_large");
  });

  it("waits longer and longer for a line that breaks as soon as it stands", async () => {
    await opened();
    for (let broken = 0; broken < 5; broken++) {
      Wire.all.at(-1)!.close(1006);
      await vi.advanceTimersByTimeAsync(waits.at(-1)!);
    }
    expect(waits.at(-1)).toBeGreaterThan(2000);
    await vi.advanceTimersByTimeAsync(10_000);
    Wire.all.at(-1)!.close(1006);
    expect(waits.at(-1)).toBeLessThanOrEqual(250);
  });
});

describe("ids", () => {
  it("are made without a secure page", () => {
    vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
    expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(newId()).not.toBe(newId());
    vi.unstubAllGlobals();
  });
});
