/** What the agent may share: three tiers, for everybody or for one person alone; and the receipts of what it did share. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import type { Disclosure, Permissions as Policy } from "../../net/agent_operations";
import { reasonOf } from "../../net/agent";
import { agentAddress } from "../../state/agent_route";
import { bareAddress, basisText, fieldName, nameIn, own, placeText, plain, valueText } from "../../text/agent";
import { clockOf, dayOf, fullOf } from "../../text/time";
import { Empty, Face, failed, Long } from "./parts";

export type Level = "always" | "ask" | "never";
const LEVELS: [Level, string, string][] = [
  ["always", "Always", "goes without asking"],
  ["ask", "Ask me", "waits for your yes"],
  ["never", "Never", "stays, whatever is said"],
];

/** The level of each field, for everybody or with what holds for one alone on top. */
export function levels(policy: Policy, who: string): [string, Level, boolean][] {
  const base = new Map<string, Level>([
    ...policy.always_share.map((one): [string, Level] => [one, "always"]),
    ...policy.ask_first.map((one): [string, Level] => [one, "ask"]),
    ...policy.never_share.map((one): [string, Level] => [one, "never"]),
  ]);
  const held = own(policy.overrides, who);
  const alone = new Map<string, Level>([
    ...(held?.promote_to_always_share ?? []).map((one): [string, Level] => [one, "always"]),
    ...(held?.restrict_to_never_share ?? []).map((one): [string, Level] => [one, "never"]),
  ]);
  return [...new Set([...base.keys(), ...alone.keys()])].map((field) => [field, alone.get(field) ?? base.get(field) ?? "ask", alone.has(field)]);
}

export function Permissions({ state }: { state: AgentState }): VNode {
  useEffect(() => {
    void state.look("permissions");
    void state.look("contacts");
  }, [state]);
  const [who, setWho] = useState("");
  const [fault, setFault] = useState("");
  const [sure, setSure] = useState<{ field: string; level: Level } | null>(null);
  const policy = state.permissions.value;
  const set = (field: string, level: Level, confirmed = false) =>
    state
      .call("permissions", { field, level, counterpart: who, confirmed })
      .then((now) => {
        state.permissions.value = now;
        setFault("");
        setSure(null);
      })
      .catch((error: unknown) => {
        if (reasonOf(error) === "confirmation_needed") setSure({ field, level });
        else setFault(failed(error));
      });
  const people = new Set([...(state.contacts.value ?? []).filter((one) => !one.blocked).map((one) => one.address), ...Object.keys(policy?.overrides ?? {})]);
  return (
    <div class="page agent-page">
      <div class="page-head">
        <h2>What may be shared</h2>
        <div class="page-tools">
          <select aria-label="With whom" value={who} onChange={(event) => setWho(event.currentTarget.value)}>
            <option value="">with everybody</option>
            {[...people].map((one) => (
              <option key={one} value={one}>
                with {bareAddress(one)} alone
              </option>
            ))}
          </select>
        </div>
      </div>
      <p class="fine">“Always” {LEVELS[0]![2]}, “Ask me” {LEVELS[1]![2]}, “Never” {LEVELS[2]![2]}.</p>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
      {policy && (
        <ul class="tiers">
          {levels(policy, who).map(([field, level, alone]) => (
            <li key={field}>
              <span class="tier-name">
                {fieldName(field)}
                {alone && <span class="state-tag still">for {nameIn(who)} alone</span>}
                <code>{plain(field, 60)}</code>
              </span>
              <span class="segments" role="radiogroup" aria-label={fieldName(field)}>
                {LEVELS.map(([value, text]) => (
                  <label key={value} class={level === value ? `segment on level-${value}` : "segment"}>
                    <input type="radio" name={`tier-${field}`} checked={level === value} onChange={() => void set(field, value)} />
                    {text}
                  </label>
                ))}
              </span>
              {sure?.field === field && <Sure field={field} level={sure.level} yes={() => void set(field, sure.level, true)} no={() => setSure(null)} />}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** What was never shared is opened by its name, typed: a slip of the hand does not. */
export function Sure({ field, level, yes, no }: { field: string; level: Level; yes: () => void; no: () => void }): VNode {
  const [typed, setTyped] = useState("");
  return (
    <form
      class="unfolded"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() === field) yes();
      }}
    >
      <label>
        This was never shared. Type <code>{plain(field, 60)}</code> to make it “{level === "always" ? "Always" : "Ask me"}”.
        <input value={typed} autocomplete="off" spellcheck={false} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      <button type="submit" class="danger" disabled={typed.trim() !== field}>
        Change it
      </button>
      <button type="button" class="quiet" onClick={no}>
        Leave it
      </button>
    </form>
  );
}

/** What left together, newest first. */
function packets(found: Disclosure[]): Disclosure[][] {
  const by = new Map<string, Disclosure[]>();
  for (const one of found) by.set(one.packet_id, [...(by.get(one.packet_id) ?? []), one]);
  return [...by.values()];
}

export function Receipts({ state }: { state: AgentState }): VNode {
  useEffect(() => void state.look("disclosures"), [state]);
  const [who, setWho] = useState("");
  const all = state.disclosures.value;
  const people = [...new Set(all?.map((one) => one.to) ?? [])];
  const found = all?.filter((one) => who === "" || one.to === who) ?? [];
  return (
    <div class="page agent-page">
      <div class="page-head">
        <h2>What has left, and what allowed it</h2>
        {people.length > 1 && (
          <select aria-label="To whom" value={who} onChange={(event) => setWho(event.currentTarget.value)}>
            <option value="">to everybody</option>
            {people.map((one) => (
              <option key={one} value={one}>
                to {bareAddress(one)}
              </option>
            ))}
          </select>
        )}
      </div>
      {all?.length === 0 && <Empty>Nothing has left.</Empty>}
      <Long of={packets(found)} label="Receipts">
        {(all) => {
          const one = all[0]!;
          return (
            <li key={one.packet_id} class="receipt">
              <Face address={one.to} />
              <div>
                <p>
                  <b>{nameIn(one.to)}</b>{" "}
                  <span class="soft">
                    <time dateTime={one.at} title={fullOf(one.at)}>
                      {dayOf(one.at)} {clockOf(one.at)}
                    </time>{" "}
                    · <a href={agentAddress("threads", one.thread_id)}>its thread</a>
                  </span>
                </p>
                <dl>
                  {all.map((each) => (
                    <div key={each.field}>
                      <dt>{fieldName(each.field)}</dt>
                      <dd>
                        <bdi class="value">{each.value === null || each.value === undefined ? "forgotten" : valueText(each.value)}</bdi>
                        <span class="soft">
                          {" "}
                          · {basisText(each.basis)}
                          {each.via ? ` ${placeText(each.via)}` : ""}
                        </span>
                      </dd>
                    </div>
                  ))}
                </dl>
              </div>
            </li>
          );
        }}
      </Long>
    </div>
  );
}
