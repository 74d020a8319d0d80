/** The agents of a room at work: how each is, what it owes and costs, its branch; and, for the owner, who runs. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren, VNode } from "preact";
import { BLANK, BY_BYTES, about, costTold, request, type AgentForm } from "../state/crew";
import { call, complain, isOwner, say } from "../state/hub";
import type { Room } from "../state/room";
import { lasting } from "../text/time";
import type { AgentPresence, CrewAgent, CrewDriver, CrewList, CrewTree } from "../types";
import { Avatar, Name, stateOf } from "./avatar";
import { CopyButton } from "./code";
import { Icon } from "./icons";

const EVERY = 4_000;
const WORDS = { online: "online", busy: "busy", away: "away", off: "offline" } as const;
const STATES: Record<CrewAgent["state"], string> = {
  stopped: "stopped",
  starting: "starting",
  running: "running",
  away: "has lost the hub",
  fallen: "fell, starting again",
  failed: "needs you",
};

export function Agents({ room }: { room: Room }): VNode {
  const [crew, setCrew] = useState<CrewList | null>(null);
  const [adding, setAdding] = useState(false);
  const refresh = async () => {
    await room.attention.refreshAgents();
    if (isOwner.value) setCrew(await call<CrewList>("crew_list", {}));
  };
  useEffect(() => {
    void refresh().catch(complain);
    const timer = setInterval(() => void refresh().catch(() => undefined), EVERY);
    return () => clearInterval(timer);
  }, [room]);
  const known = room.attention.agents.value;
  const ours = crew?.agents.filter((one) => one.group_id === room.id) ?? [];
  const names = [...new Set([...ours.map((one) => one.actor_id), ...room.group.value.actors.map((one) => one.actor_id)])];
  return (
    <div class="page agents" tabIndex={-1}>
      <header class="page-head">
        <h2>Agents at work</h2>
        {crew?.enabled && !adding && (
          <button type="button" class="primary small" onClick={() => setAdding(true)}>
            <Icon name="plus" size={15} /> Run an agent here
          </button>
        )}
      </header>
      {adding && crew && <AddForm room={room} drivers={crew.drivers} close={() => setAdding(false)} done={refresh} />}
      {crew !== null && !crew.enabled && (
        <p class="soft">
          This hub runs no agents itself; <code>tacit up --crew</code> lets it. Agents that joined by themselves are listed.
        </p>
      )}
      <Sums known={known} />
      {names.length === 0 && <p class="nothing">No agent is in this room yet.</p>}
      <ul class="cards">
        {names.map((name) => (
          <AgentCard
            key={name}
            room={room}
            name={name}
            known={known.find((one) => one.actor_id === name)}
            crew={ours.find((one) => one.actor_id === name)}
            refresh={refresh}
          />
        ))}
      </ul>
    </div>
  );
}

function Sums({ known }: { known: AgentPresence[] }): VNode | null {
  if (known.length === 0) return null;
  const sum = (of: (one: AgentPresence) => number) => known.reduce((all, one) => all + of(one), 0);
  const isAbout = known.some((one) => one.today?.estimated);
  return (
    <dl class="sums agent-sums">
      <Sum name="queue" value={String(sum((one) => one.owes?.length ?? 0))} />
      <Sum name="turns today" value={sum((one) => one.today?.turns ?? 0).toLocaleString()} />
      <Sum name="tokens today" value={about(isAbout, sum((one) => one.today?.tokens ?? 0).toLocaleString())} />
      <Sum name="time today" value={time(sum((one) => one.today?.duration_ms ?? 0))} />
      <Sum name="cost today" value={costTold(known, (one) => one.today?.cost ?? 0, isAbout)} />
    </dl>
  );
}

const time = (ms: number): string => (ms === 0 ? "-" : lasting(ms));

function Sum({ name, value }: { name: string; value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={value.includes("~") ? BY_BYTES : undefined}>{value}</dd>
    </div>
  );
}

interface CardProps {
  room: Room;
  name: string;
  known: AgentPresence | undefined;
  crew: CrewAgent | undefined;
  refresh: () => Promise<void>;
}

function AgentCard({ room, name, known, crew, refresh }: CardProps): VNode {
  const [busy, setBusy] = useState(false);
  const [open, setOpen] = useState<"log" | "diff" | null>(null);
  const state = stateOf(room, name) ?? "off";
  const key = { group_id: room.id, actor_id: name };
  const act = async (operation: string, done: string, more: Record<string, unknown> = {}) => {
    setBusy(true);
    try {
      const came = await call<{ done?: boolean; message?: string }>(operation, { ...key, ...more });
      say(came.message ?? done, came.done === false ? "bad" : undefined);
      await refresh();
    } catch (error) {
      complain(error);
    } finally {
      setBusy(false);
    }
  };
  const toggle = (what: "log" | "diff") => setOpen(open === what ? null : what);
  const word = crew && (crew.state !== "running" || state === "off") ? STATES[crew.state] : WORDS[state];
  const tone = crew?.state === "failed" || crew?.state === "fallen" ? "bad" : state;
  return (
    <li class="card agent-card" aria-busy={busy}>
      <header>
        <Avatar room={room} principal={name} />
        <div>
          <Name room={room} principal={name} />
          <p class="soft">
            @{name} · <span class={`word ${tone}`}>{word}</span>
            {crew ? ` · ${crew.agent.driver}` : ""}
          </p>
        </div>
      </header>
      {known?.detail && <p class="soft">{known.detail}</p>}
      {crew?.reason && crew.state !== "running" && <p class="fault">{crew.reason}</p>}
      {crew?.warning && <p class="fault">{crew.warning}</p>}
      {known && (
        <dl class="sums">
          <Sum name="queue" value={String(known.owes?.length ?? 0)} />
          <Sum name="tokens" value={about(known.estimated, (known.tokens_in + known.tokens_out).toLocaleString())} />
          <Sum name="time" value={time(known.duration_ms ?? 0)} />
          <Sum name="cost" value={known.currency ? about(known.estimated, `${known.cost.toFixed(2)} ${known.currency}`) : known.turns > 0 ? "not told" : "-"} />
        </dl>
      )}
      {crew?.worktree && <Branch tree={crew.worktree} />}
      {crew && isOwner.value && (
        <>
          <div class="card-actions">
            {crew.wanted && crew.state !== "failed" ? (
              <>
                <Act busy={busy} icon="stop" label="Stop" act={() => act("crew_stop", `${name} is leaving.`)} />
                <Act busy={busy} icon="swap" label="Restart" act={() => act("crew_start", `${name} is starting anew.`)} />
              </>
            ) : (
              <Act busy={busy} icon="send" label="Start" act={() => act("crew_start", `${name} is starting.`)} />
            )}
            <button type="button" class="quiet small" aria-expanded={open === "log"} onClick={() => toggle("log")}>
              <Icon name="ledger" size={14} /> Log
            </button>
            {crew.worktree && !crew.worktree.fault && (
              <button type="button" class="quiet small" aria-expanded={open === "diff"} onClick={() => toggle("diff")}>
                <Icon name="code" size={14} /> Changes
              </button>
            )}
            <Sure busy={busy} icon="trash" label="Remove" ask={`Remove ${name} from the crew`} act={() => act("crew_remove", `${name} is not of the crew any more.`)} />
          </div>
          {open === "log" && <Log name={key} />}
          {open === "diff" && crew.worktree && (
            <Changes key={crew.worktree.words} room={room} name={name} tree={crew.worktree}>
              <Sure busy={busy} icon="check" label={`Merge into ${crew.worktree.base || "…"}`} ask={`Merge ${name}'s work into ${crew.worktree.base}`} act={() => act("crew_worktree", "Merged.", { op: "merge" })} />
              <Act busy={busy} icon="tree" label="Rebase" act={() => act("crew_worktree", "Rebased.", { op: "rebase" })} />
              <Sure
                busy={busy}
                icon="trash"
                label="Discard"
                ask={crew.worktree.unmerged ? `Discard ${crew.worktree.words}` : "Discard the worktree"}
                act={() => act("crew_worktree", "Discarded.", { op: "discard", force: crew.worktree!.unmerged })}
              />
            </Changes>
          )}
        </>
      )}
    </li>
  );
}

function Branch({ tree }: { tree: CrewTree }): VNode {
  if (tree.fault) return <p class="fault">{tree.fault}</p>;
  return (
    <p class="branch-line">
      <Icon name="tree" size={14} /> <code>{tree.branch}</code> <span class={tree.unmerged ? "word busy" : "soft"}>{tree.words}</span>
    </p>
  );
}

type IconOf = Parameters<typeof Icon>[0]["name"];

function Act({ busy, icon, label, act }: { busy: boolean; icon: IconOf; label: string; act: () => void }): VNode {
  return (
    <button type="button" class="quiet small" disabled={busy} onClick={() => void act()}>
      <Icon name={icon} size={14} /> {label}
    </button>
  );
}

/** What cannot be taken back by another click is asked twice. */
function Sure({ busy, icon, label, ask, act }: { busy: boolean; icon: IconOf; label: string; ask: string; act: () => void }): VNode {
  const [sure, setSure] = useState(false);
  if (!sure) return <Act busy={busy} icon={icon} label={label} act={() => setSure(true)} />;
  return (
    <button
      type="button"
      class="bad small"
      disabled={busy}
      ref={(button) => button?.focus()}
      onBlur={() => setSure(false)}
      onClick={() => {
        setSure(false);
        act();
      }}
    >
      {ask}
    </button>
  );
}

function Log({ name }: { name: { group_id: string; actor_id: string } }): VNode {
  const [lines, setLines] = useState<string[] | null>(null);
  const [said, setSaid] = useState<string[]>([]);
  useEffect(() => {
    let current = true;
    const read = () =>
      call<{ lines: string[]; stderr: string[] }>("crew_log", { ...name, limit: 100 })
        .then((found) => {
          if (!current) return;
          setLines(found.lines);
          setSaid(found.stderr);
        })
        .catch(complain);
    void read();
    const timer = setInterval(() => void read(), EVERY);
    return () => {
      current = false;
      clearInterval(timer);
    };
  }, [name.actor_id]);
  if (lines === null) return <p class="soft">…</p>;
  if (lines.length === 0) return <p class="soft">Nothing has happened yet.</p>;
  return (
    <>
      <pre class="object agent-log" tabIndex={0} aria-label="Log">
        {lines.map(readable).join("\n")}
      </pre>
      {said.length > 0 && (
        <details>
          <summary class="soft">What its own program said</summary>
          <pre class="object agent-log" tabIndex={0}>
            {said.join("\n")}
          </pre>
        </details>
      )}
    </>
  );
}

function readable(line: string): string {
  try {
    const { ts, what, ...rest } = JSON.parse(line) as Record<string, unknown>;
    const more = Object.entries(rest).filter(([, value]) => value !== "").map(([name, value]) => `${name}=${String(value)}`);
    return [String(ts).slice(11, 19), what, ...more].join(" ");
  } catch {
    return line;
  }
}

function Changes({ room, name, tree, children }: { room: Room; name: string; tree: CrewTree; children: ComponentChildren }): VNode {
  const [diff, setDiff] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    call<{ diff: string }>("crew_diff", { group_id: room.id, actor_id: name })
      .then((found) => current && setDiff(found.diff))
      .catch(complain);
    return () => {
      current = false;
    };
  }, [name]);
  return (
    <div class="changes">
      <p class="soft">
        In <code>{tree.path}</code>
      </p>
      {diff === null ? <p class="soft">…</p> : diff === "" ? <p class="soft">It has changed nothing.</p> : <Diff text={diff} />}
      <div class="card-actions">
        {children}
        {diff && <CopyButton text={diff} label="Copy the diff" />}
      </div>
    </div>
  );
}

const MOST_LINES = 2_000;

function Diff({ text }: { text: string }): VNode {
  const lines = text.split("\n");
  return (
    <pre class="object diff" tabIndex={0} aria-label="What it changed">
      {lines.slice(0, MOST_LINES).map((line, index) => (
        <span key={index} class={tone(line)}>
          {line}
          {"\n"}
        </span>
      ))}
      {lines.length > MOST_LINES && `… and ${lines.length - MOST_LINES} more lines`}
    </pre>
  );
}

function tone(line: string): string {
  if (line.startsWith("diff ") || line.startsWith("+++") || line.startsWith("---")) return "diff-file";
  if (line.startsWith("@@")) return "diff-place";
  return line.startsWith("+") ? "diff-plus" : line.startsWith("-") ? "diff-minus" : "";
}

function AddForm({ room, drivers, close, done }: { room: Room; drivers: CrewDriver[]; close: () => void; done: () => Promise<void> }): VNode {
  const first = drivers.find((one) => one.installed) ?? drivers[0]!;
  const [form, setForm] = useState<AgentForm>({ ...BLANK, driver: first.name });
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const start = useRef<HTMLInputElement>(null);
  useEffect(() => start.current?.focus(), []);
  const driver = drivers.find((one) => one.name === form.driver) ?? first;
  const takes = (flag: string) => flag in driver.takes;
  const set = (change: Partial<AgentForm>) => setForm({ ...form, ...change });
  const field = (name: keyof AgentForm) => ({
    value: form[name] as string,
    onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => set({ [name]: event.currentTarget.value }),
  });
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setFault("");
    try {
      await call("crew_add", request(room.id, form, driver));
      say(`${form.name} is starting.`);
      await done();
      close();
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="card add-agent" onSubmit={(event) => void add(event)} aria-label="Run an agent here">
      <label>
        Name, as others will write it after @
        <input required maxLength={64} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" placeholder="ada" autocomplete="off" ref={start} {...field("name")} />
      </label>
      <label>
        What runs it
        <select value={form.driver} onChange={(event) => set({ driver: event.currentTarget.value })}>
          {drivers.map((one) => (
            <option key={one.name} value={one.name} disabled={!one.installed}>
              {one.name}: {one.description}
              {one.installed ? "" : " (not installed)"}
            </option>
          ))}
        </select>
      </label>
      {takes("--model") && (
        <label>
          <span>
            Model <span class="soft">optional</span>
          </span>
          <input autocomplete="off" {...field("model")} />
        </label>
      )}
      {takes("--cwd") && (
        <label>
          <span>
            Folder on the hub's machine <span class="soft">{form.worktree ? "a git repository" : "optional"}</span>
          </span>
          <input placeholder="~/project" autocomplete="off" required={form.worktree} {...field("folder")} />
        </label>
      )}
      {takes("--access") && (
        <label>
          What it may do there
          <select value={form.access} onChange={(event) => set({ access: event.currentTarget.value })}>
            <option value="read">read: look, and change nothing</option>
            <option value="write">write: change the files of its folder</option>
            <option value="full">full: whatever your account may do</option>
          </select>
        </label>
      )}
      {driver.program && (
        <label>
          <span>
            {driver.key_env ? "Further words for the driver" : "Program and its arguments"} <span class="soft">{driver.key_env ? "optional" : ""}</span>
          </span>
          <input placeholder={driver.name === "command" ? "--text ./answer.sh" : ""} required={!driver.key_env} autocomplete="off" {...field("more")} />
        </label>
      )}
      <label>
        <span>
          Roles it can be called by <span class="soft">optional</span>
        </span>
        <input placeholder="backend, review" autocomplete="off" {...field("roles")} />
      </label>
      <label>
        <span>
          Dollars a day <span class="soft">optional</span>
        </span>
        <input type="number" min="0" step="0.01" inputMode="decimal" {...field("dollars")} />
      </label>
      <label class="wide">
        <span>
          Standing instructions <span class="soft">optional</span>
        </span>
        <textarea rows={2} maxLength={20000} {...field("instructions")} />
      </label>
      {takes("--cwd") && (
        <label class="check wide">
          <input type="checkbox" checked={form.worktree} onChange={(event) => set({ worktree: event.currentTarget.checked })} /> A git worktree and branch of its own
        </label>
      )}
      {takes("--use-my-config") && (
        <label class="check wide">
          <input type="checkbox" checked={form.mine} onChange={(event) => set({ mine: event.currentTarget.checked })} /> As mine: my account and settings{" "}
          {!form.mine && driver.key_env && <span class="soft">{driver.has_key ? `its key is in ${driver.key_env}` : `it needs a key in ${driver.key_env}`}</span>}
        </label>
      )}
      {fault && (
        <p class="fault wide" role="alert">
          {fault}
        </p>
      )}
      <div class="card-actions wide">
        <button type="submit" class="primary small" disabled={busy}>
          Start
        </button>
        <button type="button" class="quiet small" onClick={close}>
          Not now
        </button>
      </div>
    </form>
  );
}
