// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { RpcError } from "../src/net/socket";
import { drop, flush, KEY_WINDOW_MS, openOutbox, parcels, put, retry, type Parcel, type Post } from "../src/state/outbox";
import type { LedgerEvent } from "../src/types";

let users = 0;
const parcel = (id: string): Parcel => ({ client_id: id, group_id: "g", data: { text: id }, created: 0 });
const landed = (id: string) => ({ id, data: { client_id: id } }) as unknown as LedgerEvent;

class Stub implements Post {
  sent: string[] = [];
  found: string[] = [];
  fail: Error | null = null;
  inLedger = new Set<string>();
  async append(one: Parcel) {
    if (this.fail) throw this.fail;
    this.sent.push(one.client_id);
    return landed(one.client_id);
  }
  async find(one: Parcel) {
    this.found.push(one.client_id);
    return this.inLedger.has(one.client_id) ? landed(one.client_id) : null;
  }
  landed() {}
}

describe("the outbox", () => {
  beforeEach(() => {
    localStorage.clear();
    openOutbox(`usr:${++users}`);
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
    retry("a");
    expect(parcels.value[0]!.refused).toBeUndefined();
    drop("a");
    expect(parcels.value).toEqual([]);
  });
});
