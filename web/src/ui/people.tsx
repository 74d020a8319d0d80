/** Everybody of a room: state, roles, what they owe and cost, their tokens; ask to leave, remove. */

import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import { about } from "../state/crew";
import { call, complain, isOwner, me, say } from "../state/hub";
import type { Room } from "../state/room";
import { addressOf, type MadeLink } from "../state/sign_in";
import { dialog } from "../state/ui";
import { Avatar, Name, stateOf } from "./avatar";
import { CopyButton } from "./code";
import { Icon } from "./icons";
import { talkTo } from "./sidebar";

export function People({ room }: { room: Room }): VNode {
  const { actors, people } = room.group.value;
  useEffect(() => {
    void room.refreshPresence();
    void room.attention.refreshAgents();
  }, [room]);
  const humans = ["user", ...people.map((one) => one.principal)];
  return (
    <div class="page people" tabIndex={-1}>
      <section>
        <header class="page-head">
          <h2>Agents</h2>
          {isOwner.value && (
            <button type="button" class="primary small" onClick={() => (dialog.value = "agent")}>
              <Icon name="plus" size={15} /> Add an agent
            </button>
          )}
        </header>
        {actors.length === 0 && <p class="nothing">No agent is in this room yet.</p>}
        <ul class="cards">
          {actors.map((one) => (
            <Card key={one.actor_id} room={room} principal={one.actor_id} roles={[...(one.role ? [one.role] : []), ...one.roles]} />
          ))}
        </ul>
      </section>
      <section>
        <header class="page-head">
          <h2>People</h2>
          {isOwner.value && (
            <button type="button" class="primary small" onClick={() => (dialog.value = "person")}>
              <Icon name="plus" size={15} /> Invite a person
            </button>
          )}
        </header>
        <ul class="cards">
          {humans.map((one) => (
            <Card key={one} room={room} principal={one} roles={one === "user" ? ["owner"] : []} />
          ))}
        </ul>
      </section>
    </div>
  );
}

const WORDS = { online: "online", busy: "busy", away: "away", off: "offline" } as const;

function Card({ room, principal, roles }: { room: Room; principal: string; roles: string[] }): VNode {
  const known = room.attention.agents.value.find((one) => one.actor_id === principal);
  const state = stateOf(room, principal) ?? "off";
  const isAgent = room.isAgent(principal);
  const owes = known?.owes?.length ?? 0;
  const leave = () =>
    room.attention
      .act({ op: "leave", agent: principal })
      .then(() => say(`${room.nameOf(principal)} was asked to leave.`))
      .catch(complain);
  const remove = () => call("append", { group_id: room.id, kind: "actor.remove", data: { actor_id: principal } }).catch(complain);
  return (
    <li class="card">
      <header>
        <Avatar room={room} principal={principal} />
        <div>
          <Name room={room} principal={principal} />
          <p class="soft">
            @{principal.replace(/^usr:/, "")} · <span class={`word ${state}`}>{WORDS[state]}</span>
            {known?.detail ? ` · ${known.detail}` : ""}
          </p>
        </div>
      </header>
      {roles.length > 0 && (
        <p class="roles">
          {roles.map((one) => (
            <span class="tag">{one}</span>
          ))}
        </p>
      )}
      {isAgent && known && (
        <dl class="sums">
          <div>
            <dt>owes</dt>
            <dd>{owes}</dd>
          </div>
          <div>
            <dt>tokens</dt>
            <dd>{about(known.estimated, (known.tokens_in + known.tokens_out).toLocaleString())}</dd>
          </div>
          <div>
            <dt>cost</dt>
            <dd>{known.cost > 0 ? about(known.estimated, `${known.cost.toFixed(2)} ${known.currency}`) : "-"}</dd>
          </div>
        </dl>
      )}
      <div class="card-actions">
        {principal !== me.value && (
          <button type="button" class="quiet small" onClick={() => talkTo(room, principal)}>
            <Icon name="talk" size={14} /> Write in private
          </button>
        )}
        {isOwner.value && isAgent && (
          <>
            <button type="button" class="quiet small" onClick={() => void leave()}>
              <Icon name="out" size={14} /> Ask to leave
            </button>
            <Removal act={remove} name={room.nameOf(principal)} />
          </>
        )}
      </div>
      {isOwner.value && principal !== "user" && <Tokens room={room} principal={principal} />}
    </li>
  );
}

/** Twice, because an id is never given again. */
function Removal({ act, name }: { act: () => void; name: string }): VNode {
  const [sure, setSure] = useState(false);
  return sure ? (
    <button type="button" class="bad small" onClick={act} onBlur={() => setSure(false)}>
      Remove {name} for good
    </button>
  ) : (
    <button type="button" class="quiet small" onClick={() => setSure(true)}>
      <Icon name="trash" size={14} /> Remove
    </button>
  );
}

function Tokens({ room, principal }: { room: Room; principal: string }): VNode {
  const [ids, setIds] = useState<string[] | null>(null);
  const [fresh, setFresh] = useState<string | null>(null);
  const refresh = () =>
    call<{ tokens: string[] }>("tokens", { group_id: room.id, actor_id: principal })
      .then((found) => setIds(found.tokens))
      .catch(() => setIds([]));
  const issue = async () => {
    try {
      const made = await call<{ token: string }>("issue_token", { group_id: room.id, actor_id: principal });
      setFresh(made.token);
      await refresh();
    } catch (error) {
      complain(error);
    }
  };
  const invite = async () => {
    try {
      setFresh(addressOf(await call<MadeLink>("sign_in_link", { group_id: room.id, principal, minutes: 1440 })));
      await refresh();
    } catch (error) {
      complain(error);
    }
  };
  const revoke = async (id: string) => {
    await call("revoke_token", { token_id: id }).catch(complain);
    setFresh(null);
    await refresh();
  };
  return (
    <details class="tokens" onToggle={(event) => event.currentTarget.open && ids === null && void refresh()}>
      <summary>
        <Icon name="key" size={14} /> Tokens
      </summary>
      {fresh && (
        <div class="fresh">
          <p>Shown this once:</p>
          <code>{fresh}</code>
          <CopyButton text={fresh} label={fresh.includes("#") ? "Copy the link" : "Copy the token"} />
        </div>
      )}
      <ul>
        {ids?.map((id) => (
          <li key={id}>
            <code>{id}</code>
            <button type="button" class="quiet small" aria-label={`Revoke ${id}`} onClick={() => void revoke(id)}>
              Revoke
            </button>
          </li>
        ))}
        {ids?.length === 0 && <li class="soft">No live token.</li>}
      </ul>
      <button type="button" class="quiet small" onClick={() => void issue()}>
        <Icon name="plus" size={14} /> Issue a token
      </button>
      {principal.startsWith("usr:") && (
        <button type="button" class="quiet small" onClick={() => void invite()}>
          <Icon name="plus" size={14} /> Make a sign-in link
        </button>
      )}
    </details>
  );
}
