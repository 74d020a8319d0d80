/**
 * People in charge: what an agent asks leave for, as cards that one tap answers.
 *
 * Two sorts: a message that would tell something private, and what the agent's own program wants to do (run a
 * command, change files). The second can be allowed once, for the turn, or for a pattern that the card shows.
 */

import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import { showEvent } from "../state/actions";
import type { Approval } from "../state/attention";
import { complain, me } from "../state/hub";
import type { Room } from "../state/room";
import { Avatar, kindOf } from "./avatar";
import { Diff, isDiff } from "./diff";

type Scope = "once" | "turn" | "always";

function answer(room: Room, params: Record<string, unknown>): void {
  // The card is about to vanish: what is typed next belongs to the conversation.
  document.querySelector<HTMLElement>(".main .composer textarea")?.focus({ preventScroll: true });
  void room.attention.act(params).catch(complain);
}

export function Approvals({ room }: { room: Room }): VNode | null {
  const open = room.attention.approvals.value;
  if (open.length === 0 || kindOf(me.value) !== "person") return null;
  return (
    <section class="approvals" aria-label="Waiting for your decision">
      {open.map((one, place) =>
        (one.kind ?? "send") === "send" ? (
          <Sending key={one.approval_id} room={room} one={one} />
        ) : (
          <Permission key={one.approval_id} room={room} one={one} isFirst={place === 0} />
        ),
      )}
    </section>
  );
}

function Sending({ room, one }: { room: Room; one: Approval }): VNode {
  return (
    <article class="approval">
      <Avatar room={room} principal={one.session} />
      <div>
        <b>{room.nameOf(one.session)}</b> asks for your leave
        <p title={one.says}>{one.says || "Open its last message to see what it is about."}</p>
      </div>
      <button type="button" class="primary" onClick={() => answer(room, { op: "approve", approval_id: one.approval_id })}>
        Approve
      </button>
      <button type="button" class="quiet" onClick={() => answer(room, { op: "refuse", approval_id: one.approval_id })}>
        Refuse
      </button>
    </article>
  );
}

const VERBS: Record<string, string> = { command: "wants to run a command", edit: "wants to change files" };

/** On a phone one card is whole at a time: those behind it show who wants what, until they are opened. */
function Permission({ room, one, isFirst }: { room: Room; one: Approval; isFirst: boolean }): VNode {
  const [isOpened, setOpened] = useState(false);
  const [refusing, setRefusing] = useState(false);
  const [reason, setReason] = useState("");
  const allow = (scope: Scope) => answer(room, { op: "approve", approval_id: one.approval_id, scope });
  const refuse = () => answer(room, { op: "refuse", approval_id: one.approval_id, reason: reason.trim() });
  return (
    <article class={isFirst || isOpened ? "approval permission" : "approval permission folded"} aria-label={`${room.nameOf(one.session)} ${VERBS[one.kind!] ?? "asks for your leave"}`}>
      <header>
        <Avatar room={room} principal={one.session} />
        <div>
          <b>{room.nameOf(one.session)}</b> {VERBS[one.kind!] ?? "asks for your leave"}
          {one.event_id && (
            <button type="button" class="link" onClick={() => void showEvent(room.id, one.event_id!).catch(complain)}>
              for this message
            </button>
          )}
          {one.directory && <p class="place" title={one.directory}>in {tail(one.directory)}</p>}
        </div>
        <button type="button" class="quiet small unfold" onClick={() => setOpened(true)}>
          Show
        </button>
        <Left until={one.expires_at} />
      </header>
      <pre class="wanted" tabIndex={0} aria-label="What it wants">
        {one.title}
      </pre>
      {one.details && (isDiff(one.details) ? <Diff text={one.details} label="The change" /> : <p class="details">{one.details}</p>)}
      {refusing ? (
        <form
          class="refusing"
          onSubmit={(event) => {
            event.preventDefault();
            refuse();
          }}
        >
          <input value={reason} maxLength={500} placeholder="Why not? The agent reads it." aria-label="Why not" onInput={(event) => setReason(event.currentTarget.value)} ref={(input) => input?.focus()} />
          <button type="submit" class="danger">
            Refuse
          </button>
          <button type="button" class="quiet" onClick={() => setRefusing(false)}>
            Back
          </button>
        </form>
      ) : (
        <div class="choices">
          <button type="button" class="primary" onClick={() => allow("once")}>
            Allow once
          </button>
          {one.covers && (
            <>
              <button type="button" class="quiet" onClick={() => allow("turn")}>
                For this turn
              </button>
              <button type="button" class="quiet" onClick={() => allow("always")} aria-description={`Always covers ${one.covers}`}>
                Always
              </button>
            </>
          )}
          <button type="button" class="quiet no" onClick={() => setRefusing(true)}>
            No
          </button>
        </div>
      )}
      <p class="covers">
        {one.covers ? (
          <>
            “This turn” and “Always” cover <b>{one.covers}</b> and nothing wider.
          </>
        ) : (
          "This can be allowed once, and no further."
        )}
      </p>
    </article>
  );
}

/** How long there is to answer; afterwards it is a no. */
function Left({ until }: { until: string }): VNode {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(clock);
  }, []);
  const seconds = Math.max(0, Math.round((Date.parse(until) - now) / 1000));
  const text = seconds >= 60 ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : `${seconds} s`;
  return (
    <span class={seconds < 60 ? "left soon" : "left"} title="Without an answer it is a no">
      {text}
    </span>
  );
}

/** What an agent was allowed for good, each with its way back. */
export function Granted({ room, agent }: { room: Room; agent?: string }): VNode | null {
  const all = room.attention.permissions.value.filter((one) => agent === undefined || one.session === agent);
  if (all.length === 0) return null;
  return (
    <section class="granted" aria-label="Allowed for good">
      <h3>Allowed for good</h3>
      <ul>
        {all.map((one) => (
          <li key={one.approval_id}>
            <span>
              <b>{room.nameOf(one.session)}</b>: {one.covers}
              <i> · by {room.nameOf(one.answered_by ?? "")}</i>
            </span>
            <button type="button" class="quiet small" onClick={() => void room.attention.act({ op: "revoke", approval_id: one.approval_id }).catch(complain)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A folder by its end: of a long path that tells which it is; the whole stands in the title. */
export function tail(folder: string, most = 40): string {
  if (folder.length <= most) return folder;
  const parts = folder.split("/");
  let kept = parts.pop()!;
  while (parts.length > 1 && kept.length + parts.at(-1)!.length + 3 <= most) kept = `${parts.pop()}/${kept}`;
  return `…/${kept}`;
}
