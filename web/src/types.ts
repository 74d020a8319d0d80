/** The shapes that the hub sends. Only what the room reads is named. */

export interface LedgerEvent {
  v: number;
  id: string;
  ts: string;
  seq: number;
  kind: string;
  group_id: string;
  scope_key: string;
  by: string;
  data: Record<string, any>;
  duplicate?: boolean;
}

export interface Reaction {
  actor_id: string;
  emoji: string;
}

export interface Quoted {
  event_id: string;
  seq: number;
  by: string;
  text: string;
}

/** One event with all that hangs on it: what `timeline` answers. */
export interface Row {
  event: LedgerEvent;
  parties?: string[];
  reactions?: Reaction[];
  acknowledged?: string[];
  owing?: string[];
  replies?: number;
  root?: string;
  quoted?: Quoted;
  edit?: { event_id: string; ts: string; text: string };
  deleted?: boolean;
  /** Of a notice: it was taken back, as this one answered after all. */
  withdrawn?: string;
}

export interface Stretch {
  rows: Row[];
  starts: boolean;
  ends: boolean;
  last_seq: number;
  /** Positions whose events are damaged on the hub's disk, and were left out. */
  damaged?: number[];
}

export interface Actor {
  actor_id: string;
  role: string | null;
  title: string | null;
  roles: string[];
  joined_seq: number;
}

export interface Person {
  principal: string;
  title: string | null;
}

export interface Group {
  group_id: string;
  title: string;
  created: string;
  last_seq: number;
  scopes: { scope_key: string; url: string }[];
  actors: Actor[];
  people: Person[];
}

export interface Inbox {
  actor_id: string;
  unread: LedgerEvent[];
  unread_count: number;
  attention: LedgerEvent[];
  attention_count: number;
  notices: LedgerEvent[];
  cursor: number;
}

export interface Conversation {
  parties: string[];
  last_seq: number;
  /** Where its newest messages to the reader stand, the newest first. */
  received: number[];
}

/** How one agent's work on one question stands. */
export interface Work {
  agent: string;
  state: "queued" | "working" | "out_of_touch" | "waiting" | "answered" | "failed" | "handed_over" | "called_off";
  open: boolean;
  sentence: string;
  /** What comes next by itself, or what a person can do. */
  now: string;
  attempt: number;
  since: string;
  updated: string;
  position?: number;
  code?: string;
  message?: string;
  to?: string;
  started?: string;
  ended?: string;
  retry_at?: string;
  tokens?: number;
  cost?: number;
  currency?: string;
}

/** What one agent got for one message, and what became of it. */
export interface AgentDecision {
  agent: string;
  directedness: string;
  policy: string;
  mode: string;
  rule?: string;
  reason?: string;
  priority?: string;
  deadline?: string | number | null;
  sentence?: string;
  state?: string;
  glyph?: string | null;
  row?: string;
  answers?: string[];
  attended?: boolean;
  claimed_until?: string;
  progress?: { value: number; total: number | null; message: string | null };
  work?: Work;
  prompt_bytes?: number;
  /** What the agent did about it: its last turns, summed up by the ledger. */
  turns?: TurnSummary[];
}

export interface TurnSummary {
  turn: string;
  files?: string[];
  file_count?: number;
  added?: number;
  removed?: number;
  commands?: { command: string; ok: boolean }[];
  command_count?: number;
  tests?: { command: string; ok: boolean }[];
  tools?: number;
  duration_ms?: number;
  cost_usd?: number | null;
  ended?: string;
}

export interface Decisions {
  event_id: string;
  seq: number;
  intent?: string;
  sentence?: string;
  decisions: AgentDecision[];
  quiet: number;
  quiet_sentence?: string;
  prompt_bytes?: number;
  saved_bytes?: number;
}

export interface Preview {
  obliges: string[];
  may: string[];
  knocks: string[];
  quiet: number;
  /** Names that the text calls and that nobody here has. */
  unknown?: string[];
  sentence: string;
}

/** An entry of a team's file: what an agent is. */
export interface CrewDocument {
  name: string;
  driver: string;
  group: string;
  options?: string[];
  roles?: string[];
  title?: string;
  instructions?: string;
  budget?: { cost_usd?: number; tokens?: number; turns?: number };
  worktree?: boolean;
}

export interface CrewTree {
  fault: string;
  branch: string;
  base: string;
  project: string;
  path: string;
  ahead: number;
  behind: number;
  files: string[];
  unmerged: boolean;
  words: string;
}

/** An agent that the hub runs, and how it is. */
export interface CrewAgent {
  group_id: string;
  actor_id: string;
  agent: CrewDocument;
  wanted: boolean;
  state: "stopped" | "starting" | "running" | "away" | "fallen" | "failed";
  since: string | null;
  reason: string;
  restarts: number;
  warning: string;
  worktree: CrewTree | null;
}

export interface CrewDriver {
  name: string;
  description: string;
  takes: Record<string, string>;
  program: string;
  key_env: string;
  has_key: boolean;
  installed: boolean;
  install: string;
}

export interface CrewList {
  enabled: boolean;
  agents: CrewAgent[];
  drivers: CrewDriver[];
  home?: string;
}

export interface AgentPresence {
  actor_id: string;
  online: boolean;
  status: string;
  detail: string;
  attended: boolean;
  owes: { event_id: string; since: string; deadline?: string }[];
  claims: string[];
  turns: number;
  tokens_in: number;
  tokens_out: number;
  prompt_bytes: number;
  cost: number;
  currency: string;
  duration_ms: number;
  /** Is any of it reckoned by bytes? */
  estimated?: boolean;
  today: { day: string; turns: number; tokens: number; cost: number; duration_ms: number; estimated?: boolean } | null;
  progress: { value: number; total: number | null; message: string | null } | null;
}
