/** The whole page: sign-in, or the room with its three columns. */

import { lazy } from "./lazy";
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import type { VNode } from "preact";
import { agent, announcement, isOwner, lineState, loaded, me, requests, room, rooms, signIns, toasts, totalUnread } from "../state/hub";
import { agentRoute } from "../state/agent_route";
import type { Room } from "../state/room";
import { address, route, type View } from "../state/router";
import { doorstep } from "../state/sign_in";
import { dialog, drawer, help, jumpTo, palette, panel, relaying, selected } from "../state/ui";
import { Approvals } from "./approvals";
import { Avatar } from "./avatar";
import { Dialogs } from "./dialogs";
import { Door } from "./door";
import { Icon, type IconName } from "./icons";
import { listen } from "./keys";
import { Palette } from "./palette";
import { PanelView } from "./panels";
import { Connection, Logo, Sidebar } from "./sidebar";
import { Talk } from "./talk";

const Ledger = lazy(() => import("./ledger").then((found) => found.Ledger));
const Traces = lazy(() => import("./traces").then((found) => found.Traces));
const Dashboard = lazy(() => import("./dashboard").then((found) => found.Dashboard));
const Agents = lazy(() => import("./agents").then((found) => found.Agents));
const AgentRoom = lazy(() => import("./agent/room").then((found) => found.AgentRoom));
const AgentStrip = lazy(() => import("./agent/room").then((found) => found.AgentStrip));
const People = lazy(() => import("./people").then((found) => found.People));

/** A panel belongs to its room: a thread that followed into another would take replies that nobody finds again. */
let panelIn = route.peek().groupId;
effect(() => {
  const now = route.value.groupId;
  if (now === panelIn) return;
  panelIn = now;
  if (panel.peek()?.kind !== "search") panel.value = null;
});

export function App(): VNode {
  useEffect(listen, []);
  if (doorstep.value !== null || signIns.value.every((one) => one.hasEnded)) return <Door />;
  const here = room.value;
  const open = panel.value;
  return (
    <div class={`shell${open && here && !agentRoute.value ? " with-panel" : ""}`}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The part behind # says where one is: following it would leave the room.
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        To the conversation
      </a>
      {drawer.value && <button type="button" class="scrim" aria-label="Close the sidebar" onClick={() => (drawer.value = false)} />}
      <Sidebar />
      <main id="main" class="main" tabIndex={-1}>
        {agentRoute.value && agent.value ? <AgentRoom state={agent.value} /> : here ? <Here key={here.id} room={here} /> : <Nowhere />}
      </main>
      {open && here && !agentRoute.value && <PanelView open={open} room={here} />}
      {palette.value && <Palette />}
      {(dialog.value || relaying.value || help.value) && <Dialogs />}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map((one) => (
          <p key={one.id} class={`toast ${one.tone}`}>
            {one.text}
          </p>
        ))}
      </div>
      <p class="hidden" role="log" aria-live="polite">
        {announcement.value}
      </p>
    </div>
  );
}

const VIEWS: { view: View; label: string; icon: IconName }[] = [
  { view: "talk", label: "Talk", icon: "talk" },
  { view: "people", label: "People", icon: "people" },
  { view: "agents", label: "Agents", icon: "spark" },
  { view: "traces", label: "Traces", icon: "tree" },
  { view: "ledger", label: "Ledger", icon: "ledger" },
  { view: "dashboard", label: "Dashboard", icon: "chart" },
];

function Here({ room: here }: { room: Room }): VNode {
  const at = route.value;
  const parties = at.view === "dm" && at.detail ? at.detail.split(",") : undefined;
  useEffect(() => {
    if (at.view === "talk" && at.detail && /^\d+$/.test(at.detail)) jumpTo(here.id, Number(at.detail));
  }, [at.view, at.detail]);
  // Before the history takes up a jump, which may select a message.
  useLayoutEffect(() => {
    selected.value = null;
    void here.attention.refreshAgents();
  }, [at.view, at.detail, here]);
  return (
    <>
      <Head room={here} parties={parties} />
      {(at.view === "talk" || at.view === "dm") && (
        <>
          <Approvals room={here} />
          {agent.value && agent.value.waiting.value + agent.value.closed.value.length > 0 && <AgentStrip state={agent.value} />}
          <Talk room={here} place={{ groupId: here.id, ...(parties && { parties }) }} autoFocus={matchMedia("(hover: hover)").matches} />
        </>
      )}
      <>
        {at.view === "ledger" && <Ledger room={here} />}
        {at.view === "traces" && <Traces room={here} />}
        {at.view === "dashboard" && <Dashboard room={here} />}
        {at.view === "agents" && <Agents room={here} />}
        {at.view === "people" && <People room={here} />}
      </>
    </>
  );
}

function Head({ room: here, parties }: { room: Room; parties?: string[] }): VNode {
  const { title, actors } = here.group.value;
  const owed = here.owed.value.length + here.notices.value.length;
  const elsewhere = totalUnread.value - (parties ? 0 : here.unreadHere.value);
  const asked = requests.value.length;
  const others = parties?.filter((one) => one !== me.value);
  const online = actors.filter((one) => here.attention.agents.value.some((known) => known.actor_id === one.actor_id && known.online)).length;
  return (
    <header class="head">
      <button type="button" class="tool only-phone" aria-label={`Open the sidebar${elsewhere > 0 ? `, ${elsewhere} unread there` : ""}${asked > 0 ? `, ${asked} waiting for your decision` : ""}`} onClick={() => (drawer.value = true)}>
        <Icon name="menu" />
        {elsewhere + asked > 0 && <span class={asked > 0 ? "badge asks" : "badge"} />}
      </button>
      {others && <Avatar room={here} principal={others[0] ?? me.value} />}
      <div class="head-title">
        <h1>{others ? others.map((one) => here.nameOf(one)).join(", ") : title}</h1>
        <p class="soft">
          {others ? (
            <>private · in {title}</>
          ) : (
            <>
              {actors.length} {actors.length === 1 ? "agent" : "agents"}
              {online > 0 && `, ${online} online`} · {here.group.value.people.length + 1} {here.group.value.people.length === 0 ? "person" : "people"}
            </>
          )}
        </p>
      </div>
      <nav class="views" aria-label="Views of this room">
        {VIEWS.map((one) => (
          <a
            key={one.view}
            href={address({ groupId: here.id, view: one.view, detail: null })}
            aria-current={route.value.view === one.view ? "page" : undefined}
            title={one.label}
          >
            <Icon name={one.icon} size={17} />
            <span>{one.label}</span>
          </a>
        ))}
      </nav>
      <div class="head-tools">
        {owed > 0 && (
          <button type="button" class="tool asks" title="Waiting for you" aria-label={`${owed} waiting for your acknowledgement`} onClick={() => (panel.value = { kind: "owed" })}>
            <Icon name="bell" />
            <span class="badge asks">{owed}</span>
          </button>
        )}
        <button type="button" class="tool" title="Search (/)" aria-label="Search messages" onClick={() => (panel.value = { kind: "search" })}>
          <Icon name="search" />
        </button>
      </div>
      {lineState.value !== "online" && <Connection />}
    </header>
  );
}

function Nowhere(): VNode {
  if (!loaded.value) {
    return (
      <div class="nowhere" aria-busy="true">
        <Connection />
      </div>
    );
  }
  return (
    <div class="nowhere">
      <Logo size={44} />
      <h1>{rooms.value.length === 0 ? "No room yet" : "Choose a room"}</h1>
      <p>A room holds people and agents, and remembers everything said in it.</p>
      {isOwner.value && (
        <button type="button" class="primary" onClick={() => (dialog.value = "group")}>
          Open a room
        </button>
      )}
      <button type="button" class="quiet only-phone" onClick={() => (drawer.value = true)}>
        Show rooms
      </button>
    </div>
  );
}
