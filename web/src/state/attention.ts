/**
 * What became of a message for each agent, as the hub tells it. The hub decides and remembers; the browser asks
 * when a message comes into view and asks again when a record of attention names it.
 */

import { signal, type Signal } from "@preact/signals";
import type { AgentPresence, Decisions, LedgerEvent, Preview } from "../types";
import { RpcError, type Line } from "../net/socket";

/** What waits for a person's yes or no; `says` comes from the ledger's own record of the question. */
export interface Approval {
  approval_id: string;
  session: string;
  says: string;
  /** Since when it waits. It waits until somebody answers. */
  asked_at: string;
  /** Who asked the agent for what needs this, and the words that they used, for whoever may read them. */
  asked_by: string[];
  request: { seq: number; by: string; text: string } | null;
  /** False for those who asked for it themselves. */
  may_allow?: boolean;
  /** "send": it would tell something private. Else what the agent's own program asks: "command", "edit", "other". */
  kind?: string;
  title?: string;
  details?: string;
  directory?: string;
  /** The name of the agent's own working tree, where it has one. */
  worktree?: string;
  /** What "always" would allow, in words; empty where only this once can be allowed. */
  covers?: string;
  event_id?: string | null;
  answered_by?: string;
}

const KEPT = 400;
/** Work that goes on only while its agent is there. */
const IN_HAND = new Set(["queued", "working", "out_of_touch"]);

export class Attention {
  readonly agents = signal<AgentPresence[]>([]);
  readonly approvals = signal<Approval[]>([]);
  /** What agents were allowed for good. */
  readonly permissions = signal<Approval[]>([]);
  /** False when this hub does not decide about attention: then nothing is drawn for it. */
  readonly offered = signal(true);
  /** Told of an agent that was connected and is not any more. */
  onLeft: (agent: string) => void = () => undefined;
  private readonly known = new Map<string, Signal<Decisions | null>>();
  private readonly asking = new Map<string, number>();
  private readonly says = new Map<string, string>();

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
      const answer = await this.line.call<{ agents: AgentPresence[]; approvals: Approval[]; permissions?: Approval[] }>("agents", { group_id: this.groupId });
      this.takeAgents(answer.agents);
      this.permissions.value = answer.permissions ?? [];
      if (answer.approvals.some((one) => (one.kind ?? "send") === "send" && !this.says.has(one.approval_id))) await this.learnQuestions();
      this.approvals.value = answer.approvals.map((one) => ({ ...one, says: this.says.get(one.approval_id) ?? "" }));
    } catch {
      // An older hub, or offline: the roster alone is shown.
    }
  }

  /** Who came or left is otherwise at what it had in hand; nothing in the ledger says so. */
  private takeAgents(agents: AgentPresence[]): void {
    const before = new Map(this.agents.peek().map((one) => [one.actor_id, one.online]));
    this.agents.value = agents;
    for (const { actor_id: agent, online } of agents) {
      if (before.get(agent) === undefined || before.get(agent) === online) continue;
      if (!online) this.onLeft(agent);
      for (const [id, found] of this.known) {
        const holds = found.peek()?.decisions.some((one) => one.agent === agent && one.work !== undefined && IN_HAND.has(one.work.state));
        if (holds) this.ask(id, 0);
      }
    }
  }

  private async learnQuestions(): Promise<void> {
    const page = await this.line.call<{ events: LedgerEvent[] }>("events", { group_id: this.groupId, kinds: ["x.c2a.approval"], limit: 1000 });
    for (const { data } of page.events) if (data.says) this.says.set(data.approval_id, data.says);
  }

  preview(data: Record<string, unknown>): Promise<Preview> {
    return this.line.call<Preview>("preview", { group_id: this.groupId, kind: "chat.message", data });
  }

  act(params: Record<string, unknown>): Promise<unknown> {
    return this.line.call("steer", { group_id: this.groupId, ...params });
  }

  take(event: LedgerEvent): void {
    if (!event.kind.startsWith("x.c2a.")) return;
    const data = event.data;
    if (event.kind === "x.c2a.approval" && data.says) this.says.set(data.approval_id, data.says);
    const target = typeof data.target === "string" ? data.target.replace(/^event:/, "") : undefined;
    for (const about of [data.event_id, data.supersedes, target, ...(data.event_ids ?? [])]) {
      if (typeof about === "string" && this.known.has(about)) this.ask(about, 60);
    }
    if (event.kind === "x.c2a.work" || event.kind === "x.c2a.disposition") this.moveUp(data.session);
    if (event.kind !== "x.c2a.audit") this.recountAgents();
  }

  /** One piece of an agent's work has changed: what it has in its queue may be nearer now. */
  private moveUp(session: string): void {
    for (const [id, found] of this.known) {
      const waits = found.peek()?.decisions.some((one) => one.agent === session && one.work?.state === "queued");
      if (waits) this.ask(id, 300);
    }
  }

  private counting = 0;

  recountAgents(): void {
    if (this.counting !== 0) return;
    this.counting = window.setTimeout(() => {
      this.counting = 0;
      void this.refreshAgents();
    }, 250);
  }
}
