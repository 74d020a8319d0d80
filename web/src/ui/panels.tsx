/** The right side: one panel at a time, beside the conversation or over it on a phone. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren, VNode } from "preact";
import { acknowledge, showEvent, showRow } from "../state/actions";
import { textOf } from "../state/fold";
import { call, complain } from "../state/hub";
import type { Room } from "../state/room";
import { panel, type Panel } from "../state/ui";
import { agoOf, clockOf, dayOf } from "../text/time";
import type { LedgerEvent, Row } from "../types";
import { Avatar, Name } from "./avatar";
import { CopyButton } from "./code";
import { Icon } from "./icons";
import { Inspector } from "./inspector";
import { Talk } from "./talk";
import { TraceTree } from "./trace";

export function Frame({ title, children, note }: { title: string; children: ComponentChildren; note?: ComponentChildren }): VNode {
  const here = useRef<HTMLElement>(null);
  // Before anything is painted: the next key already belongs to the panel.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const field = here.current?.querySelector<HTMLElement>("textarea, input") ?? here.current?.querySelector<HTMLElement>(".close");
    if (!here.current?.contains(before)) field?.focus({ preventScroll: true });
    return () => {
      if (before?.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside class="panel" ref={here} aria-label={title}>
      <header class="panel-head">
        <h2>{title}</h2>
        {note}
        <button type="button" class="tool close" aria-label={`Close ${title}`} title="Close (Esc)" onClick={() => (panel.value = null)}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </aside>
  );
}

export function PanelView({ open, room }: { open: NonNullable<Panel>; room: Room }): VNode {
  switch (open.kind) {
    case "thread":
      return (
        <Frame key={`thread ${open.root}`} title="Thread">
          <Talk room={room} place={{ groupId: room.id, root: open.root }} inThread autoFocus />
        </Frame>
      );
    case "inspector":
      return (
        <Frame key={`inspector ${open.row.event.id}`} title="Who saw it, and why">
          <Inspector row={open.row} room={room} />
        </Frame>
      );
    case "search":
      return (
        <Frame key="search" title="Search">
          <Search room={room} />
        </Frame>
      );
    case "trace":
      return (
        <Frame key={`trace ${open.tid}`} title="Trace">
          <TraceTree room={room} tid={open.tid} />
        </Frame>
      );
    case "event":
      return (
        <Frame key={`event ${open.row.event.id}`} title="The event">
          <EventView event={open.row.event} />
        </Frame>
      );
    case "owed":
      return (
        <Frame key="owed" title="Waiting for you">
          <Owed room={room} />
        </Frame>
      );
  }
}

export function EventView({ event }: { event: LedgerEvent }): VNode {
  const text = JSON.stringify(event, null, 2);
  return (
    <div class="panel-body">
      <p class="soft">As the ledger keeps it, at position {event.seq}.</p>
      <CopyButton text={text} label="Copy the event" />
      <pre class="object" tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

function Owed({ room }: { room: Room }): VNode {
  const all = [...room.owed.value, ...room.notices.value].sort((a, b) => a.seq - b.seq);
  if (all.length === 0) return <p class="nothing">Nobody waits for your acknowledgement.</p>;
  return (
    <ul class="results">
      {all.map((event) => (
        <li key={event.id}>
          <button type="button" class="result" onClick={() => void showEvent(event.group_id, event.id).catch(complain)}>
            <Name room={room} principal={event.by} /> <time>{agoOf(event.ts)}</time>
            <p>{String(event.data.text ?? event.data.message ?? event.data.title ?? "")}</p>
          </button>
          <button
            type="button"
            class="primary small"
            onClick={(click) => {
              // This line is about to vanish: the next one, or the way out, keeps the focus.
              const line = click.currentTarget.closest("li")!;
              const next = (line.nextElementSibling ?? line.previousElementSibling)?.querySelector<HTMLElement>(".primary");
              (next ?? line.closest(".panel")!.querySelector<HTMLElement>(".close"))?.focus();
              void acknowledge(event);
            }}
          >
            Acknowledge
          </button>
        </li>
      ))}
    </ul>
  );
}

function Search({ room }: { room: Room }): VNode {
  const [query, setQuery] = useState("");
  const [rows, setRows] = useState<Row[] | null>(null);
  const [damaged, setDamaged] = useState(0);
  const [choice, setChoice] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const words = query.trim();
    setDamaged(0);
    if (words === "") return setRows(null);
    let current = true;
    const wait = setTimeout(() => {
      call<{ rows: Row[]; damaged?: number[] }>("search", { group_id: room.id, q: words, limit: 60 })
        .then((found) => {
          if (!current) return;
          setRows(found.rows);
          setDamaged(found.damaged?.length ?? 0);
          setChoice(0);
        })
        .catch(complain);
    }, 150);
    return () => {
      current = false;
      clearTimeout(wait);
    };
  }, [query, room]);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [choice]);
  const keys = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (rows === null || rows.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChoice((choice + step + rows.length) % rows.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      showRow(rows[choice]!);
    }
  };
  return (
    <div class="search">
      <label class="field">
        <Icon name="search" size={16} />
        <input
          type="search"
          value={query}
          placeholder={`Search ${room.group.value.title}`}
          aria-label="Search messages"
          aria-controls="found"
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={keys}
          maxLength={400}
        />
      </label>
      <p class="soft count" role="status">
        {rows === null ? "Every word must occur; the last may be incomplete." : rows.length === 0 ? "Nothing found." : `${rows.length}${rows.length === 60 ? "+" : ""} found, the newest first`}
      </p>
      {damaged > 0 && (
        <p class="soft count" role="status">
          {damaged === 1 ? "One message here is damaged and cannot be shown." : `${damaged} messages here are damaged and cannot be shown.`}
        </p>
      )}
      <ul class="results" id="found" ref={list} role="listbox" aria-label="Found messages">
        {rows?.map((row, index) => (
          <li key={row.event.id} role="option" aria-selected={index === choice} class="result" onClick={() => showRow(row)}>
            <Avatar room={room} principal={row.event.by} size={20} />
            <div>
              <Name room={room} principal={row.event.by} />{" "}
              <time>
                {dayOf(row.event.ts)}, {clockOf(row.event.ts)}
              </time>
              <p>
                <Marked text={textOf(row)} query={query} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The part of a text around the first hit, with the hits marked. */
function Marked({ text, query }: { text: string; query: string }): VNode {
  const words = query.trim().split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (words.length === 0) return <>{text.slice(0, 200)}</>;
  const hit = new RegExp(`(${words.join("|")})`, "giu");
  const at = text.search(hit);
  const start = Math.max(0, at - 60);
  const part = (start > 0 ? "…" : "") + text.slice(start, start + 220);
  return <>{part.split(hit).map((piece, index) => (index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece))}</>;
}
