/**
 * The personal agent as a page shows it: what waits for its owner, and what there is to look at.
 *
 * The agent decides and remembers; this asks it, and asks again when a change names what is shown. A question that was
 * answered elsewhere leaves a line that says where. Knows nothing of how the agent is reached.
 */

import { computed, signal } from "@preact/signals";
import type { AgentLine, Change } from "../net/agent";
import type { AgentOperations, Contact, Disclosure, GuestLine, Hint, Me, Notice, Permissions, Question, SpaceLine, Spaces, ThreadLine, ThreadState } from "../net/agent_operations";
import { reasonOf } from "../net/agent";
import type { LineState } from "../net/socket";
import { drop, dropOthers } from "./drafts";

/** What is asked; nothing where an operation needs nothing. */
export type Given<Name extends keyof AgentOperations> = Record<string, never> extends AgentOperations[Name]["request"] ? [given?: AgentOperations[Name]["request"]] : [given: AgentOperations[Name]["request"]];

/** A question that is open no more, though not by what was said here. */
export interface Closed {
  question: Question;
  via: string | undefined;
  answered: boolean;
}

const SOON = 60;
const MOST_CLOSED = 5;
/** A second click of one that meant the card before. */
const SETTLED = 400;

export class AgentState {
  /** Null until they are known. */
  readonly questions = signal<Question[] | null>(null);
  readonly closed = signal<Closed[]>([]);
  readonly threads = signal<ThreadLine[] | null>(null);
  readonly contacts = signal<Contact[] | null>(null);
  readonly guests = signal<GuestLine[] | null>(null);
  readonly permissions = signal<Permissions | null>(null);
  readonly disclosures = signal<Disclosure[] | null>(null);
  readonly notices = signal<Notice[] | null>(null);
  readonly profile = signal<Record<string, unknown> | null>(null);
  readonly me = signal<Me | null>(null);
  readonly hints = signal<Hint[]>([]);
  /** Null where spaces are not offered: in a room. */
  readonly spaces = signal<SpaceLine[] | null>(null);
  readonly every = signal(false);
  /** Counts up when something of a thread has changed: whoever shows one asks again. */
  readonly stirred = signal<{ thread_id: string; count: number }>({ thread_id: "", count: 0 });
  readonly line = signal<LineState>("connecting");
  /** Whether the agent itself runs, where it is another program than the one that answers here. */
  readonly running = signal(true);
  /** What this agent, or the way to it, does not know. */
  readonly missing = signal<ReadonlySet<string>>(new Set());
  readonly waiting = computed(() => this.questions.value?.length ?? 0);
  /** The cards have just moved: for a moment none of them takes an answer, which may be meant for the one that went. */
  readonly settling = signal(false);
  private settled: ReturnType<typeof setTimeout> | undefined;
  /** Answers on their way, and what was heard meanwhile of where else it was answered. */
  private readonly answering = new Map<string, string | undefined>();
  /** Answered here: what says otherwise is old. */
  private readonly answered = new Set<string>();
  private readonly soon = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    private readonly agent: AgentLine,
    private readonly settles = SETTLED,
  ) {}

  /** One command; what is not offered is remembered, so that nothing is shown for it. */
  async call<Name extends keyof AgentOperations>(command: Name, ...[given]: Given<Name>): Promise<AgentOperations[Name]["result"]> {
    try {
      return (await this.agent.call(command, { ...given })) as AgentOperations[Name]["result"];
    } catch (error) {
      if (["unknown_command", "unknown_op", "agent_off"].includes(reasonOf(error))) this.missing.value = new Set([...this.missing.peek(), command]);
      throw error;
    }
  }

  offers(command: string): boolean {
    return !this.missing.value.has(command);
  }

  private readonly loaders: Record<string, () => Promise<void>> = {
    questions: async () => this.took((await this.call("pending")).questions),
    threads: async () => {
      const { threads } = await this.call("threads", { every: this.every.peek() });
      this.threads.value = threads.toSorted((a, b) => (a.began < b.began ? 1 : -1));
    },
    contacts: async () => {
      this.contacts.value = (await this.call("contacts")).contacts;
    },
    guests: async () => {
      this.guests.value = (await this.call("guests")).guests;
    },
    permissions: async () => {
      this.permissions.value = await this.call("permissions");
    },
    disclosures: async () => {
      this.disclosures.value = (await this.call("disclosures")).disclosures.toReversed();
    },
    notices: async () => {
      this.notices.value = (await this.call("notices")).notices.toReversed();
    },
    profile: async () => {
      this.profile.value = (await this.call("profile")).profile;
    },
    me: async () => {
      this.me.value = await this.call("me");
    },
    spaces: async () => {
      this.spaces.value = ((await this.call("space", { do: "list" })) as Spaces).spaces;
    },
    hints: async () => {
      this.hints.value = (await this.call("hints")).hints ?? [];
    },
  };
  private readonly looked = new Set<string>(["questions"]);

  /** This part is wanted as soon as the line stands. */
  want(part: string): void {
    this.looked.add(part);
  }

  /** Somebody looks at this part: ask now, and again when it changes. */
  look(part: string): Promise<void> {
    this.looked.add(part);
    return this.line.peek() === "online" ? this.load(part) : Promise.resolve();
  }

  private async load(part: string): Promise<void> {
    clearTimeout(this.soon.get(part));
    this.soon.delete(part);
    if (this.missing.peek().has(part === "questions" ? "pending" : part)) return;
    try {
      await this.loaders[part]!();
    } catch {
      // Not offered, or away: a line that comes back asks again.
    }
  }

  private reload(part: string): void {
    if (!this.looked.has(part) || this.soon.has(part)) return;
    this.soon.set(
      part,
      setTimeout(() => void this.load(part), SOON),
    );
  }

  /** How the agent is, in the hub's words. */
  stands(state: string): void {
    this.running.value = state === "running" || state === "elsewhere";
  }

  /** The line stands (again). */
  opened(): void {
    this.missing.value = new Set();
    this.lookAgain();
  }

  private lookAgain(): void {
    for (const part of this.looked) void this.load(part);
  }

  heard(change: Change): void {
    switch (change.change) {
      case "question":
        if (change.open === false) this.heardClosed(change.question_id ?? "", change.via);
        this.reload("questions");
        this.reload("disclosures");
        break;
      case "reminder":
        break;
      case "agent":
        this.stands(change.state ?? "");
        break;
      case "notice":
        this.reload("notices");
        break;
      case "settings":
        for (const part of ["permissions", "profile"]) this.reload(part);
        break;
      case "guest":
        this.reload("guests");
        break;
      case "hint":
        this.reload("hints");
        break;
      case "space":
        this.reload("spaces");
        this.stirred.value = { thread_id: change.space_id ?? "", count: this.stirred.peek().count + 1 };
        break;
      case "thread":
        this.reload("threads");
        this.reload("disclosures");
        this.stirred.value = { thread_id: change.thread_id ?? "", count: this.stirred.peek().count + 1 };
        break;
      default:
        this.lookAgain();
        this.stirred.value = { thread_id: "", count: this.stirred.peek().count + 1 };
    }
    this.reload("hints");
  }

  /** What is open now; what has gone meanwhile leaves its line. */
  private took(found: Question[]): void {
    const open = found.filter((one) => !this.answered.has(one.question_id));
    const now = new Set(open.map((one) => one.question_id));
    const before = this.questions.peek();
    const gone = before?.filter((one) => !now.has(one.question_id)) ?? [];
    // One that is being answered stays until that is known.
    const kept = gone.filter((one) => this.answering.has(one.question_id));
    for (const one of gone) if (!kept.includes(one)) this.shut(one, undefined, false);
    for (const one of kept) open.splice(before!.indexOf(one), 0, one);
    this.questions.value = open;
    if (before?.length === 0 && open.length > 0) this.settle();
    dropOthers(new Set([...now, ...this.answering.keys()]));
  }

  private heardClosed(questionId: string, via: string | undefined): void {
    if (this.answering.has(questionId)) this.answering.set(questionId, via);
    else {
      const question = this.questions.peek()?.find((one) => one.question_id === questionId);
      if (question !== undefined) this.shut(question, via, via !== undefined);
      // The line was there before it was heard where.
      else if (via !== undefined) this.closed.value = this.closed.peek().map((one) => (one.question.question_id === questionId ? { ...one, via, answered: true } : one));
    }
  }

  private shut(question: Question, via: string | undefined, answered: boolean): void {
    this.remove(question.question_id);
    this.closed.value = [...this.closed.peek().filter((one) => one.question.question_id !== question.question_id), { question, via, answered }].slice(-MOST_CLOSED);
  }

  private remove(questionId: string): void {
    this.questions.value = (this.questions.peek() ?? []).filter((one) => one.question_id !== questionId);
    drop(questionId);
    this.settle();
  }

  private settle(): void {
    if (this.settles === 0) return;
    clearTimeout(this.settled);
    this.settling.value = true;
    this.settled = setTimeout(() => (this.settling.value = false), this.settles);
  }

  letGo(questionId: string): void {
    this.closed.value = this.closed.peek().filter((one) => one.question.question_id !== questionId);
  }

  /** Say something to a question; the card goes when the agent has it, and not before. */
  async answer(question: Question, said: Record<string, unknown>): Promise<void> {
    const id = question.question_id;
    this.answering.set(id, undefined);
    try {
      await this.call("answer", { question_id: id, ...said });
      this.answered.add(id);
      this.remove(id);
    } catch (error) {
      // Another place was first.
      if (reasonOf(error) !== "stale_question") throw error;
      this.shut(question, this.answering.get(id), true);
    } finally {
      this.answering.delete(id);
      this.reload("questions");
    }
  }

  async ask(text: string, to: string): Promise<ThreadState> {
    const begun = await this.call("ask", { text, to: to === "" ? [] : [to] });
    void this.load("questions");
    return begun;
  }
}
