// Made by tools/docs.py from packages/core/src/tacit/base/agent_operations.py; edit the declarations there instead.

/** Nothing is asked. */
export interface AgentNothing {}

/** A field that a question asks for, with the values that are known. */
export interface ConsentField {
  field: string;
  reason: string;
  priority: string;
  values: unknown[];
  ticked?: boolean;
  own?: boolean;
}

/** What could be confirmed in place of a proposal. */
export interface Alternative {
  summary?: unknown;
  reason?: unknown;
  details?: Record<string, unknown>;
  not_as_asked?: string[];
}

/** What is done once everybody has confirmed. */
export interface ProposedAction {
  action: string;
  executor: string;
  reversible: boolean;
  tick: string | null;
}

/** What a checkpoint asks the owner to confirm. */
export interface Proposal {
  summary?: unknown;
  details?: Record<string, unknown>;
  alternatives: Alternative[];
  reasoning?: unknown;
  actions: ProposedAction[];
  by: string;
  not_as_asked?: string[];
}

/** The group that a thread belongs to, our part in it, and the others who still take part. */
export interface InGroup {
  thread_id: string;
  part: "hub" | "leg" | "member";
  others: string[];
}

/** A question that waits for the owner. */
export interface Question {
  question_id: string;
  kind: string;
  thread_id: string;
  counterpart: string;
  asked_at: string;
  fields: ConsentField[];
  proposal: Proposal | null;
  choices: string[];
  new_contact?: boolean;
  new_contact_text?: string;
  group?: InGroup;
  about?: Record<string, unknown>;
}

/** The open questions, oldest first. */
export interface Questions {
  questions: Question[];
}

/** Answer a question, in the words of the agent's `Answer`; where it was answered, the hub says. */
export interface AgentAnswer {
  question_id: string;
  share?: Record<string, unknown>;
  decline?: string[];
  decline_all?: boolean;
  confirm?: boolean;
  alternative?: number | null;
  ticks?: string[];
  counter?: string[] | null;
  refuse?: boolean;
  excuse?: string;
  choose?: number | null;
  dismiss?: boolean;
}

/** Where an answer leaves its thread, or its shared space. */
export interface Answered {
  thread_id?: string;
  state?: string | null;
  space_id?: string;
  status?: string;
}

/** The open threads, or every one. */
export interface AgentThreads {
  every?: boolean;
}

/** A thread in one line. */
export interface ThreadLine {
  thread_id: string;
  with: string;
  state: string;
  flags: string[];
  summary: string;
  began: string;
  group?: InGroup;
}

/** Threads, oldest first. */
export interface Threads {
  threads: ThreadLine[];
}

/** Name a thread of the agent's. */
export interface AgentThread {
  thread_id: string;
}

/** A packet of a thread, without its contents. */
export interface PacketLine {
  packet_id: string;
  side: string;
  type: string;
  at: string;
}

/** What the agent did or was told: a packet considered, a way to another state, or a notice. */
export interface ThreadStep {
  at: string;
  packet?: string;
  steps?: [string, string][];
  from?: string;
  to?: string;
  cause?: string;
  refused?: string;
  in?: string;
  notice?: string;
  text?: string;
}

/** An action of the proposal that stands, and how far it is. */
export interface ActionLine {
  action_id: string;
  action: string;
  executor: string;
  status: string;
  reversible: boolean;
}

/** What models took for a thread. */
export interface Cost {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  usd: number;
}

/** Everything about one thread. */
export interface WholeThread {
  thread_id: string;
  with: string;
  state: string;
  closed_reason: string | null;
  flags: string[];
  intent: Record<string, unknown>;
  participants: string[];
  turns: number;
  shared: string[];
  received: Record<string, unknown>;
  proposal: unknown;
  requested: Record<string, string>;
  outstanding: string[];
  history: PacketLine[];
  steps: ThreadStep[];
  actions: ActionLine[];
  parent: string | null;
  siblings: string[];
  cost: Cost;
  group?: InGroup;
}

/** What excluded each option of the last proposal: the option, and why. */
export interface Excluded {
  thread_id: string;
  excluded: [unknown, string][];
}

/** Somebody in a group; what they said to the proposal is known to the coordinator alone. */
export interface Participant {
  agent: string;
  status: string;
  thread_id?: string;
  confirmed?: boolean;
  declined?: boolean;
  state?: string;
}

/** How a group is confirmed. */
export interface Confirmation {
  mode: string;
  quorum: number | null;
  order: string[] | null;
}

/** A time, how many it suits, and whom it does not. */
export interface Window {
  window: string;
  available_count: number;
  missing: string[];
}

/** Who would have to have more of what, so that one more could come. */
export interface Binding {
  agent: string;
  field: string;
}

/** A group: who coordinates and takes part, and at the coordinator what the answers come to. */
export interface WholeGroup {
  thread_id: string;
  state: string | null;
  coordinator: string;
  coordinates: boolean;
  participants: Participant[];
  digest: string;
  unsigned: string[] | null;
  confirmation: Confirmation;
  windows: Window[];
  trade_off: string | null;
  binding: Binding | null;
  asked_to_bend: string[];
  offered_to: string | null;
  may_coordinate: string[];
  follows: string | null;
}

/** Who is to coordinate a group. */
export interface AgentTransfer {
  thread_id: string;
  to: string;
  reason?: string;
}

/** A wish, and with whom; without an address it is the contact that the text names. */
export interface AgentAsk {
  text: string;
  to?: string[];
  urgent?: boolean;
}

/** Where a thread stands now; the contact's first packets may have begun none. */
export interface ThreadState {
  thread_id: string;
  state: string | null;
  notices?: string[];
}

/** Another wish for a thread. */
export interface AgentChange {
  thread_id: string;
  text: string;
  scope_change?: "narrowed" | "expanded" | "changed";
}

/** A contact, and how its key stands; its safety numbers only where one is looked at. */
export interface Contact {
  address: string;
  label: string;
  welcome: boolean;
  blocked: boolean;
  flagged: boolean;
  key: string;
  safety_number?: string | null;
  offered_safety_number?: string;
}

/** All contacts, by address. */
export interface Contacts {
  contacts: Contact[];
}

/** Look at a contact, or judge it. */
export interface AgentContact {
  who: string;
  decision?: "show" | "add" | "accept" | "reject" | "verified" | "block" | "unblock" | "remove";
}

/** A contact that is none any more. */
export interface RemovedContact {
  address: string;
  removed: true;
}

/** A contact's card, as it was pasted. */
export interface AgentAdd {
  uri: string;
}

/** A contact that was just added, and what to compare with them. */
export interface AddedContact {
  address: string;
  fingerprint: string;
  safety_number: string | null;
  welcome: boolean;
}

/** Whom to look for; names of this machine's own network are never asked from here. */
export interface AgentFind {
  account: string;
}

/** An agent that an address book or a domain names. */
export interface FoundContact {
  name: string;
  address: string;
  fingerprint: string | null;
  uri: string;
  known: boolean;
}

/** Agents that were found; none was added. */
export interface FoundContacts {
  found: FoundContact[];
}

/** Nothing shows them; a field with a level changes one, for everybody or for one counterpart. */
export interface AgentPermissions {
  field?: string;
  level?: string;
  counterpart?: string;
  confirmed?: boolean;
}

/** What holds for one contact alone. */
export interface PermissionsFor {
  label: string;
  promote_to_always_share: string[];
  restrict_to_never_share: string[];
  notes: string;
}

/** What may be shared, by tier and by contact. */
export interface Permissions {
  always_share: string[];
  ask_first: string[];
  never_share: string[];
  onward_fields: string[];
  overrides: Record<string, PermissionsFor>;
}

/** All, or those to one contact. */
export interface AgentDisclosures {
  peer?: string;
}

/** Who got what, when, and what allowed it. */
export interface Disclosure {
  to: string;
  thread_id: string;
  packet_id: string;
  field: string;
  value: unknown;
  basis: string | null;
  question_id: string | null;
  via: string | null;
  at: string;
}

/** Disclosures, oldest first. */
export interface Disclosures {
  disclosures: Disclosure[];
}

/** Of everybody, or of one contact. */
export interface AgentMemory {
  who?: string;
}

/** What the last threads with a contact have in common. */
export interface Patterns {
  usually_shares: string[];
  usually_declines: string[];
  usually_requests: string[];
  average_response_time: string | null;
  typical_flexibility: Record<string, string>;
  preferred_resolution_style: string | null;
}

/** A remembered value, its date and how sure it is. */
export interface CachedValue {
  value: unknown;
  last_updated: string;
  confidence: string;
  source: string;
  thread_id: string | null;
}

/** A remembered value that became another. */
export interface MemoryChange {
  field: string;
  old: unknown;
  new: unknown;
  date: string;
  source: string;
}

/** All that is remembered of a contact. */
export interface Memory {
  agent: string;
  user_label: string;
  interaction_count: number;
  first_interaction: string | null;
  last_interaction: string | null;
  typical_intents: string[];
  learned_patterns: Patterns;
  context_cache: Record<string, CachedValue>;
  changes: MemoryChange[];
  trust_level: string;
  trust_signals: string[];
}

/** What is remembered, contact by contact. */
export interface Memories {
  memory: Memory[];
}

/** What is right of a contact. */
export interface AgentMemoryEdit {
  who: string;
  key: string;
  value: unknown;
}

/** One key, or all that is remembered of a contact. */
export interface AgentMemoryForget {
  who: string;
  key?: string;
}

/** What was forgotten of a contact, and which open threads still have it. */
export interface ForgottenValue {
  agent: string;
  forgotten: string;
  remains_in: string[];
}

/** Who it is about. */
export interface AgentKnown {
  who: string;
}

/** What a contact knows in one field. */
export interface Told {
  field: string;
  first: string;
  times: number;
  value: unknown;
  last: string;
  basis: string | null;
  via: string | null;
  thread_id: string;
}

/** What can still be called off. */
export interface Undoable {
  what: string;
  field?: string;
  for?: string;
  thread_id?: string;
}

/** What a contact knows of the owner, and what of that can be called off. */
export interface Known {
  agent: string;
  told: Told[];
  can_be_undone: Undoable[];
}

/** What the owner was told. */
export interface Notice {
  thread_id: string;
  code: string;
  text: string;
  about: string | null;
  at: string;
}

/** Notices, oldest first. */
export interface Notices {
  notices: Notice[];
}

/** Nothing shows what is due; a name says that this one was seen. */
export interface AgentHints {
  seen?: string;
}

/** A hint whose moment has come. */
export interface Hint {
  hint: string;
  text: string;
  thread_id: string;
}

/** The hints that are due; or the one of which it was said that it was seen. */
export interface Hints {
  hints?: Hint[];
  hint?: string;
}

/** Nothing shows it; null takes a key away. */
export interface AgentProfile {
  changes?: Record<string, unknown>;
}

/** What the agent knows of its owner. */
export interface Profile {
  profile: Record<string, unknown>;
}

/** Nothing shows it; with `save` what was said is kept. */
export interface AgentSetup {
  save?: boolean;
  profile?: Record<string, unknown>;
  switches?: Record<string, string>;
  confirmed?: boolean;
}

/** Something that the first minute asks for. */
export interface SetupPrompt {
  key: string;
  text: string;
  example: string;
  value: unknown;
}

/** A switch of the first minute: what may be shared, over these fields. */
export interface SetupSwitch {
  switch: string;
  text: string;
  fields: string[];
  level: string;
}

/** The first minute, with what would be kept as it stands. */
export interface Setup {
  done: boolean;
  prompts: SetupPrompt[];
  switches: SetupSwitch[];
  levels: string[];
}

/** Nothing shows them. */
export interface AgentChoose {
  name?: string;
  value?: string;
}

/** How much the agent may do unasked. */
export interface Choices {
  implicit_consent: string;
  autonomy: string;
}

/** A calendar, and whether it can be read now. */
export interface CalendarState {
  name: string;
  kind: string;
  write: boolean;
  readable: boolean;
  notices: string[];
}

/** The owner's calendars. */
export interface Calendars {
  calendars: CalendarState[];
}

/** The agent's own card, and its relay. */
export interface Me {
  address: string;
  fingerprint: string;
  uri: string;
  svg: string;
  relay: string;
}

/** Which hint was seen. */
export interface AgentSeen {
  hint: string;
}

/** The hint that was seen. */
export interface SeenHint {
  hint: string;
}

/** Whether to say also what the owner was not told yet. */
export interface AgentTick {
  news?: boolean;
}

/** A notice that was not handed out before. */
export interface News {
  thread_id: string;
  code: string;
  text: string;
}

/** How much is open after everything that was due has happened. */
export interface Ticked {
  open: number;
  pending: number;
  news?: News[];
}

/** Begin a space, and with whom. */
export interface NewSpace {
  do: "new";
  title: string;
  invite?: string[];
}

/** Show all. */
export interface ListSpaces {
  do: "list";
}

/** Show one; with `look` what is new is asked for first. */
export interface ShowSpace {
  do: "show";
  space_id: string;
  look?: boolean;
}

/** Write a field. */
export interface SetInSpace {
  do: "set";
  space_id: string;
  field: string;
  value: unknown;
}

/** Take a field away. */
export interface UnsetInSpace {
  do: "unset";
  space_id: string;
  field: string;
}

/** Put a link into a field. */
export interface LinkInSpace {
  do: "link";
  space_id: string;
  field: string;
  url: string;
  name?: string;
}

/** Let somebody in. */
export interface InviteToSpace {
  do: "invite";
  space_id: string;
  who: string;
  level?: string;
}

/** How much somebody may do there. */
export interface LevelInSpace {
  do: "level";
  space_id: string;
  who: string;
  level: string;
}

/** Of what the owner is told there. */
export interface NotifyOfSpace {
  do: "notify";
  space_id: string;
  what: string;
}

/** Leave a space. */
export interface LeaveSpace {
  do: "leave";
  space_id: string;
}

/** A field of a space: who wrote it, when, and whether it has not been sent yet. */
export interface SpaceField {
  field: string;
  value: unknown;
  by: string;
  at: string;
  v: number;
  link: string | null;
  pending: boolean;
}

/** A member of a space, and what it may write there. */
export interface SpaceMember {
  agent: string;
  level: string;
  status: string;
  silent: boolean;
}

/** The version of a field, taken away ones included. */
export interface FieldVersion {
  v: number;
  at: string;
  by: string;
}

/** A change in a space, what it replaced, and whether the owner has seen it. */
export interface SpaceChange {
  n: number;
  field: string;
  by: string;
  at: string;
  deleted: boolean;
  value: unknown;
  before: unknown;
  lost: boolean;
  new: boolean;
}

/** One shared space with its fields, and what changed since the owner last looked. */
export interface WholeSpace {
  space_id: string;
  title: string;
  status: string;
  participants: string[];
  level: string;
  fields: SpaceField[];
  new: number;
  creator: string;
  created: string;
  members: SpaceMember[];
  context: Record<string, unknown>;
  field_versions: Record<string, FieldVersion>;
  version: number;
  last_modified_by: string | null;
  conflict_resolution: string;
  notify: string;
  changes: SpaceChange[];
}

/** A shared space in one line; `new` counts what the owner has not seen. */
export interface SpaceLine {
  space_id: string;
  title: string;
  status: string;
  participants: string[];
  level: string;
  fields: number;
  new: number;
}

/** Every shared space. */
export interface Spaces {
  spaces: SpaceLine[];
}

/** What became of a change in a space: written, or first a question to the owner; or that it was left. */
export interface SpaceOutcome {
  space_id: string;
  status: string;
  question_id?: string;
}

/** Of what the owner is told in a space. */
export interface SpaceNotify {
  space_id: string;
  notify: string;
}

/** An answer that came by a guest's link or was pasted. */
export interface GuestAnswer {
  at: string;
  source: string;
  readable: boolean;
  counts: boolean;
  choice: string | null;
  answers: string[];
  suggestion: string | null;
  packets: Record<string, unknown>[];
}

/** Somebody without an agent who was asked by a link. */
export interface GuestLine {
  guest_id: string;
  thread_id: string;
  name: string | null;
  state: string;
  asked_at: string;
  until: string;
  summary: string | null;
  answers: GuestAnswer[];
  counts: string | null;
  mailed: number;
}

/** Everybody who was asked by a link, the last first. */
export interface Guests {
  guests: GuestLine[];
}

/** Name a guest. */
export interface AgentGuest {
  guest_id: string;
}

/** The same with the link, the words to send it with, and the question as the guest sees it. */
export interface Guest {
  guest_id: string;
  thread_id: string;
  name: string | null;
  state: string;
  asked_at: string;
  until: string;
  summary: string | null;
  answers: GuestAnswer[];
  counts: string | null;
  mailed: number;
  link: string | null;
  text: string | null;
  question: Record<string, unknown> | null;
}

/** Whom to ask by a link, and what. */
export interface AgentGuestAsk {
  name: string;
  text: string;
  questions?: string[];
  share?: string[];
  signed?: string;
  days?: number;
  group?: string;
}

/** A reply that came another way, and what the owner corrects in how it was read. */
export interface AgentGuestPaste {
  guest_id: string;
  text: string;
  keep?: boolean;
  choice?: unknown;
  answers?: unknown;
  suggestion?: unknown;
}

/** A reply that came another way, as it is read, and whether it was kept. */
export interface ReadReply {
  guest_id: string;
  source: string;
  choice: string;
  answers: string[];
  suggestion: string;
  text: string;
  kept: boolean;
}

/** What to send a guest who said yes. */
export interface GuestResult {
  text: string;
  ics: string | null;
}

/** What each operation is asked with and answered with, by its name. */
export interface AgentOperations {
  /** The questions that wait for the owner. */
  pending: { request: AgentNothing; result: Questions };
  /** Answer a question of the agent's; the first counts. */
  answer: { request: AgentAnswer; result: Answered };
  /** What is being arranged, and with whom. */
  threads: { request: AgentThreads; result: Threads };
  /** Everything about one thread. */
  thread: { request: AgentThread; result: WholeThread };
  /** What excluded each option of the last proposal. */
  why: { request: AgentThread; result: Excluded };
  /** A group: who takes part, and which times suit whom. */
  group: { request: AgentThread; result: WholeGroup };
  /** Offer the coordinator's role in a group. */
  transfer: { request: AgentTransfer; result: WholeGroup };
  /** Have something arranged. */
  ask: { request: AgentAsk; result: ThreadState };
  /** Want no more of a thread. */
  stop: { request: AgentThread; result: ThreadState };
  /** Go on with a thread that stood still. */
  resume: { request: AgentThread; result: ThreadState };
  /** Make something else of an open thread. */
  change: { request: AgentChange; result: ThreadState };
  /** The agent's contacts, and how their keys stand. */
  contacts: { request: AgentNothing; result: Contacts };
  /** One contact, after the owner's word on it. */
  contact: { request: AgentContact; result: Contact | RemovedContact };
  /** Add the contact of a card that was pasted. */
  add: { request: AgentAdd; result: AddedContact };
  /** Which agent an e-mail address or a handle names. */
  find: { request: AgentFind; result: FoundContacts };
  /** Show or change what may be shared. */
  permissions: { request: AgentPermissions; result: Permissions };
  /** Who got what, when, and what allowed it. */
  disclosures: { request: AgentDisclosures; result: Disclosures };
  /** What is remembered of a contact, or of each. */
  memory: { request: AgentMemory; result: Memories };
  /** Correct a value that is remembered. */
  memory_edit: { request: AgentMemoryEdit; result: Memory };
  /** Have a value forgotten, or all of a contact. */
  memory_forget: { request: AgentMemoryForget; result: ForgottenValue };
  /** What a contact knows of the owner, and what can be called off. */
  known: { request: AgentKnown; result: Known };
  /** What the owner was told, oldest first. */
  notices: { request: AgentNothing; result: Notices };
  /** The hints whose moment has come, or that one was seen. */
  hints: { request: AgentHints; result: Hints };
  /** Show or change what the agent knows of the owner. */
  profile: { request: AgentProfile; result: Profile };
  /** The first minute: show it, or keep what was said in it. */
  setup: { request: AgentSetup; result: Setup };
  /** Show or set how much the agent may do unasked. */
  choose: { request: AgentChoose; result: Choices };
  /** The owner's calendars, and whether each can be read. */
  calendars: { request: AgentNothing; result: Calendars };
  /** The agent's own address and fingerprint. */
  me: { request: AgentNothing; result: Me };
  /** That a hint was seen. */
  seen: { request: AgentSeen; result: SeenHint };
  /** Let everything that is due happen once. */
  tick: { request: AgentTick; result: Ticked };
  /** One thing with shared spaces. */
  space: { request: NewSpace | ListSpaces | ShowSpace | SetInSpace | UnsetInSpace | LinkInSpace | InviteToSpace | LevelInSpace | NotifyOfSpace | LeaveSpace; result: WholeSpace | Spaces | SpaceOutcome | SpaceNotify };
  /** Everybody who was asked by a link. */
  guests: { request: AgentNothing; result: Guests };
  /** One guest, with every answer. */
  guest: { request: AgentGuest; result: Guest };
  /** Ask somebody who has no agent, by a link. */
  guest_ask: { request: AgentGuestAsk; result: Guest };
  /** Read a reply that came another way. */
  guest_paste: { request: AgentGuestPaste; result: ReadReply };
  /** The words with the result for a guest. */
  guest_result: { request: AgentGuest; result: GuestResult };
  /** Take a guest's link back. */
  guest_revoke: { request: AgentGuest; result: Guest };
}
