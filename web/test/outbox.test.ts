// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { RpcError } from "../src/net/socket";
import { arrived, drop, flush, KEY_WINDOW_MS, openOutbox, parcels, put, reloaded, retry, revise, settled, type Parcel, type Post } from "../src/state/outbox";
import type { LedgerEvent } from "../src/types";

let users = 0;
const parcel = (id: string): Parcel => ({ client_id: id, group_id: "g", by: `usr:${users}`, data: { text: id }, created: 0 });
const landed = (one: Parcel) => ({ id: `event-${one.client_id}`, data: { ...one.data, client_id: one.client_id } }) as unknown as LedgerEvent;
const say = (text: string) => (data: Parcel["data"]) => ({ ...data, text });

class Stub implements Post {
  sent: string[] = [];
  online = true;
  ready(_?: Parcel) {
    return this.online;
  }
  found: string[] = [];
  fail: Error | null = null;
  inLedger = new Set<string>();
  async append(one: Parcel) {
    if (this.fail) throw this.fail;
    this.sent.push(one.client_id);
    return landed(one);
  }
  async find(one: Parcel) {
    this.found.push(one.client_id);
    return this.inLedger.has(one.client_id) ? landed(one) : null;
  }
  edits: [string, string][] = [];
  complaints: string[] = [];
  async revise(one: Parcel) {
    if (this.fail) throw this.fail;
    this.edits.push([one.landed!, one.revised!.text]);
  }
  shown = new Set<string>();
  isShown(event: LedgerEvent) {
    return this.shown.has(event.id);
  }
  refusals: string[] = [];
  refused(one: Parcel, error: RpcError) {
    this.refusals.push(`${one.client_id}: ${error.message}`);
  }
  unrevised(error: RpcError) {
    this.complaints.push(error.message);
  }
}

describe("the outbox", () => {
  beforeEach(() => {
    localStorage.clear();
    openOutbox(`usr:${++users}`);
  });

  it("holds nobody's messages back for another's line, and mixes up nobody's", async () => {
    const [ben, eva] = [`usr:${users}`, "usr:eva"];
    openOutbox(eva);
    const post = new Stub();
    post.ready = (one?: Parcel) => one?.by === eva;
    put(parcel("a"));
    put({ ...parcel("b"), by: eva });
    await flush(post);
    expect(post.sent).toEqual(["b"]);
    expect(JSON.parse(localStorage.getItem(`tacit.outbox.${ben}`)!).map((one: Parcel) => one.client_id)).toEqual(["a"]);
    expect(localStorage.getItem(`tacit.outbox.${eva}`)).toBe("[]");
  });

  it("sends in order and forgets what landed", async () => {
    const post = new Stub();
    put(parcel("a"));
    put(parcel("b"));
    await flush(post);
    expect(post.sent).toEqual(["a", "b"]);
    expect(parcels.value).toEqual([]);
  });

  it("keeps everything while the hub is away and remembers that it tried", async () => {
    const post = new Stub();
    post.fail = new RpcError("offline", "away");
    put(parcel("a"));
    await flush(post, () => 5);
    expect(parcels.value).toMatchObject([{ client_id: "a", tried: 5 }]);
    post.fail = null;
    await flush(post, () => 6);
    expect(post.sent).toEqual(["a"]);
    expect(post.found).toEqual([]);
  });

  it("looks into the ledger before repeating what the hub has forgotten", async () => {
    const post = new Stub();
    post.inLedger.add("a");
    put({ ...parcel("a"), tried: 0 });
    put({ ...parcel("b"), tried: 0 });
    await flush(post, () => KEY_WINDOW_MS + 1);
    expect(post.found).toEqual(["a", "b"]);
    expect(post.sent).toEqual(["b"]);
  });

  it("sets a refused message aside and goes on", async () => {
    const post = new Stub();
    put(parcel("a"));
    const append = post.append.bind(post);
    post.append = async (one) => {
      if (one.client_id === "a") throw new RpcError("invalid_request", "too large");
      return append(one);
    };
    put(parcel("b"));
    await flush(post);
    expect(post.sent).toEqual(["b"]);
    expect(parcels.value).toMatchObject([{ client_id: "a", refused: "too large" }]);
    expect(post.refusals).toEqual(["a: too large"]);
    retry("a");
    expect(parcels.value[0]!.refused).toBeUndefined();
    drop("a");
    expect(parcels.value).toEqual([]);
  });

  it("does not wait for what the stream has shown before the answer came", async () => {
    const post = new Stub();
    settled.value = [];
    post.shown.add("event-a");
    put(parcel("a"));
    put(parcel("b"));
    await flush(post);
    expect(settled.value.map((one) => one.client_id)).toEqual(["b"]);
    reloaded("g");
    expect(settled.value).toEqual([]);
  });

  it("sends while the browser stores nothing", async () => {
    const post = new Stub();
    const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    try {
      put(parcel("a"));
      put(parcel("b"));
      expect(parcels.value.map((one) => one.client_id)).toEqual(["a", "b"]);
      await flush(post);
      expect(post.sent).toEqual(["a", "b"]);
      expect(parcels.value).toEqual([]);
    } finally {
      full.mockRestore();
    }
  });

  it("rewrites what was never tried where it lies", async () => {
    const post = new Stub();
    put(parcel("a"));
    post.online = false;
    await flush(post);
    expect(revise("a", "better", say("better"))).toBe(true);
    post.online = true;
    await flush(post);
    expect(post.edits).toEqual([]);
    expect(settled.value.at(-1)).toMatchObject({ client_id: "a", data: { text: "better" } });
  });

  it("sends what may have reached the hub as it was, and its new text as an edit", async () => {
    const post = new Stub();
    const append = post.append.bind(post);
    let answer = () => {};
    post.append = async (one) => {
      await new Promise<void>((done) => (answer = done));
      return append(one);
    };
    put(parcel("a"));
    const flushed = flush(post);
    await Promise.resolve();
    expect(revise("a", "second", say("second"))).toBe(true);
    expect(revise("a", "third", say("third"))).toBe(true);
    expect(parcels.value).toMatchObject([{ data: { text: "a" }, revised: { text: "third" } }]);
    answer();
    await flushed;
    expect(post.sent).toEqual(["a"]);
    expect(post.edits).toEqual([["event-a", "third"]]);
    expect(parcels.value).toEqual([]);
  });

  it("keeps an edit that is owed over a reload and an absence, and an edit of the edit follows it", async () => {
    const post = new Stub();
    put({ ...parcel("a"), tried: 1, landed: "event-a", revised: { text: "new", key: "k1" } });
    post.fail = new RpcError("offline", "away");
    await flush(post);
    expect(parcels.value).toHaveLength(1);
    post.fail = null;
    post.revise = async (one) => {
      post.edits.push([one.revised!.key, one.revised!.text]);
      if (one.revised!.key === "k1") revise("a", "newer", say("newer"), "k2");
    };
    await flush(post);
    expect(post.edits).toEqual([
      ["k1", "new"],
      ["k2", "newer"],
    ]);
    expect(post.sent).toEqual([]);
    expect(parcels.value).toEqual([]);
  });

  it("edits in the ledger what landed and was not seen on the stream yet", async () => {
    const post = new Stub();
    put(parcel("a"));
    await flush(post);
    expect(revise("a", "after", say("after"))).toBe(true);
    await flush(post);
    expect(post.sent).toEqual(["a"]);
    expect(post.edits).toEqual([["event-a", "after"]]);
    arrived("a");
    expect(revise("a", "too late", say("too late"))).toBe(false);
  });

  it("says so when the edit is refused, and the message stands", async () => {
    const post = new Stub();
    put({ ...parcel("a"), tried: 1, landed: "event-a", revised: { text: "new", key: "k" } });
    post.fail = new RpcError("invalid_request", "the message was deleted");
    await flush(post);
    expect(post.complaints).toEqual(["the message was deleted"]);
    expect(parcels.value).toEqual([]);
  });

  it("lets a refused message be mended and sent under its own key", async () => {
    const post = new Stub();
    put({ ...parcel("a"), tried: 1, refused: "too large" });
    expect(revise("a", "shorter", say("shorter"))).toBe(true);
    await flush(post, () => 2);
    expect(post.sent).toEqual(["a"]);
    expect(settled.value.at(-1)).toMatchObject({ data: { text: "shorter" } });
  });
});
