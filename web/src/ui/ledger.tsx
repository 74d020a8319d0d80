/** The ledger itself: every event in order, with a filter by kind, a cursor to go to, and export. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import { saveAs } from "../net/blobs";
import { call, complain } from "../state/hub";
import type { Room } from "../state/room";
import { panel } from "../state/ui";
import { stampOf } from "../text/time";
import type { LedgerEvent } from "../types";
import { Icon } from "./icons";

const HEIGHT = 30;
const PAGE = 200;
const KINDS: [string, string][] = [
  ["", "every kind"],
  ["chat.message", "messages"],
  ["chat.*", "all of chat"],
  ["x.c2a.*", "attention"],
  ["system.*", "notices"],
  ["actor.*", "actors"],
  ["group.*", "the group"],
  ["context.*", "context"],
];

interface Page {
  events: LedgerEvent[];
  next_cursor: number;
  last_seq: number;
}

export function Ledger({ room }: { room: Room }): VNode {
  const [kinds, setKinds] = useState("");
  const [exporting, setExporting] = useState<string | null>(null);
  const [cursor, setCursor] = useState<{ seq: number; nonce: number } | null>(null);
  const [count, setCount] = useState(room.seen);
  useEffect(() => {
    const timer = setInterval(() => setCount(room.seen), 400);
    return () => clearInterval(timer);
  }, [room]);
  const save = async () => {
    const parts: string[] = [];
    let since = 0;
    try {
      for (;;) {
        const page = await call<Page>("events", { group_id: room.id, since_seq: since, limit: 1000, ...(kinds && { kinds: [kinds] }) });
        for (const event of page.events) parts.push(JSON.stringify(event) + "\n");
        since = page.next_cursor;
        setExporting(`${Math.round((100 * since) / Math.max(1, page.last_seq))} %`);
        if (page.events.length < 1000) break;
      }
      saveAs(new Blob(parts, { type: "application/jsonl" }), `${room.group.peek().title.replace(/[^\p{L}\p{N}]+/gu, "-")}.jsonl`);
    } catch (error) {
      complain(error);
    }
    setExporting(null);
  };
  return (
    <div class="page ledger">
      <div class="ledger-tools">
        <label>
          Kinds
          <select value={kinds} onChange={(event) => {
              setKinds(event.currentTarget.value);
              setCursor(null);
            }}>
            {KINDS.map(([value, label]) => (
              <option value={value}>{label}</option>
            ))}
          </select>
        </label>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const seq = Number(new FormData(event.currentTarget).get("seq"));
            if (seq > 0) setCursor({ seq, nonce: Date.now() });
          }}
        >
          <label>
            Position
            <input name="seq" type="number" min={1} placeholder={String(room.seen)} />
          </label>
          <button type="submit" class="quiet small">
            Go
          </button>
        </form>
        <span class="soft grow">{count.toLocaleString()} events</span>
        <button type="button" class="quiet small" disabled={exporting !== null} onClick={() => void save()}>
          <Icon name="save" size={15} /> {exporting ?? "Export JSONL"}
        </button>
      </div>
      {kinds === "" ? <Dense key="dense" room={room} cursor={cursor} /> : <Sparse key={kinds} room={room} kinds={kinds} cursor={cursor} />}
    </div>
  );
}

/** Every position is a row of fixed height: any part of a ledger of any length is one request away. */
function Dense({ room, cursor }: { room: Room; cursor: { seq: number; nonce: number } | null }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const pages = useRef(new Map<number, LedgerEvent[] | "asked">()).current;
  const [, redraw] = useState(0);
  const [last, setLast] = useState(room.seen);
  useEffect(() => {
    const timer = setInterval(() => room.seen !== last && setLast(room.seen), 300);
    return () => clearInterval(timer);
  }, [last, room]);
  const tall = box.current?.clientHeight ?? 800;
  const top = box.current?.scrollTop ?? 0;
  const scale = Math.max(1, (last * HEIGHT) / 12_000_000);
  const first = Math.max(0, Math.floor((top * scale) / HEIGHT) - 8);
  const count = Math.ceil(tall / HEIGHT) + 16;
  useLayoutEffect(() => {
    box.current!.scrollTop = box.current!.scrollHeight;
    redraw((n) => n + 1);
  }, [room]);
  useEffect(() => {
    if (cursor === null || box.current === null) return;
    box.current.scrollTop = ((cursor.seq - 3) * HEIGHT) / scale;
    redraw((n) => n + 1);
  }, [cursor]);
  useEffect(() => {
    for (let page = Math.floor(first / PAGE); page <= Math.floor((first + count) / PAGE); page++) {
      const known = pages.get(page);
      const full = Array.isArray(known) && (known.at(-1)?.seq ?? 0) >= Math.min(last, (page + 1) * PAGE);
      if (known === "asked" || full || page * PAGE >= last) continue;
      if (Array.isArray(known) && page * PAGE + known.length >= last) continue;
      const before = known;
      pages.set(page, before ?? "asked");
      call<Page>("events", { group_id: room.id, since_seq: page * PAGE, limit: PAGE })
        .then((found) => {
          pages.set(page, found.events.filter((event) => event.seq <= (page + 1) * PAGE));
          redraw((n) => n + 1);
        })
        .catch(() => pages.delete(page));
    }
    if (pages.size > 60) for (const page of pages.keys()) if (Math.abs(page - first / PAGE) > 20) pages.delete(page);
  });
  const rows: VNode[] = [];
  for (let seq = first + 1; seq <= Math.min(last, first + count); seq++) {
    const page = pages.get(Math.floor((seq - 1) / PAGE));
    const event = Array.isArray(page) ? page.find((one) => one.seq === seq) : undefined;
    rows.push(<EventLine key={seq} seq={seq} event={event} top={(first * HEIGHT) / scale + (seq - 1 - first) * HEIGHT} hidden={Array.isArray(page) && event === undefined} />);
  }
  return (
    <div class="ledger-list" ref={box} tabIndex={0} role="region" aria-label="Events" onScroll={() => redraw((n) => n + 1)}>
      <div class="ledger-space" style={{ height: `${(last * HEIGHT) / scale}px` }}>
        {rows}
      </div>
    </div>
  );
}

function Sparse({ room, kinds, cursor }: { room: Room; kinds: string; cursor: { seq: number; nonce: number } | null }): VNode {
  const [events, setEvents] = useState<LedgerEvent[]>([]);
  const [since, setSince] = useState(cursor?.seq ?? 0);
  const [done, setDone] = useState(false);
  const more = async (from: number, before: LedgerEvent[]) => {
    const page = await call<Page>("events", { group_id: room.id, since_seq: from, limit: PAGE, kinds: [kinds] }).catch(complain);
    if (!page) return;
    setEvents([...before, ...page.events]);
    setSince(page.next_cursor);
    setDone(page.events.length < PAGE);
  };
  useEffect(() => {
    void more(cursor === null ? 0 : cursor.seq - 1, []);
  }, [cursor, kinds, room]);
  return (
    <div class="ledger-list" tabIndex={0} role="region" aria-label="Events">
      {events.map((event) => (
        <EventLine key={event.seq} seq={event.seq} event={event} />
      ))}
      {!done && (
        <button type="button" class="quiet more" onClick={() => void more(since, events)}>
          Further events
        </button>
      )}
      {done && <p class="soft more">{events.length === 0 ? "No event of this kind." : "The end."}</p>}
    </div>
  );
}

/** What a record of attention says, in its own words. */
const SAID = ["session", "action", "state", "policy", "mode", "directedness", "disposition", "signal", "what", "message"] as const;

function summary(event: LedgerEvent): string {
  if (event.kind.startsWith("x.c2a.") && event.data.text === undefined) {
    const said = SAID.map((name) => event.data[name]).filter((one) => typeof one === "string");
    if (said.length > 0) return said.join(" · ").slice(0, 160);
  }
  const { text, title, event_id, actor_id, emoji } = event.data;
  return [text, title, emoji, actor_id, event_id].filter((one) => typeof one === "string").join(" · ").slice(0, 160) || JSON.stringify(event.data).slice(0, 160);
}

function EventLine(props: { seq: number; event: LedgerEvent | undefined; top?: number; hidden?: boolean }): VNode {
  const { seq, event } = props;
  const style = props.top === undefined ? undefined : { position: "absolute" as const, top: `${props.top}px` };
  return (
    <button type="button" class="event-line" style={style} disabled={event === undefined} onClick={() => event && (panel.value = { kind: "event", row: { event } })}>
      <span class="seq">{seq}</span>
      <span class="ts" title={event ? `${event.ts}, in your time zone` : undefined}>{event ? stampOf(event.ts) : ""}</span>
      <span class={`ek ${event?.kind.split(".")[0] ?? ""}`}>{event?.kind ?? (props.hidden ? "private, not yours to see" : "…")}</span>
      <span class="by">{event?.by ?? ""}</span>
      <span class="sum">{event ? summary(event) : ""}</span>
    </button>
  );
}
