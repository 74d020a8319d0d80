/**
 * What became of a message for each agent, as the hub tells it. The hub decides and remembers; the browser asks
 * when a message comes into view and asks again when a record of attention names it.
 */

import { signal, type Signal } from "@preact/signals";
import type { AgentPresence, Decisions, LedgerEvent, Preview } from "../types";
import { RpcError, type Line } from "../net/socket";

export interface Progress {
  session: string;
  token: string;
  progress: number;
  total: number | null;
  message: string | null;
  at: number;
}

export interface Approval {
  approval_id: string;
  session: string;
  state: string;
  what: string;
  expires_at: number;
  answered_by: string | null;
  seq: number;
  ts: string;
}

const KEPT = 400;

export class Attention {
  readonly agents = signal<AgentPresence[]>([]);
  readonly progress = signal<ReadonlyMap<string, Progress>>(new Map());
  readonly approvals = signal<ReadonlyMap<string, Approval>>(new Map());
  /** False when this hub does not decide about attention: then nothing is drawn for it. */
  readonly offered = signal(true);
  private readonly known = new Map<string, Signal<Decisions | null>>();
  private readonly asking = new Map<string, number>();

  constructor(
    private readonly groupId: string,
    private readonly line: Line,
  ) {}

  /** The decisions about a message; fetched once when somebody looks. */
  of(eventId: string): Signal<Decisions | null> {
    let found = this.known.get(eventId);
    if (found === undefined) {
      found = signal<Decisions | null>(null);
      this.known.set(eventId, found);
      if (this.known.size > KEPT) this.known.delete(this.known.keys().next().value!);
    }
    return found;
  }

  /** Somebody looks at it: ask, unless it is known. */
  look(eventId: string): void {
    if (this.offered.peek() && this.of(eventId).peek() === null) this.ask(eventId, 0);
  }

  private ask(eventId: string, delay: number): void {
    if (this.asking.has(eventId)) return;
    this.asking.set(
      eventId,
      window.setTimeout(() => {
        this.asking.delete(eventId);
        void this.fetch(eventId);
      }, delay),
    );
  }

  private async fetch(eventId: string): Promise<void> {
    try {
      this.of(eventId).value = await this.line.call<Decisions>("decisions", { group_id: this.groupId, event_id: eventId });
    } catch (error) {
      if (error instanceof RpcError && error.code === "unknown_op") this.offered.value = false;
    }
  }

  refreshAll(): void {
    this.offered.value = true;
    for (const [id, found] of this.known) if (found.peek() !== null) this.ask(id, 50);
    void this.refreshAgents();
  }

  async refreshAgents(): Promise<void> {
    try {
      const answer = await this.line.call<AgentPresence[] | { agents: AgentPresence[] }>("agents", { group_id: this.groupId });
      this.agents.value = Array.isArray(answer) ? answer : answer.agents;
    } catch {
      // An older hub, or offline: the roster alone is shown.
    }
  }

  preview(data: Record<string, unknown>): Promise<Preview> {
    return this.line.call<Preview>("preview", { group_id: this.groupId, kind: "chat.message", data });
  }

  act(params: Record<string, unknown>): Promise<unknown> {
    return this.line.call("attention", { group_id: this.groupId, ...params });
  }

  take(event: LedgerEvent): void {
    if (!event.kind.startsWith("x.c2a.")) return;
    const data = event.data;
    if (event.kind === "x.c2a.progress") this.moved(data as any, event);
    if (event.kind === "x.c2a.approval") this.asked({ ...(data as any), seq: event.seq, ts: event.ts });
    const about = data.event_id ?? data.target ?? data.token;
    if (typeof about === "string" && this.known.has(about)) this.ask(about, 80);
    if (event.kind !== "x.c2a.audit") this.recountAgents();
  }

  private counting = 0;

  private recountAgents(): void {
    if (this.counting !== 0) return;
    this.counting = window.setTimeout(() => {
      this.counting = 0;
      void this.refreshAgents();
    }, 400);
  }

  private moved(data: Omit<Progress, "at">, event: LedgerEvent): void {
    const next = new Map(this.progress.peek());
    next.set(data.token, { ...data, total: data.total ?? null, message: data.message ?? null, at: Date.parse(event.ts) });
    this.progress.value = next;
  }

  asked(approval: Approval): void {
    const next = new Map(this.approvals.peek());
    const known = next.get(approval.approval_id);
    next.set(approval.approval_id, { ...known, ...approval });
    this.approvals.value = next;
  }
}
