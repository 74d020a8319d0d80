/**
 * Two ways to a personal agent: its own page's (`/agent/call`, a line of changes) and the hub's (operations `agent_*`,
 * notices `agent`). Whoever shows the agent knows of neither.
 *
 * On the own page a link from the terminal is exchanged for a token that this tab keeps; tabs of the same page hand it
 * to each other, so that a new link revives the ones that are open, with what was being typed in them.
 */

import { type LineState, pause, RpcError } from "./socket";

export type Change = { change: string; question_id?: string; thread_id?: string; space_id?: string; open?: boolean; via?: string; name?: string; state?: string };

export interface AgentLine {
  call(command: string, given?: Record<string, unknown>): Promise<unknown>;
}

/** What went wrong in the agent's own word, whichever way it came. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof RpcError)) return "fault";
  return typeof error.details.reason === "string" ? error.details.reason : error.code;
}

export class HubLine implements AgentLine {
  constructor(private readonly rpc: <T>(method: string, params: Record<string, unknown>) => Promise<T>) {}

  call(command: string, given: Record<string, unknown> = {}): Promise<unknown> {
    // The hub has one operation for hints: to see them, and to say that one was seen.
    if (command === "seen") return this.rpc("agent_hints", { seen: given.hint });
    return this.rpc(`agent_${command}`, given);
  }
}

export interface Hears {
  onState: (state: LineState) => void;
  onChange: (change: Change) => void;
  /** The line stands (again): whatever was known may be old. */
  onOpen: (question: string | null) => void;
}

const KEPT = "tacit.agent.token";
type Said = { token: string } | { wants: true };

export class OwnLine implements AgentLine {
  private token = kept();
  private attempt = 0;
  private following = false;
  private stream = new AbortController();
  private readonly tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("tacit.agent");

  constructor(private readonly hears: Hears) {}

  /** Sign in with the link that the page was opened with, or go on with the session of this tab. */
  async start(link: string | null): Promise<void> {
    this.tabs?.addEventListener("message", (event: MessageEvent<Said>) => this.told(event.data));
    if (link !== null) return this.open(link);
    if (this.token !== "") return this.follow(null);
    this.hears.onState("denied");
    this.tabs?.postMessage({ wants: true });
  }

  /** Use a link up. */
  async open(link: string): Promise<void> {
    this.hears.onState("connecting");
    try {
      const opened = await this.post<{ token: string; question_id: string | null }>("/agent/open", { link });
      this.keep(opened.token);
      this.tabs?.postMessage({ token: opened.token });
      return this.follow(opened.question_id);
    } catch (error) {
      // The session that this tab has may still be good.
      if (this.token !== "") void this.follow(null);
      else this.hears.onState("denied");
      throw error;
    }
  }

  async call(command: string, given: Record<string, unknown> = {}): Promise<unknown> {
    const { ok } = await this.post<{ ok: unknown }>("/agent/call", { command, arguments: given });
    return ok;
  }

  private told(said: Said): void {
    if ("wants" in said) {
      if (this.following && this.token !== "") this.tabs?.postMessage({ token: this.token });
    } else if (said.token !== this.token) {
      this.keep(said.token);
      this.attempt = 0;
      void this.follow(null);
    }
  }

  private keep(token: string): void {
    this.token = token;
    try {
      sessionStorage.setItem(KEPT, token);
    } catch {
      // A store that refuses: the session lasts as long as this page.
    }
  }

  private async ask(path: string, body: unknown, signal: AbortSignal | null = null): Promise<Response> {
    const token = this.token;
    let answer: Response;
    try {
      answer = await fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        signal,
      });
    } catch {
      throw new RpcError("offline", "Your agent cannot be reached right now.");
    }
    if (answer.ok) return answer;
    const { error } = (await answer.json().catch(() => ({}))) as { error?: { code: string; message: string } };
    // What was asked before signing in says nothing of the session since.
    if (answer.status === 401 && token === this.token) this.lost();
    throw new RpcError(error?.code ?? "internal", error?.message ?? "The agent could not answer.");
  }

  private async post<T>(path: string, body: unknown): Promise<T> {
    const answer = await this.ask(path, body);
    try {
      return (await answer.json()) as T;
    } catch {
      throw new RpcError("offline", "Your agent went away before it answered.");
    }
  }

  /** The agent was started anew, or this page was open for too long: only a link helps. */
  private lost(): void {
    this.end();
    this.hears.onState("denied");
  }

  /** No more of the stream that there was. */
  private end(): void {
    this.following = false;
    this.stream.abort();
  }

  /** Hear of changes until the line is lost, then come back; there is one stream at a time, the newest. */
  private async follow(question: string | null): Promise<void> {
    this.end();
    this.stream = new AbortController();
    const { signal } = this.stream;
    for (;;) {
      try {
        const answer = await this.ask("/agent/changes", {}, signal);
        if (signal.aborted) return;
        this.following = true;
        this.hears.onState("online");
        this.hears.onOpen(question);
        question = null;
        await this.read(answer.body!, signal);
      } catch (error) {
        if (error instanceof RpcError && error.code.endsWith("_token")) return;
      }
      if (signal.aborted) return;
      this.following = false;
      this.hears.onState("waiting");
      await new Promise((done) => setTimeout(done, pause(this.attempt++, Math.random())));
      if (signal.aborted) return;
    }
  }

  private async read(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      this.attempt = 0;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (line === "") continue;
        const said = JSON.parse(line);
        if ("change" in said) this.hears.onChange(said);
      }
    }
  }
}

function kept(): string {
  try {
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}
