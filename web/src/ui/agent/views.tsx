/** The personal agent's views behind one row of tabs, the same on its own page and in the room. */

import type { VNode } from "preact";
import type { AgentState } from "../../state/agent";
import { agentAddress, type AgentRoute, type AgentView } from "../../state/agent_route";
import { Icon, type IconName } from "../icons";
import { Guard } from "./parts";
import { People } from "./people";
import { Permissions, Receipts } from "./permissions";
import { Questions } from "./questions";
import { Spaces } from "./spaces";
import { Threads } from "./threads";
import { You } from "./you";

const VIEWS: { view: AgentView; label: string; icon: IconName; needs: string }[] = [
  { view: "questions", label: "For you", icon: "bell", needs: "pending" },
  { view: "threads", label: "Threads", icon: "talk", needs: "threads" },
  { view: "spaces", label: "Spaces", icon: "copy", needs: "space" },
  { view: "people", label: "People", icon: "people", needs: "contacts" },
  { view: "permissions", label: "Permissions", icon: "key", needs: "permissions" },
  { view: "receipts", label: "Receipts", icon: "ledger", needs: "disclosures" },
  { view: "you", label: "You", icon: "smile", needs: "profile" },
];

export function Tabs({ state, at }: { state: AgentState; at: AgentRoute }): VNode {
  const waiting = state.waiting.value;
  return (
    <nav class="views agent-tabs" aria-label="Your agent">
      {VIEWS.filter((one) => state.offers(one.needs) && (one.view !== "spaces" || state.spaces.value !== null)).map((one) => (
        <a key={one.view} href={agentAddress(one.view)} aria-current={at.view === one.view ? "page" : undefined} title={one.label}>
          <Icon name={one.icon} size={17} />
          <span>{one.label}</span>
          {one.view === "questions" && waiting > 0 && (
            <span class="badge asks">
              {waiting}
              <span class="hidden"> waiting</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

export function AgentView({ state, at }: { state: AgentState; at: AgentRoute }): VNode {
  return (
    <Guard of={`${at.view}/${at.detail ?? ""}`} what="This view">
      <View state={state} at={at} />
    </Guard>
  );
}

function View({ state, at }: { state: AgentState; at: AgentRoute }): VNode {
  switch (at.view) {
    case "threads":
      return <Threads state={state} at={at.detail} />;
    case "spaces":
      return <Spaces state={state} at={at.detail} />;
    case "people":
      return <People state={state} />;
    case "permissions":
      return <Permissions state={state} />;
    case "receipts":
      return <Receipts state={state} />;
    case "you":
      return <You state={state} />;
    default:
      return <Questions state={state} at={at.detail} />;
  }
}
