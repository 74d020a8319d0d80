/** What an agent does about a message: a card under it, shut to one line, open to commands, diffs and words. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import type { Card, Item } from "../state/activity";
import { complain } from "../state/hub";
import type { Room } from "../state/room";
import { lasting } from "../text/time";
import type { AgentDecision, Row, TurnSummary } from "../types";
import { Diff, isDiff } from "./diff";

const WHAT: Record<Item["kind"], string> = { command: "ran", edit: "edited", tool: "used", plan: "plan", text: "said", thought: "thought" };
const HOW: Record<Item["state"], string> = { running: "running", done: "", failed: "failed", refused: "not allowed" };

export function ActivityCards({ row, room, decisions }: { row: Row; room: Room; decisions: AgentDecision[] }): VNode | null {
  const eventId = row.edit?.event_id ?? row.event.id;
  const cards = room.activities.of(eventId).value;
  const running = cards.filter((card) => card.state === "running");
  const past = decisions.filter((one) => (one.turns?.length ?? 0) > 0 && !running.some((card) => card.session === one.agent));
  const working = decisions.some((one) => one.state === "working" || one.state === "claimed" || one.state === "delivered");
  // Somebody who comes late to a turn that runs gets it as it stands.
  const busy = working && room.attention.agents.value.some((one) => one.status === "busy");
  useEffect(() => {
    if (busy && running.length === 0) void room.activities.fetch(eventId).catch(() => undefined);
  }, [eventId, busy]);
  if (running.length === 0 && past.length === 0) return null;
  return (
    <>
      {running.map((card) => (
        <Running key={card.turn} room={room} card={card} />
      ))}
      {past.map((one) => (
        <Past key={one.agent} room={room} eventId={eventId} agent={one.agent} turns={one.turns!} cards={cards.filter((card) => card.session === one.agent)} />
      ))}
    </>
  );
}

function Running({ room, card }: { room: Room; card: Card }): VNode {
  const now = [...card.items].reverse().find((item) => item.state === "running") ?? card.items.at(-1);
  return (
    <details class="activity running">
      <summary>
        <span class="pulse" aria-hidden="true" />
        <b>{room.nameOf(card.session)}</b>
        <span class="now">{now === undefined ? "is thinking" : <Now item={now} />}</span>
      </summary>
      <Items items={card.items} live />
    </details>
  );
}

function Now({ item }: { item: Item }): VNode {
  if (item.kind === "text" || item.kind === "thought") return <>{(item.text ?? "").slice(-160).split("\n").at(-1)}</>;
  if (item.kind === "plan") return <>{(item.text ?? "").split("\n").find((line) => line.startsWith("[>]"))?.slice(4) ?? "planning"}</>;
  return (
    <>
      {item.kind === "command" ? "runs " : item.kind === "edit" ? "edits " : "uses "}
      <code>{(item.title ?? "").split("\n")[0]}</code>
    </>
  );
}

function Past({ room, eventId, agent, turns, cards }: { room: Room; eventId: string; agent: string; turns: TurnSummary[]; cards: Card[] }): VNode {
  const [asked, setAsked] = useState<"no" | "asking" | "done">("no");
  const [away, setAway] = useState(false);
  const open = async (shown: boolean) => {
    if (!shown || asked !== "no") return;
    setAsked("asking");
    try {
      setAway((await room.activities.fetch(eventId)).includes(agent));
    } catch (error) {
      complain(error);
    }
    setAsked("done");
  };
  const items = cards.flatMap((card) => card.items);
  return (
    <details class="activity" onToggle={(event) => void open((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>
        <b>{room.nameOf(agent)}</b>
        <span class="now">{summed(turns)}</span>
      </summary>
      {items.length > 0 && <Items items={items} />}
      <p class="about">
        {asked === "asking"
          ? "Asking the agent for its record."
          : items.length === 0 && asked === "done"
            ? away
              ? "The record is on the agent's own machine, which is not connected."
              : "The agent has no record of it any more."
            : listed(turns)}
      </p>
    </details>
  );
}

/** Several turns about one message in one line. */
export function summed(turns: TurnSummary[]): string {
  const sum = (of: (one: TurnSummary) => number | null | undefined) => turns.reduce((all, one) => all + (of(one) ?? 0), 0);
  const files = sum((one) => one.file_count);
  const commands = sum((one) => one.command_count);
  const tools = sum((one) => one.tools);
  const added = sum((one) => one.added);
  const removed = sum((one) => one.removed);
  const cost = sum((one) => one.cost_usd);
  const tests = turns.flatMap((one) => one.tests ?? []).at(-1);
  const counted = (count: number, word: string) => (count > 0 ? [`${count} ${word}${count === 1 ? "" : "s"}`] : []);
  const ended = turns.at(-1)?.ended;
  return [
    `worked ${lasting(sum((one) => one.duration_ms))}`,
    ...counted(files, "file"),
    ...(added + removed > 0 ? [`+${added} -${removed}`] : []),
    ...counted(commands, "command"),
    ...(commands + files === 0 ? counted(tools, "tool call") : []),
    ...(tests ? [tests.ok ? "tests pass" : "tests fail"] : []),
    ...(cost > 0 ? [cost < 0.005 ? "under $0.01" : `$${cost.toFixed(2)}`] : []),
    ...(ended && ended !== "done" ? [ended.replaceAll("_", " ")] : []),
  ].join(" · ");
}

function listed(turns: TurnSummary[]): string {
  const files = [...new Set(turns.flatMap((one) => one.files ?? []))];
  return files.length === 0 ? "" : `Files: ${files.slice(0, 12).join(", ")}${files.length > 12 ? ` and ${files.length - 12} more` : ""}`;
}

function Items({ items, live }: { items: Item[]; live?: boolean }): VNode {
  const here = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (live && atEnd.current && here.current) here.current.scrollTop = here.current.scrollHeight;
  }, [items, live]);
  return (
    <div
      class="items"
      ref={here}
      tabIndex={0}
      role="group"
      aria-label="What it does"
      onScroll={(event) => {
        const box = event.currentTarget as HTMLElement;
        atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
      }}
    >
      {items.map((item) => (
        <One key={item.id} item={item} />
      ))}
    </div>
  );
}

function One({ item }: { item: Item }): VNode {
  const how = item.state === "done" && item.exitCode ? `exit ${item.exitCode}` : HOW[item.state];
  const bad = item.state === "done" && item.exitCode ? "failed" : item.state;
  const wordy = item.kind === "text" || item.kind === "thought" || item.kind === "plan";
  return (
    <section class={`item ${item.kind} ${bad}`}>
      {(!wordy || item.kind === "plan") && (
        <header>
          <span class="what">{WHAT[item.kind]}</span>
          <code class="title">{item.title}</code>
          {how && <span class="how">{how}</span>}
        </header>
      )}
      {item.text && (wordy ? <p class="said">{item.text}</p> : isDiff(item.text) ? <Diff text={item.text} label="The change" /> : <pre class="output" tabIndex={0}>{item.text}</pre>)}
      {item.cut && <span class="how">cut</span>}
    </section>
  );
}
