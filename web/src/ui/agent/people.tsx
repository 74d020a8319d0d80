/** Whom the agent deals with, how their keys are known, and who one is oneself: an address, a fingerprint, a picture of both. */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentState } from "../../state/agent";
import type { AgentContact, Contact, FoundContact } from "../../net/agent_operations";
import { bareAddress, nameIn, own, plain } from "../../text/agent";
import { Icon } from "../icons";
import { Guests } from "./guests";
import { Knows, Remembered } from "./memory";
import { Empty, Face, failed, Long } from "./parts";

export function People({ state }: { state: AgentState }): VNode {
  useEffect(() => {
    void state.look("contacts");
    void state.look("me");
  }, [state]);
  const [open, setOpen] = useState<string | null>(null);
  const all = state.contacts.value;
  return (
    <div class="page agent-page">
      <Myself state={state} />
      <div class="page-head">
        <h2>People</h2>
      </div>
      {state.offers("contact") && <Add state={state} />}
      {all?.length === 0 && <Empty>Nobody yet. Give your address to somebody, or add theirs.</Empty>}
      <Long of={all ?? []} label="People">
        {(one) => (
          <li key={one.address}>
            <button type="button" class="thread-row" aria-expanded={open === one.address} onClick={() => setOpen(open === one.address ? null : one.address)}>
              <Face address={one.address} />
              <span class="thread-what">
                <b>{one.label ? plain(one.label, 60) : nameIn(one.address)}</b>
                <span class="soft address">{bareAddress(one.address)}</span>
              </span>
              <Standing one={one} />
            </button>
            {open === one.address && <Detail state={state} one={one} />}
          </li>
        )}
      </Long>
      <Guests state={state} />
    </div>
  );
}

const KEYS: Record<string, { text: string; tone: string }> = {
  verified: { text: "compared", tone: "good" },
  pinned: { text: "key known", tone: "still" },
  unknown: { text: "no key yet", tone: "still" },
  changed: { text: "key has changed", tone: "bad" },
};

function Standing({ one }: { one: Contact }): VNode {
  if (one.blocked) return <span class="state-tag bad">blocked</span>;
  const key = own(KEYS, one.key) ?? { text: plain(one.key, 30).replaceAll("_", " "), tone: "asks" };
  return (
    <>
      {!one.welcome && <span class="state-tag asks">not let in</span>}
      {one.flagged && <span class="state-tag asks">flagged</span>}
      <span class={`state-tag ${key.tone}`}>{key.text}</span>
    </>
  );
}

/** Digits in groups, to be read aloud. */
export function Digits({ of: digits, label }: { of: string; label: string }): VNode {
  return (
    <p class="digits" aria-label={`${label}: ${digits}`} role="img">
      {digits.split(" ").map((group, place) => (
        <span key={place}>{group}</span>
      ))}
    </p>
  );
}

function Detail({ state, one }: { state: AgentState; one: Contact }): VNode {
  const [found, setFound] = useState<Contact | null>(null);
  const [fault, setFault] = useState("");
  const [sure, setSure] = useState(false);
  const decide = (decision: AgentContact["decision"]) =>
    state
      .call("contact", { who: one.address, decision })
      .then((now) => {
        if (!("removed" in now)) setFound(now);
        setFault("");
        setSure(false);
        if (decision !== "show") void state.look("contacts");
      })
      .catch((error: unknown) => setFault(failed(error)));
  useEffect(() => void decide("show"), [one.address]);
  const name = nameIn(one.address);
  const now = found ?? one;
  return (
    <div class="contact-detail">
      {found?.safety_number && (
        <>
          <p class="fine">The safety number that you and {name} both see. Compare it by voice or side by side; if it is the same, nobody is between you.</p>
          <Digits of={found.safety_number} label="Safety number" />
        </>
      )}
      {found && !found.safety_number && <p class="fine">There is a number to compare once the first packet has gone or come.</p>}
      {found?.offered_safety_number && (
        <p class="refusal">
          {name} has offered another key. Ask {name} before you accept it: <Digits of={found.offered_safety_number} label="Offered safety number" />
        </p>
      )}
      <div class="ask-choices">
        {!now.welcome && !now.blocked && (
          <button type="button" class="primary" onClick={() => void decide("add")}>
            Let in
          </button>
        )}
        {now.offered_safety_number && (
          <>
            <button type="button" class="primary" onClick={() => void decide("accept")}>
              Accept the new key
            </button>
            <button type="button" class="quiet" onClick={() => void decide("reject")}>
              Reject it
            </button>
          </>
        )}
        {now.safety_number && now.key !== "verified" && (
          <button type="button" class="quiet" onClick={() => void decide("verified")}>
            We compared it: the same
          </button>
        )}
        {now.blocked ? (
          <button type="button" class="quiet" onClick={() => void decide("unblock")}>
            Unblock
          </button>
        ) : sure ? (
          <button type="button" class="danger" onClick={() => void decide("block")}>
            Block, and erase all that {name} said
          </button>
        ) : (
          <button type="button" class="quiet no" onClick={() => setSure(true)}>
            Block…
          </button>
        )}
      </div>
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
      {state.offers("memory") && !now.blocked && <Remembered state={state} who={one.address} />}
      {state.offers("known") && !now.blocked && <Knows state={state} who={one.address} />}
    </div>
  );
}

/** Whether a text is somebody's card, with the fingerprint in it, and no bare address. */
const isCard = (text: string): boolean => /^a2acp:/i.test(text);

/** Add somebody: by a card that was pasted, by the address, or by what a domain says of a name, shown before it counts. */
function Add({ state }: { state: AgentState }): VNode {
  const [who, setWho] = useState("");
  const [fault, setFault] = useState("");
  const [found, setFound] = useState<FoundContact[]>([]);
  const done = () => {
    setWho("");
    setFault("");
    setFound([]);
    void state.look("contacts");
  };
  const wrong = (error: unknown) => setFault(failed(error));
  const text = who.trim();
  const add = () => (isCard(text) ? state.call("add", { uri: text }) : state.call("contact", { who: text, decision: "add" })).then(done, wrong);
  const find = () =>
    state.call("find", { account: text }).then((answer) => {
      setFault("");
      setFound(answer.found);
    }, wrong);
  const take = (one: FoundContact) => (one.uri && one.fingerprint ? state.call("add", { uri: one.uri }) : state.call("contact", { who: one.address, decision: "add" })).then(done, wrong);
  return (
    <form
      class="ask-box"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <div class="field">
        <Icon name="people" />
        <input aria-label="Somebody's address or card" value={who} maxLength={600} placeholder="name@relay.example, or a card that you were given" autocomplete="off" spellcheck={false} onInput={(event) => setWho(event.currentTarget.value)} />
        {state.offers("find") && !isCard(text) && (
          <button type="button" class="quiet" disabled={text === ""} onClick={() => void find()}>
            Look up
          </button>
        )}
        <button type="submit" class="primary" disabled={text === ""}>
          Add
        </button>
      </div>
      {found.map((one) => (
        <div class="unfolded" key={one.address}>
          <p>
            Its domain names <bdi class="address strong">{bareAddress(one.address)}</bdi>
          </p>
          {one.fingerprint && <Digits of={one.fingerprint} label="Fingerprint" />}
          <button type="button" class="primary" onClick={() => void take(one)}>
            Add this one
          </button>
          <button type="button" class="quiet" onClick={() => setFound([])}>
            Leave it
          </button>
        </div>
      ))}
      {fault !== "" && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </form>
  );
}

function Myself({ state }: { state: AgentState }): VNode | null {
  const me = state.me.value;
  const [copied, setCopied] = useState(false);
  if (me === null) return null;
  const address = bareAddress(String(me.address ?? ""));
  return (
    <section class="myself" aria-label="Your own address">
      {typeof me.svg === "string" && <Code svg={me.svg} address={address} />}
      <div>
        <h2>{address}</h2>
        <p class="fine">This is where your agent is written to. Its fingerprint, for comparing:</p>
        {typeof me.fingerprint === "string" && <Digits of={me.fingerprint} label="Fingerprint" />}
        <button
          type="button"
          class="quiet small"
          onClick={() =>
            void navigator.clipboard?.writeText(String(me.uri ?? address)).then(() => {
              setCopied(true);
              setTimeout(() => setCopied(false), 2000);
            })
          }
        >
          <Icon name="copy" size={15} /> {copied ? "Copied" : "Copy to give away"}
        </button>
      </div>
    </section>
  );
}

/** One's own card as a picture to scan; as a picture it can do nothing but be looked at. */
function Code({ svg, address }: { svg: string; address: string }): VNode | null {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [svg]);
  return url === "" ? null : <img class="qr" src={url} alt={`Your card as a code to scan: ${address}`} />;
}
