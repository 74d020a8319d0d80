/** What a room did over time: messages, turns, turns avoided, reply times, open obligations, costs. */

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren, VNode } from "preact";
import { BY_BYTES, about, costTold } from "../state/crew";
import { figuresOf, type Figures } from "../state/figures";
import { call, complain } from "../state/hub";
import type { Room } from "../state/room";
import { lasting } from "../text/time";
import type { LedgerEvent } from "../types";
import { Granted } from "./approvals";
import { Bars, Lines } from "./plot";

const HOUR = 3_600_000;
const RANGES: [string, number, number][] = [
  ["Last hour", HOUR, 12],
  ["Last day", 24 * HOUR, 24],
  ["Last week", 7 * 24 * HOUR, 14],
  ["Last month", 30 * 24 * HOUR, 30],
];
const MOST = 30_000;

export function Dashboard({ room }: { room: Room }): VNode {
  const [range, setRange] = useState(1);
  const [figures, setFigures] = useState<Figures | null>(null);
  const [cut, setCut] = useState(false);
  const [, width, count] = RANGES[range]!;
  useEffect(() => {
    let current = true;
    const work = async () => {
      const to = Date.now();
      const from = to - width;
      const events: LedgerEvent[] = [];
      let cursor: Record<string, unknown> = { since_ts: new Date(from).toISOString() };
      for (;;) {
        const page = await call<{ events: LedgerEvent[]; next_cursor: number }>("events", {
          group_id: room.id,
          kinds: ["chat.message", "x.c2a.delivery", "x.c2a.disposition"],
          limit: 1000,
          ...cursor,
        });
        events.push(...page.events);
        if (page.events.length < 1000 || events.length >= MOST) break;
        cursor = { since_seq: page.next_cursor };
      }
      if (!current) return;
      setCut(events.length >= MOST);
      setFigures(figuresOf(events, room.group.peek().actors.length, from, to, count));
    };
    work().catch(complain);
    void room.attention.refreshAgents();
    const timer = setInterval(() => void work().catch(() => undefined), 20_000);
    return () => {
      current = false;
      clearInterval(timer);
    };
  }, [range, room]);
  const known = room.attention.agents.value;
  const tokens = known.reduce((sum, one) => sum + one.tokens_in + one.tokens_out, 0);
  const isAbout = known.some((one) => one.estimated);
  const spent = known.reduce((sum, one) => sum + (one.duration_ms ?? 0), 0);
  return (
    <div class="page dashboard" tabIndex={-1}>
      <header class="page-head">
        <h2>Dashboard</h2>
        <div class="tabs" role="group" aria-label="Range">
          {RANGES.map(([label], index) => (
            <button type="button" key={label} aria-pressed={index === range} onClick={() => setRange(index)}>
              {label}
            </button>
          ))}
        </div>
      </header>
      {cut && <p class="soft">Only the first {MOST.toLocaleString()} events of this range are counted.</p>}
      <Granted room={room} />
      {figures && (
        <>
          <dl class="tiles">
            <Tile name="messages" value={figures.messages.toLocaleString()} />
            <Tile name="turns" value={figures.turns.toLocaleString()} />
            <Tile name="turns avoided" value={figures.avoided.toLocaleString()} good />
            <Tile name="median reply" value={figures.median === null ? "-" : lasting(figures.median)} />
            <Tile name="open obligations" value={String(figures.open)} />
            <Tile name="tokens, in all" value={about(isAbout, tokens.toLocaleString())} />
            <Tile name="time, in all" value={spent > 0 ? lasting(spent) : "-"} />
            <Tile name="cost, in all" value={costTold(known, (one) => one.cost, isAbout)} />
          </dl>
          <Plots figures={figures} width={width}>
            {known.length > 0 && (
            <Bars
              title="Tokens by agent"
              ticks={known.map((one) => room.nameOf(one.actor_id))}
              series={[
                { name: "in", tone: "t1", values: known.map((one) => one.tokens_in) },
                { name: "out", tone: "t2", values: known.map((one) => one.tokens_out) },
              ]}
              say={(value) => (value >= 1000 ? `${Math.round(value / 1000)} k` : String(Math.round(value)))}
            />
          )}
            {spent > 0 && (
              <Bars
                title="Time by agent"
                ticks={known.map((one) => room.nameOf(one.actor_id))}
                series={[{ name: "in turns", tone: "t2", values: known.map((one) => one.duration_ms ?? 0) }]}
                say={lasting}
              />
            )}
            {known.some((one) => one.owes.length > 0) && (
              <Bars
                title="Queue by agent"
                ticks={known.map((one) => room.nameOf(one.actor_id))}
                series={[{ name: "open", tone: "t4", values: known.map((one) => one.owes.length) }]}
              />
            )}
          </Plots>
        </>
      )}
    </div>
  );
}

function Tile({ name, value, good }: { name: string; value: string; good?: boolean }): VNode {
  return (
    <div class={good ? "tile good" : "tile"}>
      <dt>{name}</dt>
      <dd title={value.includes("~") ? BY_BYTES : undefined}>{value}</dd>
    </div>
  );
}

function Plots({ figures, width, children }: { figures: Figures; width: number; children: ComponentChildren }): VNode {
  const { buckets } = figures;
  const format = new Intl.DateTimeFormat(undefined, width > 48 * HOUR ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" });
  const shown = 4;
  const ticks = Array.from({ length: shown }, (_, index) => format.format(buckets[Math.floor(((index + 0.5) * buckets.length) / shown)]!.at));
  const middle = (values: number[]) => (values.length === 0 ? NaN : [...values].sort((a, b) => a - b)[values.length >> 1]!);
  return (
    <div class="plots">
      <Bars
        title="Messages"
        ticks={ticks}
        series={[
          { name: "people", tone: "t1", values: buckets.map((one) => one.people) },
          { name: "agents", tone: "t2", values: buckets.map((one) => one.agents) },
        ]}
      />
      <Bars
        title="Turns"
        ticks={ticks}
        series={[
          { name: "taken", tone: "t2", values: buckets.map((one) => one.turns) },
          { name: "avoided", tone: "t3", values: buckets.map((one) => one.avoided) },
        ]}
      />
      <Lines title="Reply time, median" ticks={ticks} say={lasting} series={[{ name: "median", tone: "t1", values: buckets.map((one) => middle(one.replies)) }]} />
      <Lines title="Open obligations" ticks={ticks} series={[{ name: "open", tone: "t4", values: buckets.map((one) => one.open) }]} />
      {children}
    </div>
  );
}
