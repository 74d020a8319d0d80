/**
 * People in charge: what an agent asks permission for, as cards that one tap answers.
 *
 * Two sorts: a message that would tell something private, and what the agent's own program wants to do (run a
 * command, change files). The second can be allowed once, for the turn, or for a pattern that the card shows.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import { showEvent } from "../state/actions";
import type { Approval } from "../state/attention";
import { complain, me } from "../state/hub";
import type { Room } from "../state/room";
import { wantedCard } from "../state/ui";
import { plain } from "../text/agent";
import { agoOf, fullOf } from "../text/time";
import { visible } from "../text/visible";
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
        <Request room={room} one={one} />
        <b>{room.nameOf(one.session)}</b> {ASKS}
        <p>{visible(one.says, true) || "Open its last message to see what it is about."}</p>
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

/** Who asked for it, with the way to their message. */
function Request({ room, one }: { room: Room; one: Approval }): VNode {
  return (
    <p class="request">
      <bdi>{requestText(room, one)}</bdi>{" "}
      {one.event_id && one.request && (
        <button type="button" class="link" onClick={() => void showEvent(room.id, one.event_id!).catch(complain)}>
          Show the message
        </button>
      )}
    </p>
  );
}

const ASKS = "asks for permission";
const VERBS: Record<string, string> = { command: "wants to run a command", edit: "wants to change files" };

/** On a phone one card is whole at a time: those behind it show who wants what, until they are opened. */
function Permission({ room, one, isFirst }: { room: Room; one: Approval; isFirst: boolean }): VNode {
  const [isOpened, setOpened] = useState(false);
  const card = useRef<HTMLElement>(null);
  const isWanted = wantedCard.value === one.approval_id;
  useEffect(() => {
    if (!isWanted) return;
    wantedCard.value = null;
    setOpened(true);
    card.current?.scrollIntoView({ block: "nearest" });
    card.current?.querySelector<HTMLElement>(".wanted")?.focus({ preventScroll: true });
  }, [isWanted]);
  const details = visible(one.details ?? "", true);
  const covered = visible(one.covers ?? "");
  const [refusing, setRefusing] = useState(false);
  const [reason, setReason] = useState("");
  const allow = (scope: Scope) => answer(room, { op: "approve", approval_id: one.approval_id, scope });
  const refuse = () => answer(room, { op: "refuse", approval_id: one.approval_id, reason: reason.trim() });
  return (
    <article class={isFirst || isOpened ? "approval permission" : "approval permission folded"} aria-label={`${room.nameOf(one.session)} ${VERBS[one.kind!] ?? ASKS}`} ref={card}>
      <header>
        <Avatar room={room} principal={one.session} />
        <div>
          <Request room={room} one={one} />
          <b>{room.nameOf(one.session)}</b> {VERBS[one.kind!] ?? ASKS}
          {one.worktree && `, in worktree ${visible(one.worktree)}`}
          {one.directory && <p class="place" title={visible(one.directory)}>in {tail(visible(one.directory))}</p>}
        </div>
        <button type="button" class="quiet small unfold" onClick={() => setOpened(true)}>
          Show
        </button>
        <Since at={one.asked_at} />
      </header>
      <Command text={one.title ?? ""} />
      {details && (isDiff(details) ? <Diff text={details} label="The change" /> : <p class="details">{details}</p>)}
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
          {one.may_allow !== false && (
            <button type="button" class="primary" onClick={() => allow("once")}>
              Allow once
            </button>
          )}
          {one.covers && one.may_allow !== false && (
            <>
              <button type="button" class="quiet" onClick={() => allow("turn")}>
                For this turn
              </button>
              <button type="button" class="quiet" onClick={() => allow("always")} aria-description={`Always covers ${covered}`}>
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
        {one.may_allow === false ? (
          "You asked for this yourself: somebody else has to allow it."
        ) : one.covers ? (
          <>
            “This turn” and “Always” cover <b>{covered}</b> for whoever asked, and nothing wider.
          </>
        ) : (
          "This can be allowed once, and no further."
        )}
      </p>
    </article>
  );
}

/** Since when it waits; there is no end to that. */
function Since({ at }: { at: string }): VNode {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(clock);
  }, []);
  return (
    <span class="left" title={`Asked ${fullOf(at)}. It waits until somebody answers.`}>
      {agoOf(at, now)}
    </span>
  );
}

/** Who asked the agent, in their words. */
export function requestText(room: Room, one: Approval): string {
  const people = (one.asked_by.length > 0 ? one.asked_by : ["user"]).map((who) => (who === me.value ? "You" : room.nameOf(who)));
  const asked = `${people.join(", ")} asked ${room.nameOf(one.session)}`;
  const words = one.request ? plain(one.request.text) : "";
  return one.request && words !== "" ? `${asked} (#${one.request.seq}: “${words}”).` : `${asked}.`;
}

/** What an agent wants, for a list. */
export function shortWish(one: Approval): string {
  if ((one.kind ?? "send") === "send") return "wants to tell something private";
  return `${SHORT[one.kind!] ?? "wants to"}: ${plain(one.title ?? "", 60)}`;
}

const SHORT: Record<string, string> = { command: "wants to run", edit: "wants to change" };

/** Letters that are written from right to left. */
const TURNED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A command word by word, from left to right: a word that is read from the right moves none beside it. */
function Command({ text }: { text: string }): VNode {
  return (
    <pre class="wanted" dir="ltr" tabIndex={0} aria-label="What it wants">
      {visible(text, true)
        .split(/(\s+)/)
        .map((word, place) => (TURNED.test(word) ? <bdi key={place}>{word}</bdi> : word))}
    </pre>
  );
}

/** What an agent was allowed for good, each with its way back. */
export function Granted({ room, agent }: { room: Room; agent?: string }): VNode | null {
  const all = room.attention.permissions.value.filter((one) => agent === undefined || one.session === agent);
  if (all.length === 0) return null;
  return (
    <section class="granted" aria-label="Permanent permissions">
      <h3>Permanent permissions</h3>
      <ul>
        {all.map((one) => (
          <li key={one.approval_id}>
            <span>
              <b>{room.nameOf(one.session)}</b>: {visible(one.covers ?? "")}
              <i>
                {" "}
                · asked by {(one.asked_by ?? ["user"]).map((who) => room.nameOf(who)).join(", ")} · allowed by {room.nameOf(one.answered_by ?? "")}
              </i>
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
