/** The personal agent in the room: its cards in the strip above the talk, and its views in place of a room's. */

import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import { agentAddress, agentRoute } from "../../state/agent_route";
import { lineState } from "../../state/hub";
import { drawer } from "../../state/ui";
import { Icon } from "../icons";
import { Connection } from "../sidebar";
import { Card, Gone } from "./cards";
import { AgentView, Tabs } from "./views";

/** Only the oldest question is whole here: the talk below stays in sight. */
export function AgentStrip({ state }: { state: AgentState }): VNode {
  const [first, ...rest] = state.questions.value ?? [];
  return (
    <section class="approvals agent-strip" aria-label="Your agent asks you">
      {state.closed.value.map((closed) => (
        <Gone key={closed.question.question_id} state={state} closed={closed} />
      ))}
      {first && <Card key={first.question_id} state={state} one={first} />}
      {rest.length > 0 && (
        <a class="more-asks" href={agentAddress("questions")}>
          {rest.length === 1 ? "One more question waits" : `${rest.length} more questions wait`}
        </a>
      )}
    </section>
  );
}

export function AgentRoom({ state }: { state: AgentState }): VNode {
  const at = agentRoute.value ?? { view: "questions" as const, detail: null };
  useEffect(() => void state.look("me"), [state]);
  return (
    <>
      <header class="head">
        <button type="button" class="tool only-phone" aria-label="Open the sidebar" onClick={() => (drawer.value = true)}>
          <Icon name="menu" />
        </button>
        <div class="head-title">
          <h1>Your agent</h1>
          <p class="soft">private to you</p>
        </div>
        <Tabs state={state} at={at} />
        {lineState.value !== "online" && <Connection />}
      </header>
      <AgentView state={state} at={at} />
    </>
  );
}
