/** A conversation: its history, messages on their way, who is typing, and the composer. */

import { useEffect, useMemo } from "preact/hooks";
import type { VNode } from "preact";
import { markRead } from "../state/actions";
import { placeKey, type Place } from "../state/fold";
import { RpcError } from "../net/socket";
import { me, resend } from "../state/hub";
import { namesOf } from "../state/names";
import { drop, retry, wanted, type Parcel } from "../state/outbox";
import { underway } from "../state/outgoing";
import type { Room } from "../state/room";
import type { Timeline } from "../state/timeline";
import { isEditing } from "../state/ui";
import { Prose } from "../text/markdown";
import type { Row } from "../types";
import { Avatar, Name } from "./avatar";
import { Composer, conversationOf } from "./composer";
import { editParcel, Editor } from "./editor";
import { History } from "./history";
import { Icon } from "./icons";
import { markOpened, RowView } from "./message";

/** A text of many screens would hide what is said about it. */
const LONGEST = 4000;
const excerpt = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** Messages that the ledger has not confirmed yet. */
function Outgoing({ room, timeline }: { room: Room; timeline: Timeline }): VNode | null {
  const waiting = underway(timeline.rows.value, timeline.place);
  const where = placeKey(timeline.place);
  if (waiting.length === 0) return null;
  return (
    <div class="outgoing">
      {waiting.map((one) => (
        <article key={one.client_id} class={`message person mine ${one.refused ? "refused" : "waiting"}`} aria-label={one.refused ? "Not sent" : "Sending"}>
          <div class="gutter">
            <Avatar room={room} principal={me.value} />
          </div>
          <div class="body">
            <header>
              <Name room={room} principal={me.value} />
              <span class="soft">{one.refused ? "not sent" : "sending…"}</span>
              {!isEditing(one.client_id, where) && (
                <>
                  <button type="button" class="link" onClick={() => editParcel(one, where)}>
                    Edit
                  </button>
                  {!one.refused && one.landed === undefined && <Discard one={one} />}
                </>
              )}
            </header>
            {isEditing(one.client_id, where) ? (
              <Editor room={room} name={one.client_id} />
            ) : (
              <Prose text={excerpt(wanted(one))} format={one.data.format} names={namesOf(room)} me={me.value} />
            )}
            {one.data.attachments && (
              <p class="soft">
                <Icon name="attach" size={14} /> {one.data.attachments.length} attached
              </p>
            )}
            {one.refused && (
              <p class="refusal" role="alert">
                {one.refused}{" "}
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    retry(one.client_id);
                    resend();
                  }}
                >
                  Try again
                </button>{" "}
                <Discard one={one} />
              </p>
            )}
          </div>
        </article>
      ))}
    </div>
  );
}

function Discard({ one }: { one: Parcel }): VNode {
  return (
    <button type="button" class="link" onClick={() => drop(one.client_id)}>
      Discard
    </button>
  );
}

/** Said to whoever is here, kept nowhere. */
function Whispers({ room, place }: { room: Room; place: Place }): VNode | null {
  const here = room.whispers.value.filter((one) => one.where === `conversation:${conversationOf(place) ?? "main"}` || one.where === (conversationOf(place) ?? "main"));
  if (here.length === 0 || place.root !== undefined) return null;
  return (
    <div class="whispers">
      {here.map((one) => (
        <p class="line">
          <b>{room.nameOf(one.by)}</b>, for those who are here: {one.text}
        </p>
      ))}
    </div>
  );
}

function Typing({ room, place }: { room: Room; place: Place }): VNode {
  const where = conversationOf(place);
  const here = room.typing.value.filter((one) => one.conversation === where && one.by !== me.value);
  const names = here.map((one) => room.nameOf(one.by));
  const text = names.length === 0 ? "" : names.length === 1 ? `${names[0]} is typing` : names.length === 2 ? `${names[0]} and ${names[1]} are typing` : `${names.length} are typing`;
  return (
    <p class="typing" aria-live="polite">
      {text && (
        <>
          <span class="dots" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
          {text}
        </>
      )}
    </p>
  );
}

export function Talk({ room, place, inThread, autoFocus }: { room: Room; place: Place; inThread?: boolean; autoFocus?: boolean }): VNode {
  const key = placeKey(place);
  const timeline = useMemo(() => room.timeline(place), [key, room]);
  useMemo(() => {
    if (!inThread) markOpened(room);
  }, [key, room, room.cursor.value === 0]);
  const seen = (atEnd: boolean) => {
    if (!atEnd || !document.hasFocus() || document.visibilityState !== "visible") return;
    if (place.parties) room.sawConversation(place.parties);
    else if (!inThread) markRead(room, timeline.rows.peek());
  };
  useEffect(() => {
    const looked = () => seen(true);
    window.addEventListener("focus", looked);
    return () => window.removeEventListener("focus", looked);
  }, [timeline]);
  const draw = useMemo(
    () => (row: Row, previous: Row | undefined) => <RowView row={row} previous={previous} room={room} where={key} inThread={inThread} />,
    [room, key, inThread],
  );
  const failed = timeline.ready.value ? null : timeline.failed.value;
  // Where there is no such place, nothing can be said; a hub that is merely away takes it later.
  const isNowhere = failed instanceof RpcError && !failed.isTransient;
  const canWrite = place.parties === undefined || place.parties.includes(me.value);
  const empty = timeline.ready.value && timeline.starts && !timeline.rows.value.some((row) => row.event.kind === "chat.message");
  return (
    <div class="talk" data-place={key}>
      <History key={key} timeline={timeline} draw={draw} label="Messages" onSeen={seen} tail={
          <>
            {empty && !inThread && <Empty room={room} place={place} />}
            <Whispers room={room} place={place} />
            <Outgoing room={room} timeline={timeline} />
          </>
        }
      />
      {failed && <p class="trouble">{failed.message}</p>}
      <Typing room={room} place={place} />
      {isNowhere ? null : canWrite ? <Composer key={key} room={room} place={place} autoFocus={autoFocus} /> : <p class="overheard">You see this conversation as the owner. You are not part of it.</p>}
    </div>
  );
}

function Empty({ room, place }: { room: Room; place: Place }): VNode {
  const agents = room.group.value.actors.length;
  return (
    <div class="empty">
      <h2>{place.parties ? "Nothing said yet" : `Welcome to ${room.group.value.title}`}</h2>
      {place.parties ? (
        <p>What you write here is read by those named above, and by the room's owner.</p>
      ) : agents === 0 ? (
        <p>
          Say something, then add an agent from the left. When you name one with <kbd>@</kbd>, it owes you an answer; the others stay quiet.
        </p>
      ) : (
        <p>
          {agents} {agents === 1 ? "agent is" : "agents are"} here. Name one with <kbd>@</kbd> and it owes you an answer; the others stay quiet, and the line under your message says why.
        </p>
      )}
    </div>
  );
}
