/** The left side: rooms, private conversations, people and agents of the room, and who sits here. */

import type { VNode } from "preact";
import { agent, areSeveral, endedWords, forget, isOwner, lineState, me, requests, retryAt, room, rooms, hurry, signedIn, signIns, wasOnline } from "../state/hub";
import { agentAddress, agentRoute } from "../state/agent_route";
import type { Room } from "../state/room";
import { address, go, route } from "../state/router";
import { signOut, theme } from "../state/session";
import { called } from "../state/sign_in";
import { dialog, drawer, help, palette, panel, wantedCard } from "../state/ui";
import { requestText, shortWish } from "./approvals";
import { Avatar, stateOf } from "./avatar";
import { Icon } from "./icons";
import { useEffect, useRef, useState } from "preact/hooks";

export function Sidebar(): VNode {
  const here = room.value;
  return (
    <nav class={drawer.value ? "sidebar open" : "sidebar"} aria-label="Rooms">
      <header class="brand">
        <Logo />
        <b>Tacit</b>
        <button type="button" class="tool" title="Jump to… (Ctrl+K)" aria-label="Jump to a room, person or command" onClick={() => (palette.value = true)}>
          <Icon name="search" />
        </button>
        <button type="button" class="tool only-phone" aria-label="Close the sidebar" onClick={() => (drawer.value = false)}>
          <Icon name="close" />
        </button>
      </header>
      <div class="lists">
        {agent.value && (
          <section>
            <a class="entry agent-entry" href={agentAddress("questions")} aria-current={agentRoute.value ? "page" : undefined} onClick={leave}>
              <Icon name="spark" size={17} />
              <span class="entry-name">Your agent</span>
              {agent.value.waiting.value > 0 && (
                <span class="badge asks">
                  {agent.value.waiting.value}
                  <span class="hidden"> waiting for you</span>
                </span>
              )}
            </a>
          </section>
        )}
        <Requests />
        <section>
          <h2>
            Rooms
            {isOwner.value && (
              <button type="button" class="tool" title="Open a room" aria-label="Open a room" onClick={() => (dialog.value = "group")}>
                <Icon name="plus" size={15} />
              </button>
            )}
          </h2>
          <ul>
            {rooms.value.map((one) => (
              <RoomLink key={one.id} one={one} />
            ))}
            {signIns.value.map((one) => one.hasEnded && <Ended key={one.token} token={one.token} />)}
          </ul>
        </section>
        {here && <Talks here={here} />}
        {here && <Members here={here} />}
      </div>
      <Foot />
    </nav>
  );
}

export function Logo({ size = 22 }: { size?: number }): VNode {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" />
      <path d="M8 11.5h16M16 11.5v11" />
      <circle cx="24" cy="22" r="2.4" />
    </svg>
  );
}

function leave(): void {
  drawer.value = false;
  panel.value = null;
}

function RoomLink({ one }: { one: Room }): VNode {
  const current = agentRoute.value === null && route.value.groupId === one.id && route.value.view !== "dm";
  // The private talk of the room one is in has its own entries and badges below.
  const unread = one.unreadHere.value + (route.value.groupId === one.id ? 0 : one.unreadPrivate.value);
  const owed = one.owed.value.length + one.notices.value.length;
  const asked = requests.value.filter((each) => each.room === one).length;
  const here = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (current) here.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <li ref={here}>
      <a class={unread > 0 ? "entry unread" : "entry"} href={address({ groupId: one.id, view: "talk", detail: null })} aria-current={current ? "page" : undefined} onClick={leave}>
        <span class="hash" aria-hidden="true">
          #
        </span>
        <span class="entry-name">{one.group.value.title}</span>
        {areSeveral.value && <span class="note">as {one.me === "user" ? "owner" : called(one.me)}</span>}
        {asked > 0 && (
          <span class="badge asks" title="Waiting for your decision">
            {asked}
            <span class="hidden"> waiting for your decision</span>
          </span>
        )}
        {owed > 0 && (
          <span class="badge asks" title="Waiting for your acknowledgement">
            {owed}
            <span class="hidden"> acknowledgements asked of you</span>
          </span>
        )}
        {unread > 0 && (
          <span class="badge">
            {unread > 999 ? "999+" : unread}
            <span class="hidden"> unread</span>
          </span>
        )}
      </a>
    </li>
  );
}

/** A sign-in that the hub takes no more: said where its room stood, until the person has seen it. */
function Ended({ token }: { token: string }): VNode {
  return (
    <li class="ended">
      {endedWords(token)}{" "}
      <button type="button" class="link" onClick={() => forget(token)}>
        Dismiss
      </button>
    </li>
  );
}

/** What agents ask of this person, in whichever room: each leads to its card. */
function Requests(): VNode | null {
  if (requests.value.length === 0) return null;
  return (
    <section aria-label="Waiting for your decision">
      <h2>Waiting for your decision</h2>
      <ul>
        {requests.value.map(({ room: where, asked }) => (
          <li key={asked.approval_id}>
            <a
              class="entry unread"
              href={address({ groupId: where.id, view: "talk", detail: null })}
              title={requestText(where, asked)}
              onClick={() => {
                leave();
                wantedCard.value = asked.approval_id;
              }}
            >
              <Avatar room={where} principal={asked.session} size={20} />
              <span class="entry-name">
                {where.nameOf(asked.session)} {shortWish(asked)}
              </span>
              <span class="note">{where.group.value.title}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Talks({ here }: { here: Room }): VNode | null {
  const all = here.conversations.value;
  if (all.length === 0) return null;
  return (
    <section>
      <h2>Direct messages</h2>
      <ul>
        {all.map((one) => {
          const others = one.parties.filter((party) => party !== me.value);
          const detail = [...one.parties].sort().join(",");
          const unread = here.unreadIn(one);
          const current = route.value.view === "dm" && route.value.detail === detail;
          const names = others.map((party) => here.nameOf(party)).join(" · ");
          const overheard = !one.parties.includes(me.value);
          return (
            <li key={detail}>
              <a
                class={unread > 0 ? "entry unread" : "entry"}
                href={address({ groupId: here.id, view: "dm", detail })}
                aria-current={current ? "page" : undefined}
                onClick={leave}
                title={overheard ? "You see this as the owner; you are not part of it" : undefined}
              >
                <Avatar room={here} principal={others[0] ?? me.value} size={20} />
                <span class={overheard ? "entry-name soft" : "entry-name"}>{names || "Notes to yourself"}</span>
                {unread > 0 && <span class="badge">{unread}</span>}
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Open the private conversation with somebody. */
export function talkTo(here: Room, principal: string): void {
  const parties = [me.peek(), principal].sort();
  leave();
  go({ groupId: here.id, view: "dm", detail: parties.join(",") });
}

const STATES = { online: "online", busy: "busy", away: "away", off: "offline" } as const;

function Members({ here }: { here: Room }): VNode {
  const { actors, people } = here.group.value;
  const humans = ["user", ...people.map((one) => one.principal)].filter((one) => one !== me.value);
  const entry = (principal: string, note: string | null) => {
    const state = stateOf(here, principal) ?? "off";
    const owes = here.attention.agents.value.find((one) => one.actor_id === principal)?.owes?.length ?? 0;
    return (
      <li key={principal}>
        <button type="button" class="entry" onClick={() => talkTo(here, principal)} title={`${here.nameOf(principal)} is ${STATES[state]} · write in private`}>
          <Avatar room={here} principal={principal} size={20} />
          <span class="entry-name">{here.nameOf(principal)}</span>
          {note && <span class="note">{note}</span>}
          {owes > 0 && <span class="badge asks" title={`Owes ${owes} ${owes === 1 ? "reply" : "replies"}`}>{owes}</span>}
          <span class="hidden">, {STATES[state]}</span>
        </button>
      </li>
    );
  };
  return (
    <>
      <section>
        <h2>
          Agents
          {isOwner.value && (
            <button type="button" class="tool" title="Add an agent" aria-label="Add an agent" onClick={() => (dialog.value = "agent")}>
              <Icon name="plus" size={15} />
            </button>
          )}
        </h2>
        <ul>
          {actors.map((one) => entry(one.actor_id, one.role === "foreman" ? "foreman" : (one.roles[0] ?? null)))}
          {actors.length === 0 && <li class="nobody">No agents yet</li>}
        </ul>
      </section>
      {(humans.length > 0 || isOwner.value) && (
        <section>
          <h2>
            People
            {isOwner.value && (
              <button type="button" class="tool" title="Invite a person" aria-label="Invite a person" onClick={() => (dialog.value = "person")}>
                <Icon name="plus" size={15} />
              </button>
            )}
          </h2>
          <ul>
            {humans.map((one) => entry(one, null))}
            {humans.length === 0 && <li class="nobody">Nobody else yet</li>}
          </ul>
        </section>
      )}
    </>
  );
}

const THEMES = { system: ["system", "Follows the system"], light: ["sun", "Light"], dark: ["moon", "Dark"] } as const;

function Foot(): VNode {
  const [icon, word] = THEMES[theme.value];
  const turn = () => {
    theme.value = theme.value === "system" ? "light" : theme.value === "light" ? "dark" : "system";
  };
  const here = signedIn.value;
  const where = signIns.value.length < 2 ? "" : me.value === "user" ? " as the owner" : room.value ? ` of ${room.value.group.value.title}` : "";
  return (
    <footer class="foot">
      <Connection />
      <div class="foot-row">
        <span class="me">{me.value === "user" ? "You are the owner" : me.value.replace(/^usr:/, "")}</span>
        <button type="button" class="tool" title={`Colours: ${word}`} aria-label={`Colours: ${word}. Change`} onClick={turn}>
          <Icon name={icon} />
        </button>
        <button type="button" class="tool" title="Keyboard (?)" aria-label="Keyboard shortcuts" onClick={() => (help.value = true)}>
          <span class="key" aria-hidden="true">?</span>
        </button>
        <button type="button" class="tool" title={`Sign out${where}`} aria-label={`Sign out${where}`} onClick={() => here && signOut(here.token)}>
          <Icon name="out" />
        </button>
      </div>
    </footer>
  );
}

export function Connection(): VNode {
  const state = lineState.value;
  const seconds = useCountdown(state === "waiting" ? retryAt.value : 0);
  if (state === "online") {
    return (
      <p class="connection online" role="status">
        <i /> Connected
      </p>
    );
  }
  const text = state === "waiting" ? `The hub is away. Trying again${seconds > 0 ? ` in ${seconds} s` : "…"}` : wasOnline.value ? "Reconnecting…" : "Connecting…";
  return (
    <p class="connection away" role="status">
      <i /> {text}
      {state === "waiting" && (
        <button type="button" class="link" onClick={hurry}>
          Now
        </button>
      )}
    </p>
  );
}

function useCountdown(until: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (until === 0) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return Math.max(0, Math.ceil((until - now) / 1000));
}
