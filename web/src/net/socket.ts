/**
 * The line to the hub: JSON-RPC 2.0 over one WebSocket that comes back by itself.
 *
 * Owns connecting, signing in, waiting between attempts and matching answers to calls. Knows nothing of groups:
 * who resumes what is decided by whoever listens to `onOpen`.
 */

export class RpcError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
  /** The hub or the line was away; the same call may succeed later. */
  get isTransient(): boolean {
    return this.code === "daemon_unavailable" || this.code === "offline" || this.code === "rate_limited";
  }
}

export type LineState = "connecting" | "online" | "waiting" | "denied" | "closed";

export interface Who {
  principal: string;
  group_id: string | null;
}

/** What the hub takes in one piece; it closes the line on more. */
export const MOST_BYTES = 1024 * 1024;
const STABLE_MS = 5000;
const tooLarge = () => new RpcError("too_large", "This is larger than 1 MiB. Send it as a file.");

interface Waiting {
  size: number;
  resolve: (value: any) => void;
  reject: (error: RpcError) => void;
}

export interface Listeners {
  onState: (state: LineState, retryAt: number) => void;
  onOpen: (who: Who) => void;
  onNotice: (method: string, params: any) => void;
}

/** Wait longer each time, never the same for two tabs, never more than five seconds. */
export function pause(attempt: number, random: number): number {
  return Math.min(5000, 250 * 2 ** Math.min(attempt, 6)) * (0.6 + 0.4 * random);
}

export function isTooLarge(text: string): boolean {
  if (text.length * 3 < MOST_BYTES) return false;
  return new TextEncoder().encode(text).length >= MOST_BYTES;
}

export class Line {
  private socket: WebSocket | null = null;
  private calls = 0;
  private attempt = 0;
  private timer = 0;
  private pulse = 0;
  private stable = 0;
  private readonly waiting = new Map<number, Waiting>();
  private ended = false;
  private signedIn = false;

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly listeners: Listeners,
  ) {}

  open(): void {
    if (this.ended || this.socket !== null) return;
    clearTimeout(this.timer);
    this.listeners.onState("connecting", 0);
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => void this.signIn(socket));
    socket.addEventListener("message", (message) => this.take(String(message.data)));
    socket.addEventListener("close", (close) => this.gone(socket, close.code));
  }

  /** Try now instead of waiting: the person pressed "retry", or the network came back. */
  hurry(): void {
    this.attempt = 0;
    this.open();
  }

  /** Is the line really there? After sleep a socket can be dead without knowing it. */
  probe(): void {
    if (!this.signedIn) return this.hurry();
    const socket = this.socket;
    clearTimeout(this.pulse);
    this.pulse = window.setTimeout(() => {
      if (this.socket === socket && socket) this.gone(socket, 0);
    }, 4000);
    this.call("whoami", {}).then(
      () => clearTimeout(this.pulse),
      () => clearTimeout(this.pulse),
    );
  }

  close(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.socket?.close(1000);
    this.listeners.onState("closed", 0);
  }

  call<T = any>(method: string, params: Record<string, unknown> = {}): Promise<T> {
    const socket = this.socket;
    if (socket === null || socket.readyState !== WebSocket.OPEN || (!this.signedIn && method !== "authenticate")) {
      return Promise.reject(new RpcError("offline", "The hub cannot be reached right now."));
    }
    const id = ++this.calls;
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    if (isTooLarge(text)) return Promise.reject(tooLarge());
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, size: text.length });
      socket.send(text);
    });
  }

  notify(method: string, params: Record<string, unknown>): void {
    if (this.signedIn && this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
    }
  }

  private async signIn(socket: WebSocket): Promise<void> {
    try {
      const who = await this.call<Who>("authenticate", { token: this.token });
      if (socket !== this.socket) return;
      this.signedIn = true;
      // A line that breaks as soon as it stands is not tried four times a second.
      this.stable = window.setTimeout(() => (this.attempt = 0), STABLE_MS);
      this.listeners.onState("online", 0);
      this.listeners.onOpen(who);
    } catch (error) {
      if (error instanceof RpcError && error.code === "permission_denied") {
        this.ended = true;
        this.socket = null;
        socket.close();
        this.listeners.onState("denied", 0);
      } else {
        socket.close();
      }
    }
  }

  private take(text: string): void {
    const message = JSON.parse(text);
    if (message.method !== undefined) return this.listeners.onNotice(message.method, message.params);
    const waiting = this.waiting.get(message.id);
    if (waiting === undefined) return;
    this.waiting.delete(message.id);
    if (message.error === undefined) return waiting.resolve(message.result);
    const data = message.error.data ?? {};
    waiting.reject(new RpcError(data.code ?? "internal", message.error.message, data.details ?? {}));
  }

  private gone(socket: WebSocket, code: number): void {
    if (socket !== this.socket) return;
    this.socket = null;
    this.signedIn = false;
    clearTimeout(this.stable);
    if (code === 0) socket.close();
    const lost = [...this.waiting.values()];
    this.waiting.clear();
    // 1009: something was too large for this hub; of all that is unanswered it can only be the largest.
    const culprit = code === 1009 ? lost.toSorted((a, b) => b.size - a.size)[0] : undefined;
    for (const one of lost) one.reject(one === culprit ? tooLarge() : new RpcError("offline", "The hub went away before it answered."));
    if (this.ended) return;
    if (code === 4001) {
      this.ended = true;
      return this.listeners.onState("denied", 0);
    }
    const wait = pause(this.attempt++, Math.random());
    this.listeners.onState("waiting", Date.now() + wait);
    this.timer = window.setTimeout(() => this.open(), wait);
  }
}
