/** One row of a history: a message with all that hangs on it, or a line about the group. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import { acknowledge, openThread, openThreadOf, react, remove, showEvent } from "../state/actions";
import { complain, isOwner, me, rooms, say } from "../state/hub";
import { namesOf } from "../state/names";
import type { Room } from "../state/room";
import { address } from "../state/router";
import { signalOf, SIGNALS } from "../state/signals";
import { DAMAGED } from "../state/timeline";
import { isEditing, panel, picking, relaying, selected } from "../state/ui";
import { Prose } from "../text/markdown";
import { clockOf, dayKey, dayOf, fullOf } from "../text/time";
import type { LedgerEvent, Row } from "../types";
import { Attachments } from "./attachments";
import { Avatar, kindOf, Name } from "./avatar";
import { copyText } from "./code";
import { currentText, editRow, Editor, keyOf } from "./editor";
import { Icon, type IconName } from "./icons";
import { Strip } from "./strip";

const TOGETHER_MS = 5 * 60_000;

export interface Setting {
  room: Room;
  /** The place that shows it. */
  where: string;
  /** In a thread the quoted parent is not repeated. */
  inThread?: boolean;
}

function continues(row: Row, previous: Row | undefined): boolean {
  if (previous === undefined || previous.event.kind !== "chat.message" || row.event.kind !== "chat.message") return false;
  if (previous.event.by !== row.event.by || row.quoted || row.event.data.src_group_id || row.event.data.priority === "attention") return false;
  if (dayKey(previous.event.ts) !== dayKey(row.event.ts)) return false;
  return Date.parse(row.event.ts) - Date.parse(previous.event.ts) < TOGETHER_MS;
}

export function RowView({ row, previous, room, where, inThread }: Setting & { row: Row; previous: Row | undefined }): VNode {
  const newDay = previous === undefined || dayKey(previous.event.ts) !== dayKey(row.event.ts);
  const cursor = room.cursor.value;
  const firstUnread = lineAt(room, row, previous, cursor);
  return (
    <>
      {newDay && !inThread && (
        <div class="day" role="separator">
          <span>{dayOf(row.event.ts)}</span>
        </div>
      )}
      {firstUnread && !inThread && (
        <div class="unread-line" role="separator">
          <span>New</span>
        </div>
      )}
      {row.event.kind === "chat.message" ? (
        <Message row={row} room={room} where={where} inThread={inThread} joined={!newDay && continues(row, previous)} />
      ) : (
        <Line event={row.event} row={row} room={room} />
      )}
    </>
  );
}

/** The line stays where it was when the room was opened, so that it does not vanish under the reader's eyes. */
const opened = new Map<string, number>();
export function markOpened(room: Room): void {
  opened.set(room.id, room.cursor.peek());
}
function lineAt(room: Room, row: Row, previous: Row | undefined, cursor: number): boolean {
  const at = opened.get(room.id) ?? cursor;
  if (at === 0 || row.parties || previous === undefined) return false;
  return previous.event.seq <= at && row.event.seq > at && row.event.by !== room.me;
}

const LINES: Record<string, (event: LedgerEvent, room: Room) => string> = {
  "group.create": (event) => `The room “${event.data.title}” was opened`,
  "actor.add": (event, room) => `${room.nameOf(event.data.actor_id)} joined as an agent`,
  "actor.remove": (event) => `${event.data.actor_id} left`,
  "x.tacit.person.add": (event, room) => `${room.nameOf(event.data.principal)} joined`,
};

function Line({ event, row, room }: { event: LedgerEvent; row: Row; room: Room }): VNode {
  if (event.kind === DAMAGED) return <p class="line">An event here is damaged and cannot be shown.</p>;
  if (event.kind === "system.notify") return <Notice event={event} row={row} room={room} />;
  return (
    <p class="line">
      {LINES[event.kind]?.(event, room) ?? event.kind}
      <time title={fullOf(event.ts)}>{clockOf(event.ts)}</time>
    </p>
  );
}

function Notice({ event, row, room }: { event: LedgerEvent; row: Row; room: Room }): VNode {
  const { title, message, priority, kind } = event.data;
  const open = row.owing?.includes(me.value);
  const isLoop = kind === "attention.loop";
  return (
    <article class={`notice ${priority ?? "normal"}${isLoop ? " loop" : ""}`} data-kind={kind} tabIndex={-1}>
      <Icon name="bell" size={16} />
      <div>
        <strong>{title ?? String(kind).replaceAll("_", " ")}</strong> {message}
        <time title={fullOf(event.ts)}>{clockOf(event.ts)}</time>
        {event.data.related_event_id && <Related event={event} isLoop={isLoop} />}
        {row.withdrawn !== undefined && <span class="soft"> · answered since{row.withdrawn && ` by ${room.nameOf(row.withdrawn)}`}</span>}
        {(row.acknowledged?.length ?? 0) > 0 && (
          <span class="soft"> · acknowledged by {row.acknowledged!.map((one) => room.nameOf(one)).join(", ")}</span>
        )}
      </div>
      {open && (
        <button type="button" class="primary small" onClick={(click) => (toMessage(click), void acknowledge(event))}>
          Acknowledge
        </button>
      )}
    </article>
  );
}

/** The message that a notice is about, one click away; a word of a person there sets stopped agents free again. */
function Related({ event, isLoop }: { event: LedgerEvent; isLoop: boolean }): VNode {
  const about = event.data.related_event_id;
  const open = () => showEvent(event.group_id, about).catch(complain);
  const join = () => openThreadOf(event.group_id, about).catch(complain);
  return (
    <p class="related">
      <button type="button" class="link" onClick={() => void open()}>
        Show the message
      </button>
      {isLoop && (
        <>
          <button type="button" class="link" onClick={() => void join()}>
            Reply in their thread
          </button>
          <span class="soft">They stay quiet there until a person says something.</span>
        </>
      )}
    </p>
  );
}

function Message({ row, room, where, inThread, joined }: Setting & { row: Row; joined: boolean }): VNode {
  const { event } = row;
  const here = useRef<HTMLElement>(null);
  const isSelected = selected.value === event.id;
  const key = keyOf(row);
  const open = isEditing(key, where);
  const mine = event.by === me.value;
  const data = event.data;
  const kind = kindOf(event.by);
  useLayoutEffect(() => {
    if (isSelected && !open && document.activeElement !== here.current && !here.current?.contains(document.activeElement)) {
      const active = document.activeElement;
      const typing = active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement;
      if (!typing) here.current?.focus({ preventScroll: true });
    }
  }, [isSelected, open]);
  const classes = ["message", kind, joined && "joined", isSelected && "selected", data.priority === "attention" && "asks", mine && "mine"];
  return (
    <article
      ref={here}
      class={classes.filter(Boolean).join(" ")}
      tabIndex={isSelected ? 0 : -1}
      aria-label={`${room.nameOf(event.by)}, ${clockOf(event.ts)}`}
      data-event={event.id}
      onFocusIn={() => {
        if (selected.peek() !== event.id) selected.value = event.id;
      }}
    >
      <div class="gutter">
        {joined ? <time title={fullOf(event.ts)}>{clockOf(event.ts)}</time> : <Avatar room={room} principal={event.by} />}
      </div>
      <div class="body">
        {!joined && (
          <header>
            <Name room={room} principal={event.by} />
            {data.priority === "attention" && <span class="tag asks">asks for acknowledgement</span>}
            {data.clowl && <span class="tag clowl">{String(data.clowl.p)}</span>}
            <time title={fullOf(event.ts)}>{clockOf(event.ts)}</time>
          </header>
        )}
        {row.quoted && !inThread && <Quote row={row} room={room} />}
        {data.src_group_id && <Source event={event} />}
        {row.deleted ? (
          <p class="deleted">This message was deleted.</p>
        ) : open ? (
          <Editor room={room} name={key} row={row} />
        ) : (
          <>
            <Prose text={currentText(row)} format={data.format ?? (kind === "agent" ? "markdown" : undefined)} names={namesOf(room)} me={me.value} />
            {row.edit && (
              <span class="edited" title={`Edited ${fullOf(row.edit.ts)}`}>
                edited
              </span>
            )}
            {data.attachments?.length > 0 && <Attachments event={event} />}
            {data.clowl && <Speech event={event} />}
          </>
        )}
        <Reactions row={row} room={room} />
        {data.priority === "attention" && !row.deleted && <Acks row={row} room={room} />}
        {!row.deleted && <Strip row={row} room={room} />}
        {!inThread && (row.replies ?? 0) > 0 && (
          <button type="button" class="replies" onClick={() => openThread(row)}>
            <Icon name="talk" size={15} />
            {row.replies} {row.replies === 1 ? "reply" : "replies"}
          </button>
        )}
      </div>
      {!open && !row.deleted && <Tools row={row} mine={mine} where={where} inThread={inThread} />}
    </article>
  );
}

function Quote({ row, room }: { row: Row; room: Room }): VNode {
  const quoted = row.quoted!;
  return (
    <button
      type="button"
      class="quote"
      onClick={() => openThread(row)}
      aria-label={`In reply to ${room.nameOf(quoted.by)}: ${quoted.text || "a deleted message"}. Open the thread.`}
    >
      <Icon name="reply" size={13} />
      <b>{room.nameOf(quoted.by)}</b>
      <span>{quoted.text || "deleted message"}</span>
    </button>
  );
}

/** Where a relayed message comes from; who may not see the source is told so. */
function Source({ event }: { event: LedgerEvent }): VNode {
  const [gone, setGone] = useState(false);
  const from = event.data.src_group_id as string;
  const known = rooms.value.find((one) => one.id === from);
  const open = async () => {
    try {
      await showEvent(from, event.data.src_event_id);
    } catch {
      setGone(true);
    }
  };
  return (
    <p class="source">
      <Icon name="forward" size={14} />
      Relayed from {known ? <b>{known.group.value.title}</b> : "another room"}
      {event.data.src_envelope?.by && <> · by {String(event.data.src_envelope.by)}</>}
      {gone ? (
        <span class="gone">Source unavailable</span>
      ) : (
        <button type="button" class="link" onClick={() => void open()}>
          Open source message
        </button>
      )}
    </p>
  );
}

function Speech({ event }: { event: LedgerEvent }): VNode {
  const [open, setOpen] = useState(false);
  const { tid } = event.data.clowl;
  return (
    <div class="speech">
      <button type="button" class="quiet small" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="code" size={14} /> CLowl object
      </button>
      {tid && (
        <button type="button" class="quiet small" onClick={() => (panel.value = { kind: "trace", tid })}>
          <Icon name="tree" size={14} /> Trace
        </button>
      )}
      {open && (
        <pre tabIndex={0} class="object">
          <code>{JSON.stringify(event.data.clowl, null, 2)}</code>
        </pre>
      )}
    </div>
  );
}

function Reactions({ row, room }: { row: Row; room: Room }): VNode | null {
  const found = new Map<string, string[]>();
  for (const one of row.reactions ?? []) found.set(one.emoji, [...(found.get(one.emoji) ?? []), one.actor_id]);
  if (found.size === 0) return null;
  return (
    <div class="reactions">
      {[...found].map(([emoji, actors]) => {
        const signal = signalOf(emoji);
        const mine = actors.includes(me.value);
        const who = actors.map((one) => room.nameOf(one)).join(", ");
        return (
          <button
            type="button"
            class={mine ? "reaction mine" : "reaction"}
            aria-pressed={mine}
            title={`${signal ? `${signal.name}: ` : ""}${who}`}
            aria-label={`${signal?.name ?? emoji}, ${who}`}
            onClick={(event) => {
              // One's own lonely reaction vanishes with the click.
              if (mine && actors.length === 1) toMessage(event);
              void react(row, emoji);
            }}
          >
            <span class="glyph">{emoji}</span>
            {signal && <span class="word">{signal.name}</span>}
            <span class="count">{actors.length > 1 ? actors.length : room.nameOf(actors[0]!)}</span>
          </button>
        );
      })}
    </div>
  );
}

function Acks({ row, room }: { row: Row; room: Room }): VNode {
  const owing = row.owing ?? [];
  const done = row.acknowledged ?? [];
  const names = (all: string[]) => all.slice(0, 4).map((one) => room.nameOf(one)).join(", ") + (all.length > 4 ? ` and ${all.length - 4} more` : "");
  return (
    <div class="acks">
      {done.length > 0 && (
        <span class="done">
          <Icon name="check" size={14} /> {names(done)}
        </span>
      )}
      {owing.length > 0 && <span class="open">waiting for {names(owing)}</span>}
      {owing.length === 0 && done.length > 0 && <span class="soft">all acknowledged</span>}
      {owing.includes(me.value) && (
        <button type="button" class="primary small" onClick={(event) => (toMessage(event), void acknowledge(row.event))}>
          Acknowledge
        </button>
      )}
    </div>
  );
}

function Tools({ row, mine, where, inThread }: { row: Row; mine: boolean; where: string; inThread?: boolean }): VNode {
  const isPicking = picking.value === row.event.id;
  const [more, setMore] = useState(false);
  const [up, setUp] = useState(false);
  const here = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isPicking || more) setUp(here.current!.getBoundingClientRect().top > innerHeight / 2);
  }, [isPicking, more]);
  const button = (icon: IconName, label: string, act: () => void, pressed?: boolean) => (
    <button type="button" class="tool" title={label} aria-label={label} aria-expanded={pressed} onClick={act}>
      <Icon name={icon} size={16} />
    </button>
  );
  const copyLink = () => {
    const groupId = row.event.group_id;
    const place = row.parties
      ? address({ groupId, view: "dm", detail: [...row.parties].sort().join(",") })
      : address({ groupId, view: "talk", detail: String(row.event.seq) });
    void copyText(location.origin + location.pathname + place).then(() => say("Link copied."));
    setMore(false);
  };
  return (
    <div ref={here} class={`tools${isPicking || more ? " open" : ""}${up ? " up" : ""}`} role="toolbar" aria-label="Message actions">
      {button("smile", "React with a signal", () => (picking.value = isPicking ? null : row.event.id), isPicking)}
      {!inThread && button("reply", "Reply in thread", () => openThread(row))}
      {button("eye", "Who saw it, and why", () => (panel.value = { kind: "inspector", row }))}
      {button("more", "More", () => setMore(!more), more)}
      {isPicking && <Picker row={row} />}
      {more && (
        <div class="menu" role="menu" onKeyDown={menuKeys} ref={focusFirst} onFocusOut={(event) => leaving(event, () => setMore(false))}>
          {mine && !row.event.data.clowl && (
            <MenuItem icon="edit" label="Edit" act={() => editRow(row, where)} />
          )}
          <MenuItem icon="forward" label="Relay to another room" act={() => (relaying.value = row)} />
          <MenuItem icon="link" label="Copy link" act={copyLink} />
          <MenuItem icon="code" label="Show the event" act={() => (panel.value = { kind: "event", row })} />
          {(mine || isOwner.value) && <MenuItem icon="trash" label="Delete" bad act={() => void remove(row)} />}
        </div>
      )}
    </div>
  );
}

/** What was pressed is about to vanish: its message keeps the focus. */
function toMessage(event: Event): void {
  (event.currentTarget as HTMLElement).closest<HTMLElement>("article")?.focus({ preventScroll: true });
}

export function leaving(event: FocusEvent, act: () => void): void {
  const box = event.currentTarget as HTMLElement;
  if (!box.contains(event.relatedTarget as Node | null)) act();
}

export function focusFirst(box: HTMLElement | null): void {
  if (box !== null && !box.contains(document.activeElement)) box.querySelector<HTMLElement>("button")?.focus();
}

export function menuKeys(event: KeyboardEvent): void {
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    event.stopPropagation();
    items[(at + step + items.length) % items.length]?.focus();
  } else if (event.key === "Escape") {
    event.stopPropagation();
    (event.currentTarget as HTMLElement).closest<HTMLElement>("article")?.focus();
    picking.value = null;
  }
}

function MenuItem(props: { icon: IconName; label: string; act: () => void; bad?: boolean }): VNode {
  return (
    <button type="button" role="menuitem" class={props.bad ? "bad" : ""} onClick={(event) => (toMessage(event), props.act())}>
      <Icon name={props.icon} size={16} />
      {props.label}
    </button>
  );
}

function Picker({ row }: { row: Row }): VNode {
  return (
    <div
      class="picker"
      role="menu"
      aria-label="Signals"
      ref={focusFirst}
      onKeyDown={menuKeys}
      onFocusOut={(event) => leaving(event, () => (picking.value = null))}
    >
      {SIGNALS.map((one) => (
        <button
          type="button"
          role="menuitem"
          title={one.meaning}
          onClick={(event) => {
            toMessage(event);
            picking.value = null;
            void react(row, one.glyph);
          }}
        >
          <span class="glyph">{one.glyph}</span>
          <span>{one.name}</span>
        </button>
      ))}
    </div>
  );
}
