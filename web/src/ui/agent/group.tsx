/** A group: who takes part, which times suit how many, who stands in the way, when it stands, and what its coordinator's owner may do. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Participant, WholeGroup } from "../../net/agent_operations";
import type { AgentState } from "../../state/agent";
import { agentAddress } from "../../state/agent_route";
import { namesOf, nameIn, own, plain } from "../../text/agent";
import { Card } from "./cards";
import { Face, failed } from "./parts";

const STATUS: Record<string, { text: string; tone: string }> = {
  awaiting_response: { text: "not answered yet", tone: "asks" },
  context_received: { text: "has answered", tone: "works" },
  left_out: { text: "it goes on without them", tone: "still" },
  withdrawn: { text: "wants no part in it", tone: "still" },
};
const GONE = new Set(["left_out", "withdrawn"]);
const MORE: Record<string, string> = { time_windows: "free time", location_preference: "choice of area" };

/** What a participant has done so far; only its coordinator knows. */
function standing(found: WholeGroup, one: Participant): { text: string; tone: string } {
  if (one.declined) return { text: "said no", tone: "bad" };
  if (one.confirmed) return { text: "said yes", tone: "good" };
  if (one.status === "awaiting_response" && found.asked_to_bend.includes(one.agent)) return { text: "asked to bend", tone: "asks" };
  return own(STATUS, one.status) ?? { text: plain(one.status, 40).replaceAll("_", " "), tone: "still" };
}

export function GroupPart({ state, id }: { state: AgentState; id: string }): VNode | null {
  const [found, setFound] = useState<WholeGroup | null>(null);
  const [fault, setFault] = useState("");
  const look = () =>
    state
      .call("group", { thread_id: id })
      .then((group) => {
        setFound(group);
        setFault("");
      })
      .catch((error: unknown) => setFault(failed(error)));
  // Any thread of it may have moved it.
  useEffect(() => void look(), [id, state.stirred.value.count, state.line.value === "online"]);
  if (fault !== "") return <p class="refusal">{fault}</p>;
  if (found === null) return null;
  const asked = found.coordinates ? (state.questions.value ?? []).filter((one) => one.thread_id === id) : [];
  const present = found.participants.filter((one) => !GONE.has(one.status)).length;
  return (
    <>
      {asked.map((one) => (
        <Card key={one.question_id} state={state} one={one} />
      ))}
      <div class="facts group">
        <People found={found} />
        {found.coordinates && <Times found={found} people={present} />}
      </div>
      {found.coordinates && state.offers("transfer") && <HandOver state={state} found={found} done={look} />}
    </>
  );
}

function People({ found }: { found: WholeGroup }): VNode {
  return (
    <section aria-label="Who takes part">
      <h3>Who takes part</h3>
      <ul class="plain group-people">
        {found.participants.map((one) => {
          const mine = one.agent === found.coordinator;
          const tag = !mine || one.confirmed || one.declined ? standing(found, one) : null;
          return (
            <li key={one.agent} class={GONE.has(one.status) ? "gone-from" : undefined}>
              <Face address={one.agent} />
              <span class="who">
                {one.thread_id ? <a href={agentAddress("threads", one.thread_id)}>{nameIn(one.agent)}</a> : nameIn(one.agent)}
                {mine && <span class="soft"> coordinates</span>}
              </span>
              {found.coordinates && tag !== null && <span class={`state-tag ${tag.tone}`}>{tag.text}</span>}
            </li>
          );
        })}
      </ul>
      <p class="fine">{howItEnds(found)}</p>
      <p class="fine">
        Everybody in it sees this number for the list of people: <code>{plain(found.digest, 20)}</code>. Another number is another list.
      </p>
    </section>
  );
}

function howItEnds({ confirmation }: WholeGroup): string {
  if (confirmation.mode === "quorum") return `It stands once ${confirmation.quorum} have said yes.`;
  if (confirmation.mode === "sequential") return `They say yes one after the other: ${(confirmation.order ?? []).map(nameIn).join(", then ")}.`;
  return "It stands once everybody has said yes.";
}

function Times({ found, people }: { found: WholeGroup; people: number }): VNode {
  const binding = found.binding;
  return (
    <section aria-label="Which times suit how many">
      <h3>Which times suit how many</h3>
      {found.windows.length === 0 ? (
        <p class="soft">Not everybody has answered yet.</p>
      ) : (
        <ol class="plain group-windows">
          {found.windows.map((one) => (
            <li key={one.window}>
              <span class="when">{plain(one.window, 80)}</span>
              <meter min={0} max={people} value={one.available_count} aria-hidden="true" />
              <span class="soft">
                {one.missing.length === 0 ? `all ${one.available_count}` : `${one.available_count} of ${one.available_count + one.missing.length}, without ${namesOf(one.missing)}`}
              </span>
            </li>
          ))}
        </ol>
      )}
      {found.trade_off && <p class="fine">{plain(found.trade_off)}.</p>}
      {binding && (
        <p class="fine binds">
          Most would be gained with more {own(MORE, binding.field) ?? plain(binding.field, 40)} of {nameIn(binding.agent)}
          {found.asked_to_bend.includes(binding.agent) ? ", who alone was asked." : "."}
        </p>
      )}
    </section>
  );
}

/** Offered to those alone who could take it now: what is on the list is not refused. */
function HandOver({ state, found, done }: { state: AgentState; found: WholeGroup; done: () => Promise<unknown> }): VNode | null {
  const [to, setTo] = useState("");
  const [fault, setFault] = useState("");
  if (found.offered_to !== null) {
    return (
      <p class="newcomer" role="status">
        {nameIn(found.offered_to)} is asked to coordinate this, and has ten minutes to say so.
      </p>
    );
  }
  if (found.may_coordinate.length === 0) return null;
  const offer = (event: Event) => {
    event.preventDefault();
    if (!found.may_coordinate.includes(to)) return;
    state
      .call("transfer", { thread_id: found.thread_id, to })
      .then(done)
      .then(() => setFault(""))
      .catch((error: unknown) => setFault(failed(error)));
  };
  return (
    <form class="unfolded hand-over" onSubmit={offer}>
      <label for="hand-over">Somebody else could coordinate. What the others told you was for you: they are asked again.</label>
      <select id="hand-over" value={to} onChange={(event) => setTo(event.currentTarget.value)}>
        <option value="">who?</option>
        {found.may_coordinate.map((one) => (
          <option key={one} value={one}>
            {nameIn(one)}
          </option>
        ))}
      </select>
      <button type="submit" class="quiet" disabled={!found.may_coordinate.includes(to)}>
        Hand it over
      </button>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </form>
  );
}
