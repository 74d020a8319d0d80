/**
 * The agent's questions as cards, one for each kind. A card shows the whole of what is asked before it can be answered;
 * what one has begun to say in it is kept; silence is no answer, so nothing here runs out.
 */

import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { AgentState, Closed } from "../../state/agent";
import type { Alternative, ConsentField, Proposal, Question } from "../../net/agent_operations";
import { consentOf, isEmptied, isOn, outgoing, writtenOf } from "../../state/consent";
import { change, draftOf } from "../../state/drafts";
import { bareAddress, dayText, deedText, fieldName, hoursOf, hoursText, isWindows, nameIn, namesOf, own, placeText, plain, theirField, valueText, type Window } from "../../text/agent";
import { agoOf, dayOf, fullOf } from "../../text/time";
import { Icon } from "../icons";
import { Face, failed, Guard, Said } from "./parts";

interface Asked {
  state: AgentState;
  one: Question;
  /** Answer; the card stays, with the reason, when it was not taken. */
  say: (said: Record<string, unknown>) => void;
  busy: boolean;
}

const TITLES: Record<string, (name: string) => string> = {
  consent: (name) => `May this go to ${name}?`,
  checkpoint: (name) => `Do you agree, with ${name}?`,
  escalation: (name) => `You and ${name} have to decide`,
  first_contact: (name) => `${name} writes for the first time`,
  promotion: (name) => `Always share this with ${name}?`,
  scope: (name) => `${name} wants something else`,
  space_invite: (name) => `${name} invites you into a shared space`,
  space_write: (name) => `May ${name} know this, in a shared space?`,
  space_member: (name) => `${name} is new in a shared space of yours`,
  failure: (name) => `Something was left behind, with ${name}`,
};

const BODIES: Record<string, (asked: Asked) => VNode> = {
  consent: Consent,
  checkpoint: Checkpoint,
  escalation: Escalation,
  first_contact: FirstContact,
  promotion: Promotion,
  scope: Scope,
  failure: Failure,
  space_invite: SpaceInvite,
  space_write: SpaceFields,
  space_member: SpaceFields,
};

interface CardProps {
  state: AgentState;
  one: Question;
  level?: "h2" | "h3";
}

export function Card(props: CardProps): VNode {
  return (
    <Guard of={props.one.question_id} what="A question of your agent's">
      <Whole {...props} />
    </Guard>
  );
}

function Whole({ state, one, level: Heading = "h3" }: CardProps): VNode {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  // The coordinator's own thread of a group has its owner as counterpart: it is about all the others.
  const others = one.group?.part === "hub" ? one.group.others : [one.counterpart];
  const name = namesOf(others);
  const title = one.kind === "escalation" && one.group?.part === "hub" ? `How should it go on with ${name}?` : (own(TITLES, one.kind) ?? ((who: string) => `A question about ${who}`))(name);
  const say = (said: Record<string, unknown>) => {
    setBusy(true);
    setFault("");
    state
      .answer(one, said)
      .catch((error: unknown) => setFault(failed(error)))
      .finally(() => setBusy(false));
  };
  const Body = own(BODIES, one.kind) ?? Unknown;
  const later = draftOf(one.question_id).value.later === true;
  return (
    <article class={`ask kind-${one.kind}${later ? " later" : ""}`} id={`card-${one.question_id}`} aria-label={title} tabIndex={-1}>
      <header>
        {others.slice(0, 1).map((who) => (
          <Face key={who} address={who} />
        ))}
        <div>
          <Heading>{title}</Heading>
          <p class="soft">
            <span class="address">{others.map(bareAddress).join(", ")}</span> ·{" "}
            <time dateTime={one.asked_at} title={fullOf(one.asked_at)}>
              {agoOf(one.asked_at) === "now" ? "just now" : agoOf(one.asked_at)}
            </time>
          </p>
        </div>
        <button type="button" class="quiet small aside" aria-expanded={!later} onClick={() => change(one.question_id, { later: !later })}>
          {later ? "Open" : "Later"}
        </button>
      </header>
      {!later && one.new_contact_text && (
        <p class="newcomer">
          <Icon name="people" size={16} /> {capital(plain(one.new_contact_text))}
        </p>
      )}
      {!later && <Body state={state} one={one} say={say} busy={busy || state.settling.value} />}
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </article>
  );
}

/** The line that a card leaves which was closed from another place. */
export function Gone({ state, closed }: { state: AgentState; closed: Closed }): VNode {
  const name = nameIn(closed.question.counterpart);
  const title = (own(TITLES, closed.question.kind) ?? (() => "A question"))(name);
  return (
    <p class="gone" role="status">
      <Icon name="check" size={16} />
      <span>
        <b>{title}</b> {closed.answered ? `You answered this ${placeText(closed.via)}.` : "This is no longer open."}
      </span>
      <button type="button" class="tool" aria-label="Let go of this line" onClick={() => state.letGo(closed.question.question_id)}>
        <Icon name="close" size={15} />
      </button>
    </p>
  );
}

function Choices({ children }: { children: ComponentChildren }): VNode {
  return <div class="ask-choices">{children}</div>;
}

// Consent, field by field.

const PRIORITIES: Record<string, string> = { required: "needed", helpful: "helpful", nice_to_have: "nice to have" };

function Consent({ one, say, busy }: Asked): VNode {
  const draft = draftOf(one.question_id).value;
  const { chosen, lacking, said } = consentOf(one.fields, draft);
  const turn = (field: ConsentField, on: boolean) => change(one.question_id, { share: { ...draft.share, [field.field]: on } });
  return (
    <>
      <ul class="fields">
        {one.fields.map((field) => (
          <Field
            key={field.field}
            one={one}
            field={field}
            on={isOn(field, draft)}
            turn={(on) => turn(field, on)}
            written={writtenOf(field, draft)}
            write={(value) => change(one.question_id, { values: { ...draft.values, [field.field]: value } })}
          />
        ))}
      </ul>
      <Choices>
        <button type="button" class="primary" disabled={busy || chosen.length === 0 || lacking.length > 0} onClick={() => say({ ...said })}>
          {chosen.length === 0 ? "Share what is on" : one.fields.length === 1 ? "Share it" : chosen.length === one.fields.length ? "Share all of it" : `Share ${chosen.length} of ${one.fields.length}`}
        </button>
        <button type="button" class="quiet" disabled={busy} onClick={() => say({ decline_all: true })}>
          Share nothing
        </button>
      </Choices>
      <p class="fine">What is off stays with you; nobody hears why.{lacking.length > 0 && ` ${fieldName(lacking[0]!.field)}: say what to share.`}</p>
    </>
  );
}

interface FieldProps {
  one: Question;
  field: ConsentField;
  on: boolean;
  turn: (on: boolean) => void;
  written: unknown;
  write: (value: unknown) => void;
}

function Field({ one, field, on, turn, written, write }: FieldProps): VNode {
  const id = `${one.question_id}-${field.field}`;
  const label = fieldName(field.field);
  const [editing, setEditing] = useState(false);
  const only = field.values.length === 1 ? field.values[0] : undefined;
  const shown = written === undefined ? only : outgoing(written);
  const open = editing || field.values.length !== 1;
  return (
    <li class={on ? "field-row on" : "field-row"}>
      <label class="switch" for={id}>
        <input id={id} type="checkbox" role="switch" checked={on} onChange={(event) => turn(event.currentTarget.checked)} />
        <span class="track" aria-hidden="true" />
        <span class="field-label">{label}</span>
        {!field.ticked && <span class={`priority ${field.priority}`}>{own(PRIORITIES, field.priority) ?? plain(field.priority, 20)}</span>}
      </label>
      <div class="field-value">
        {open ? (
          <Editor id={id} label={label} field={field} written={written} write={write} done={field.values.length === 1 ? () => setEditing(false) : undefined} />
        ) : (
          <>
            {isWindows(shown) ? (
              <ul class="windows">
                {shown.map((slot) => (
                  <li key={slot.date + slot.time}>
                    <b>{dayText(slot.date)}</b> {hoursText(slot.time, slot.date, slot.timezone)}
                  </li>
                ))}
              </ul>
            ) : isEmptied(shown) ? (
              <span class="value soft">nothing</span>
            ) : (
              <bdi class="value">{valueText(shown)}</bdi>
            )}
            <button type="button" class="link" onClick={() => setEditing(true)} aria-label={`Change what is shared for: ${label}`}>
              Change
            </button>
          </>
        )}
      </div>
      {field.own === true ? <p class="fine">{plain(field.reason)}</p> : <Said by={`${nameIn(one.counterpart)}'s agent`} text={field.reason} quiet />}
    </li>
  );
}

function Editor({ id, label, field, written, write, done }: { id: string; label: string; field: ConsentField; written: unknown; write: (value: unknown) => void; done: (() => void) | undefined }): VNode {
  const only = field.values.length === 1 ? field.values[0] : undefined;
  if (isWindows(only)) return <Windows known={only} written={Array.isArray(written) && written.length === only.length ? written : only} write={write} done={done} />;
  return (
    <div class="editor">
      {field.values.length > 1 && (
        <div class="suggested" role="group" aria-label={`What your agent suggests for: ${label}`}>
          {field.values.map((value) => (
            <button type="button" class={JSON.stringify(written) === JSON.stringify(value) ? "chip-button on" : "chip-button"} aria-pressed={JSON.stringify(written) === JSON.stringify(value)} onClick={() => write(value)}>
              {valueText(value)}
            </button>
          ))}
        </div>
      )}
      <input
        aria-labelledby={`${id}-l`}
        value={typeof written === "string" ? written : written === undefined ? (typeof only === "string" ? only : only === undefined ? "" : valueText(only)) : valueText(written)}
        maxLength={2000}
        placeholder={field.values.length === 0 ? "Your agent does not know it" : "Something else"}
        onInput={(event) => write(event.currentTarget.value)}
      />
      <span class="hidden" id={`${id}-l`}>
        What to share: {label}
      </span>
      {done && (
        <button type="button" class="quiet small" onClick={done}>
          Done
        </button>
      )}
    </div>
  );
}

/** Times one is free: each can be left out or made shorter; the days and offsets stay as the calendar said. */
function Windows({ known, written, write, done }: { known: Window[]; written: (Window | null)[]; write: (value: unknown) => void; done: (() => void) | undefined }): VNode {
  const set = (place: number, next: Window | null) => write(written.map((slot, at) => (at === place ? next : slot)));
  return (
    <div class="editor windows-editor">
      {known.map((slot, place) => {
        const now = written[place] ?? null;
        const hours = now && hoursOf(now.time);
        const move = (part: "from" | "to", value: string) => {
          if (hours === null || value === "") return;
          const next = { ...hours, [part]: value };
          set(place, { date: slot.date, time: `${next.from}${next.offsets[0]}/${next.to}${next.offsets[1]}` });
        };
        return (
          <div class="window-row" key={slot.date + slot.time}>
            <label>
              <input type="checkbox" checked={now !== null} onChange={(event) => set(place, event.currentTarget.checked ? slot : null)} /> {dayText(slot.date)}
            </label>
            {hours && (
              <>
                <input type="time" aria-label={`${dayText(slot.date)}, from`} value={hours.from} onChange={(event) => move("from", event.currentTarget.value)} />
                <span aria-hidden="true">–</span>
                <input type="time" aria-label={`${dayText(slot.date)}, until`} value={hours.to} onChange={(event) => move("to", event.currentTarget.value)} />
              </>
            )}
          </div>
        );
      })}
      {done && (
        <button type="button" class="quiet small" onClick={done}>
          Done
        </button>
      )}
    </div>
  );
}

// The checkpoint.

const MAIN = -1;

function Checkpoint({ one, say, busy }: Asked): VNode {
  const draft = draftOf(one.question_id).value;
  const proposal = one.proposal!;
  const choice = draft.choice ?? MAIN;
  const ticks = draft.ticks ?? [];
  const needed = proposal.actions.flatMap((action) => (action.tick === null ? [] : [action.tick]));
  const ready = needed.every((tick) => ticks.includes(tick));
  const pick = (number: number) => change(one.question_id, { choice: number });
  const confirm = () => say({ ...(choice === MAIN ? { confirm: true } : { alternative: choice }), ticks });
  const unfold = (part: "counter" | "excuse") => change(one.question_id, { open: draft.open === part ? undefined : part });
  return (
    <>
      <Offers one={one} proposal={proposal} choice={choice} pick={pick} />
      <FromMemory one={one} />
      {proposal.reasoning && (proposal.by === "us" ? <p class="fine">{plain(proposal.reasoning)}</p> : <Said by={`${nameIn(one.counterpart)}'s agent`} text={proposal.reasoning} quiet />)}
      {proposal.actions.length > 0 && (
        <ul class="deeds" aria-label="What happens then">
          {proposal.actions.map((action) => (
            <li key={action.action + action.executor}>
              <Icon name="spark" size={15} />
              <span>
                Then {action.executor === "us" ? "your agent" : `${nameIn(one.counterpart)}'s agent`} {deedText(action.action)}
              </span>
              {action.tick !== null && (
                <label class="tick">
                  <input
                    type="checkbox"
                    checked={ticks.includes(action.tick)}
                    onChange={(event) => change(one.question_id, { ticks: event.currentTarget.checked ? [...ticks, action.tick!] : ticks.filter((tick) => tick !== action.tick) })}
                  />{" "}
                  It cannot be undone, and I want it
                </label>
              )}
            </li>
          ))}
        </ul>
      )}
      <Choices>
        <button type="button" class="primary" disabled={busy || !ready} onClick={confirm}>
          {choice === MAIN ? "Yes, agreed" : "Yes, to this alternative"}
        </button>
        <button type="button" class="quiet" aria-expanded={draft.open === "counter"} disabled={busy} onClick={() => unfold("counter")}>
          Something else…
        </button>
        <button type="button" class="quiet" aria-expanded={draft.open === "excuse"} disabled={busy} onClick={() => unfold("excuse")}>
          An excuse…
        </button>
        <button type="button" class="quiet no" disabled={busy} onClick={() => say({ refuse: true })}>
          No
        </button>
      </Choices>
      {!ready && <p class="fine">Tick what cannot be undone to agree to it.</p>}
      {draft.open === "counter" && <Counter one={one} say={say} busy={busy} />}
      {draft.open === "excuse" && <Excuses one={one} say={say} busy={busy} />}
    </>
  );
}

/** What a proposal rests on that was not said in its thread: from whom it is, and since when. */
function FromMemory({ one }: { one: Question }): VNode | null {
  const rests = (one.about?.remembered ?? []) as { field: string; value: unknown; since: string; told_by: string }[];
  if (rests.length === 0) return null;
  const name = nameIn(one.counterpart);
  return (
    <ul class="fine" aria-label="From memory">
      {rests.map((each) => (
        <li key={each.field}>
          From memory, {theirField(each.field).toLowerCase()}: “<bdi>{valueText(each.value, 160)}</bdi>” ({each.told_by === "you" ? "you noted it" : `as ${name} told`}, {dayOf(each.since)})
        </li>
      ))}
    </ul>
  );
}

function Offers({ one, proposal, choice, pick }: { one: Question; proposal: Proposal; choice: number; pick: (number: number) => void }): VNode {
  const ours = proposal.by === "us";
  if (proposal.alternatives.length === 0) {
    return (
      <div class="offer">
        <Offer of={proposal} ours={ours} />
      </div>
    );
  }
  const all: [number, Alternative][] = [[MAIN, proposal], ...proposal.alternatives.map((other, number): [number, Alternative] => [number, other])];
  return (
    <fieldset class="offers">
      <legend class="hidden">What to agree to</legend>
      {all.map(([number, other]) => (
        <label class={choice === number ? "offer on" : "offer"} key={number}>
          <input type="radio" name={one.question_id} checked={choice === number} onChange={() => pick(number)} />
          <span>
            <Offer of={other} ours={ours} />
            {number !== MAIN && plain(other.reason) !== "" && <Words class="fine" ours={ours} text={other.reason} />}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Words of the proposer: in quotation marks where that is the other side. */
function Words({ class: look, ours, text }: { class?: string; ours: boolean; text: unknown }): VNode {
  return (
    <span class={look}>
      {ours ? "" : "“"}
      <bdi>{plain(text)}</bdi>
      {ours ? "" : "”"}
    </span>
  );
}

/** What is offered, from its details where they say it; the summary is the proposer's words. */
function Offer({ of: offered, ours }: { of: Alternative; ours: boolean }): VNode {
  const { date, place, ...more } = (offered.details ?? {}) as Record<string, unknown>;
  const dated = typeof date === "string" && date !== "";
  const { time, event_type: what, timezone, ...rest } = more;
  const hours = typeof time === "string" && time !== "" ? hoursText(time, dated ? date : undefined, timezone) : "";
  const when = dated ? `${dayText(date)}${hours === "" ? "" : ` ${hours}`}` : "";
  const summary = plain(offered.summary);
  const unsaid = {
    ...(!dated && { date }),
    ...(hours === "" && { time, timezone }),
    ...(!(dated && typeof what === "string") && { event_type: what }),
    ...rest,
  };
  const others = Object.entries(unsaid).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <span class="offer-text">
      {when !== "" ? (
        <b class="when">
          {typeof what === "string" && what !== "" && <bdi>{fieldName(what)}, </bdi>}
          {when}
        </b>
      ) : (
        <b class="when">
          {summary !== "" && <Words ours={ours} text={summary} />}
          {summary !== "" && hours !== "" && ", "}
          {hours}
        </b>
      )}
      {place !== undefined && place !== null && (
        <span>
          at <bdi>{valueText(place, 160)}</bdi>
        </span>
      )}
      {others.map(([name, value]) => (
        <span class="soft" key={name}>
          {fieldName(name)}: <bdi>{valueText(value, 160)}</bdi>
        </span>
      ))}
      {when !== "" && summary !== "" && <Words class="soft" ours={ours} text={summary} />}
      {(offered.not_as_asked ?? []).map((said) => (
        <span class="differs" key={said}>
          {plain(said)}.
        </span>
      ))}
    </span>
  );
}

const COUNTERS: Record<string, [string, string]> = { "counter time": ["time", "Another time"], "counter place": ["place", "Another place"], counter: ["other", "Something else"] };

function Counter({ one, say, busy }: { one: Question; say: Asked["say"]; busy: boolean }): VNode {
  const draft = draftOf(one.question_id).value;
  const offered = one.choices.map((choice) => own(COUNTERS, choice)).filter((found) => found !== undefined);
  const field = draft.counter?.field ?? offered[0]?.[0] ?? "time";
  const value = draft.counter?.value ?? "";
  const write = (part: Partial<{ field: string; value: string }>) => change(one.question_id, { counter: { field, value, ...part } });
  return (
    <form
      class="unfolded"
      onSubmit={(event) => {
        event.preventDefault();
        if (value.trim() !== "") say({ counter: [field, value.trim()] });
      }}
    >
      {offered.length > 1 && (
        <select aria-label="What else" value={field} onChange={(event) => write({ field: event.currentTarget.value })}>
          {offered.map(([name, text]) => (
            <option value={name} key={name}>
              {text}
            </option>
          ))}
        </select>
      )}
      <input
        value={value}
        maxLength={500}
        aria-label={offered.find(([name]) => name === field)?.[1] ?? "Something else"}
        placeholder={field === "time" ? "Saturday 19:00" : field === "place" ? "Where instead?" : "What instead?"}
        onInput={(event) => write({ value: event.currentTarget.value })}
      />
      <button type="submit" class="primary" disabled={busy || value.trim() === ""}>
        Propose this
      </button>
    </form>
  );
}

function Excuses({ one, say, busy }: { one: Question; say: Asked["say"]; busy: boolean }): VNode {
  const texts = (one.about?.excuses ?? {}) as Record<string, string>;
  return (
    <div class="unfolded excuses">
      <p class="fine">This goes to {nameIn(one.counterpart)} word for word, and nothing of the reason with it:</p>
      {Object.entries(texts).map(([name, text]) => (
        <div key={name} class="excuse">
          <q>{text}</q>
          <button type="button" class="quiet" disabled={busy} onClick={() => say({ excuse: name })}>
            {name === "again" ? "Send, and look for another time" : "Send, and leave it"}
          </button>
        </div>
      ))}
    </div>
  );
}

// The other kinds.

function Escalation({ one, say, busy }: Asked): VNode {
  const draft = draftOf(one.question_id).value;
  const about = one.about ?? {};
  const theirs = about.from !== undefined;
  const by = `${nameIn(one.counterpart)}'s agent`;
  const tried = (about.tried ?? []) as { try: string; why: string }[];
  const last = one.choices.length - 1;
  // A group's choices are all its own; any other's end with trying on.
  const trying = about.group === undefined ? last - 1 : null;
  const options = one.choices.slice(0, Math.max(0, trying ?? last));
  return (
    <>
      {theirs ? <Said by={by} text={about.reason} /> : about.reason && <p>{capital(plain(about.reason))}.</p>}
      {theirs && <Said by={by} text={about.suggested_prompt} quiet />}
      {tried.length > 0 && (
        <details>
          <summary>What your agent tried</summary>
          <ul class="tried">
            {tried.map((each) => (
              <li key={each.try}>
                {capital(plain(each.try).replaceAll("_", " "))}: {plain(each.why)}
              </li>
            ))}
          </ul>
        </details>
      )}
      {options.length > 0 && (
        <fieldset class="offers">
          <legend class="fine">{theirs ? `What ${by} offers` : "What could be done"}</legend>
          {options.map((text, number) => (
            <label class={draft.choice === number ? "offer on" : "offer"} key={number}>
              <input type="radio" name={one.question_id} checked={draft.choice === number} onChange={() => change(one.question_id, { choice: number })} />
              <span>
                {theirs ? "“" : ""}
                <bdi>{about.group === undefined ? plain(text) : capital(plain(text))}</bdi>
                {theirs ? "”" : ""}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <Choices>
        {options.length > 0 && (
          <button type="button" class="primary" disabled={busy || draft.choice === undefined} onClick={() => say({ choose: draft.choice })}>
            Choose this
          </button>
        )}
        {trying !== null && (
          <button type="button" class="quiet" disabled={busy} onClick={() => say({ choose: trying })}>
            Keep trying
          </button>
        )}
        <button type="button" class="quiet no" disabled={busy} onClick={() => say({ choose: last })}>
          Stop
        </button>
      </Choices>
    </>
  );
}

const capital = (text: string): string => (text === "" ? "" : text[0]!.toUpperCase() + text.slice(1));

function FirstContact({ one, say, busy }: Asked): VNode {
  return (
    <>
      <p>
        Nothing of it was read or answered. Do you know <bdi class="address strong">{bareAddress(one.counterpart)}</bdi>?
      </p>
      <Choices>
        <button type="button" class="primary" disabled={busy} onClick={() => say({ confirm: true })}>
          Yes, let them write
        </button>
        <button type="button" class="quiet no" disabled={busy} onClick={() => say({ refuse: true })}>
          Block
        </button>
      </Choices>
      <p class="fine">Blocked, whatever it sends is dropped unread, and it is told nothing.</p>
    </>
  );
}

function Promotion({ one, say, busy }: Asked): VNode {
  const field = fieldName(String(one.about?.field ?? ""));
  return (
    <>
      <p>
        You said yes three times to <b>{field.toLowerCase()}</b>. From now on your agent can share it with {nameIn(one.counterpart)} without asking.
      </p>
      <Choices>
        <button type="button" class="primary" disabled={busy} onClick={() => say({ confirm: true })}>
          Share it from now on
        </button>
        <button type="button" class="quiet" disabled={busy} onClick={() => say({ dismiss: true })}>
          Keep asking me
        </button>
      </Choices>
    </>
  );
}

function Scope({ one, say, busy }: Asked): VNode {
  const about = one.about ?? {};
  const by = nameIn(one.counterpart);
  return (
    <>
      <dl class="scope">
        <dt>It was about</dt>
        <dd>
          “<bdi>{plain(about.before) || "—"}</bdi>”
        </dd>
        <dt>{by} now wants</dt>
        <dd>
          “<bdi>{plain(about.after)}</bdi>”
        </dd>
      </dl>
      <Said by={`${by}'s agent`} text={about.reason} quiet />
      <p class="fine">What you allowed for the old matter is over; you are asked anew.</p>
      <Choices>
        <button type="button" class="primary" disabled={busy} onClick={() => say({ confirm: true })}>
          Go on with that
        </button>
        <button type="button" class="quiet no" disabled={busy} onClick={() => say({ refuse: true })}>
          Stop
        </button>
      </Choices>
    </>
  );
}

function Failure({ one, say, busy }: Asked): VNode {
  return (
    <>
      <p>{capital(plain(one.about?.reason)) || "Something could not be undone"}. Your agent tried three times; please see to it yourself.</p>
      <Choices>
        <button type="button" class="primary" disabled={busy} onClick={() => say({ dismiss: true })}>
          I have seen to it
        </button>
      </Choices>
    </>
  );
}

function members(about: Record<string, unknown> | undefined): string {
  return Array.isArray(about?.members) ? about.members.map((who: unknown) => nameIn(String(who))).join(", ") : "";
}

function SpaceInvite({ one, say, busy }: Asked): VNode {
  return (
    <>
      <p>
        “<bdi>{plain(one.about?.space, 160)}</bdi>” is kept by {members(one.about)}. Their agents and yours tell each other what is written there; nothing of yours is in it before you write it.
      </p>
      <Choices>
        <button type="button" class="primary" disabled={busy} onClick={() => say({ confirm: true })}>
          Join
        </button>
        <button type="button" class="quiet no" disabled={busy} onClick={() => say({ refuse: true })}>
          Decline
        </button>
      </Choices>
    </>
  );
}

function SpaceFields({ one, say, busy }: Asked): VNode {
  return (
    <>
      <p>
        In “<bdi>{plain(one.about?.space, 160)}</bdi>”, for {members(one.about)}:
      </p>
      <dl class="known">
        {one.fields.map((field) => (
          <div key={field.field}>
            <dt>
              <bdi>{plain(field.field, 120)}</bdi>
            </dt>
            <dd>
              <bdi>{valueText(field.values[0])}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <p class="fine">Nothing of this is told before you answer.</p>
      <Choices>
        <button type="button" class="primary" disabled={busy} onClick={() => say({ confirm: true })}>
          Yes, tell them
        </button>
        <button type="button" class="quiet no" disabled={busy} onClick={() => say({ refuse: true })}>
          No
        </button>
      </Choices>
    </>
  );
}

function Unknown({ one }: Asked): VNode {
  return (
    <p>
      This page is too old for a question of this kind. At the terminal: <code>tacit agent answer {one.question_id}</code>
    </p>
  );
}
