// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Change, OwnLine } from "../src/net/agent";

/** A page's server: streams that stay open until they are ended, and links of which some are used up. */
class Server {
  streams: { token: string; signal: AbortSignal; tell: (change: Change) => void }[] = [];
  fetch = async (path: string, given: RequestInit): Promise<Response> => {
    if (path === "/agent/open") {
      const { link } = JSON.parse(String(given.body));
      return link === "used" ? Response.json({ error: { code: "bad_link", message: "used" } }, { status: 403 }) : Response.json({ token: `of ${link}`, question_id: null });
    }
    const signal = given.signal!;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        const tell = (change: Change) => stream.enqueue(new TextEncoder().encode(`${JSON.stringify(change)}\n`));
        this.streams.push({ token: new Headers(given.headers).get("Authorization")!, signal, tell });
        signal.addEventListener("abort", () => stream.error(signal.reason));
      },
    });
    return new Response(body);
  };
}

const turn = () => new Promise((done) => setTimeout(done, 5));

describe("the line of the own page", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    sessionStorage.clear();
  });

  it("has one stream of changes at a time: a new link, a used one or another tab's word ends the one before", async () => {
    const server = new Server();
    vi.stubGlobal("fetch", server.fetch);
    const tabs: ((event: { data: unknown }) => void)[] = [];
    class Tabs {
      addEventListener = (_: string, hear: (event: { data: unknown }) => void) => void tabs.push(hear);
      postMessage = () => undefined;
    }
    vi.stubGlobal("BroadcastChannel", Tabs);
    const heard: Change[] = [];
    const states: string[] = [];
    const line = new OwnLine({ onState: (now) => void states.push(now), onChange: (change) => void heard.push(change), onOpen: () => undefined });
    void line.start("first");
    await turn();
    void line.open("second");
    await turn();
    await expect(Promise.race([line.open("used"), turn()])).rejects.toThrow("used");
    await turn();
    tabs[0]!({ data: { token: "of another tab" } });
    await turn();
    expect(server.streams.map((one) => one.token)).toEqual(["Bearer of first", "Bearer of second", "Bearer of second", "Bearer of another tab"]);
    expect(server.streams.map((one) => one.signal.aborted)).toEqual([true, true, true, false]);
    server.streams.at(-1)!.tell({ change: "notice" });
    await turn();
    expect(heard).toEqual([{ change: "notice" }]);
    expect(states.at(-1)).toBe("online");
    expect(states).not.toContain("waiting");
  });
});
