/**
 * What the agent knows of its owner, and the first minute with it: a name, a place, the time zone that the browser knows,
 * and five switches (A2ACP-230, A2ACP-231). Going on without changing anything keeps what a new owner has.
 */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { reasonOf } from "../../net/agent";
import type { AgentState } from "../../state/agent";
import type { Permissions } from "../../net/agent_operations";
import { goAgent } from "../../state/agent_route";
import { fieldName, plain, valueText } from "../../text/agent";
import { failed } from "./parts";
import { type Level, levels, Sure } from "./permissions";

/** The switches of the first minute, each with the fields that it stands for (A2ACP-233). */
export const SWITCHES: { name: string; text: string; fields: string[] }[] = [
  { name: "availability", text: "When you are free", fields: ["general_availability", "specific_availability"] },
  { name: "area", text: "The area you are in", fields: ["general_location_area"] },
  { name: "dietary", text: "What you eat", fields: ["dietary"] },
  { name: "budget", text: "What you would spend", fields: ["budget_range"] },
  { name: "location", text: "Where exactly you are", fields: ["specific_location"] },
];
const LEVELS: [Level, string][] = [
  ["always", "Always"],
  ["ask", "Ask me"],
  ["never", "Never"],
];

/** The zone of this browser, which is where its reader is more often than not. */
export const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export const isNew = (profile: Record<string, unknown> | null): boolean => profile !== null && profile.timezone === undefined;

export function You({ state }: { state: AgentState }): VNode {
  useEffect(() => {
    void state.look("profile");
    void state.look("permissions");
  }, [state]);
  const profile = state.profile.value;
  const policy = state.permissions.value;
  if (profile === null || policy === null) return <div class="page agent-page" aria-busy="true" />;
  return <Form state={state} profile={profile} policy={policy} />;
}

function Form({ state, profile, policy }: { state: AgentState; profile: Record<string, unknown>; policy: Permissions }): VNode {
  const [first] = useState(isNew(profile));
  const [name, setName] = useState(String(profile.name ?? ""));
  const [place, setPlace] = useState(String(profile.general_location_area ?? ""));
  const [zone, setZone] = useState(String(profile.timezone ?? zoneHere()));
  const now = new Map(levels(policy, "").map(([field, level]) => [field, level]));
  const [chosen, setChosen] = useState<Record<string, Level>>({});
  const [fault, setFault] = useState("");
  const [saved, setSaved] = useState(false);
  const [sure, setSure] = useState<{ field: string; level: Level; typed: string[] } | null>(null);
  const of = (one: (typeof SWITCHES)[number]) => chosen[one.name] ?? now.get(one.fields.at(-1)!) ?? "ask";
  const opening = SWITCHES.flatMap((one) => {
    const level = chosen[one.name];
    return level === undefined || level === "never" ? [] : one.fields.filter((field) => now.get(field) === "never").map((field) => ({ field, level }));
  });
  const oneByOne = async (said: Record<string, string>, typed: string[]) => {
    await state.call("profile", { changes: Object.fromEntries(Object.entries(said).map(([key, value]) => [key, value || null])) });
    for (const one of SWITCHES) {
      if (chosen[one.name] === undefined) continue;
      for (const field of one.fields) if (now.get(field) !== chosen[one.name]) await state.call("permissions", { field, level: chosen[one.name], confirmed: typed.includes(field) });
    }
  };
  /** `typed` are the fields that were never shared, and that were opened by their names (A2ACP-124). */
  const save = async (typed: string[] = []) => {
    setFault("");
    setSure(null);
    try {
      const said = { name: name.trim(), general_location_area: place.trim(), timezone: zone.trim() || zoneHere() };
      if (first && state.offers("setup")) await state.call("setup", { save: true, profile: said, switches: chosen, confirmed: opening.length > 0 && opening.every((one) => typed.includes(one.field)) });
      else await oneByOne(said, typed);
      await Promise.all([state.look("profile"), state.look("permissions")]);
      setChosen({});
      setSaved(true);
      if (first) goAgent("questions");
    } catch (error) {
      const next = opening.find((one) => !typed.includes(one.field));
      if (reasonOf(error) === "confirmation_needed" && next !== undefined) setSure({ ...next, typed });
      else setFault(failed(error));
    }
  };
  const choose = (name: string, level: Level) => {
    setChosen({ ...chosen, [name]: level });
    setSure(null);
  };
  const others = Object.entries(profile).filter(([key]) => !["name", "general_location_area", "timezone"].includes(key));
  return (
    <div class="page agent-page you">
      <form
        onInput={() => setSaved(false)}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {first ? (
          <header class="welcome">
            <h2>Hello. Three things, then it can begin.</h2>
            <p class="soft">Your agent arranges things with other people's agents. It tells nobody what you did not allow. All of this can be changed later.</p>
          </header>
        ) : (
          <div class="page-head">
            <h2>What your agent knows of you</h2>
          </div>
        )}
        <div class="you-fields">
          <label>
            What are you called?
            <input value={name} maxLength={80} autocomplete="given-name" placeholder="Anna" onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <label>
            Roughly where are you?
            <input value={place} maxLength={120} placeholder="central Reading" onInput={(event) => setPlace(event.currentTarget.value)} />
          </label>
          <label>
            Your time zone
            <input value={zone} maxLength={60} spellcheck={false} placeholder="Europe/London" onInput={(event) => setZone(event.currentTarget.value)} />
            {zone === zoneHere() && <span class="fine">as this browser says; correct it if you are elsewhere</span>}
          </label>
        </div>
        <fieldset class="switches">
          <legend>What may your agent tell others?</legend>
          <ul class="tiers">
            {SWITCHES.map((one) => (
              <li key={one.name}>
                <span class="tier-name">{one.text}</span>
                <span class="segments" role="radiogroup" aria-label={one.text}>
                  {LEVELS.map(([level, text]) => (
                    <label key={level} class={of(one) === level ? `segment on level-${level}` : "segment"}>
                      <input type="radio" name={`switch-${one.name}`} checked={of(one) === level} onChange={() => choose(one.name, level)} />
                      {text}
                    </label>
                  ))}
                </span>
              </li>
            ))}
          </ul>
        </fieldset>
        {fault !== "" && (
          <p class="refusal" role="alert">
            {fault}
          </p>
        )}
        <div class="ask-choices">
          <button type="submit" class="primary">
            {first ? "Begin" : "Keep this"}
          </button>
          {saved && (
            <span class="fine" role="status">
              Kept.
            </span>
          )}
        </div>
      </form>
      {sure && <Sure key={sure.field} field={sure.field} level={sure.level} yes={() => void save([...sure.typed, sure.field])} no={() => setSure(null)} />}
      {!first && others.length > 0 && (
        <section>
          <h3>Also known</h3>
          <dl class="known">
            {others.map(([key, value]) => (
              <div key={key}>
                <dt>{fieldName(key)}</dt>
                <dd>
                  {valueText(value)}
                  <button type="button" class="link" aria-label={`Forget: ${fieldName(key)}`} onClick={() => void state.call("profile", { changes: { [key]: null } }).then(() => state.look("profile"), (error: unknown) => setFault(failed(error)))}>
                    Forget
                  </button>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {!first && <Tell state={state} />}
    </div>
  );
}

/** One more thing that the agent may know; whether it is shared is another matter. */
function Tell({ state }: { state: AgentState }): VNode {
  const [key, setKey] = useState("dietary");
  const [value, setValue] = useState("");
  const [fault, setFault] = useState("");
  const known = ["dietary", "budget_range", "specific_location", "transport_mode", "event_preferences", "contact_details"];
  return (
    <form
      class="unfolded"
      onSubmit={(event) => {
        event.preventDefault();
        state
          .call("profile", { changes: { [key]: value.trim() } })
          .then(() => {
            setValue("");
            setFault("");
            return state.look("profile");
          })
          .catch((error: unknown) => setFault(failed(error)));
      }}
    >
      <select aria-label="What about you" value={key} onChange={(event) => setKey(event.currentTarget.value)}>
        {known.map((one) => (
          <option key={one} value={one}>
            {fieldName(one)}
          </option>
        ))}
      </select>
      <input aria-label={fieldName(key)} value={value} maxLength={500} placeholder={key === "dietary" ? "vegetarian" : ""} onInput={(event) => setValue(event.currentTarget.value)} />
      <button type="submit" class="quiet" disabled={value.trim() === ""}>
        Tell your agent
      </button>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {plain(fault)}
        </p>
      )}
    </form>
  );
}
