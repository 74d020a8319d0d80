/** Dialogs: open a room, add an agent, invite a person, relay a message, and the list of keys. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren, VNode } from "preact";
import { relay } from "../state/actions";
import { textOf } from "../state/fold";
import { call, complain, refreshGroups, room, signInTo } from "../state/hub";
import type { Room } from "../state/room";
import { addressOf, type MadeLink } from "../state/sign_in";
import { go } from "../state/router";
import { dialog, help, relaying } from "../state/ui";
import type { Group, Row } from "../types";
import { CopyButton } from "./code";
import { Icon } from "./icons";
import { KEYS } from "./keys";

export function Dialogs(): VNode | null {
  const here = room.value;
  if (help.value) return <Help />;
  if (relaying.value) return <RelayDialog row={relaying.value} />;
  if (dialog.value === "group") return <GroupDialog />;
  if (dialog.value === "agent" && here) return <AgentDialog room={here} />;
  if (dialog.value === "person" && here) return <PersonDialog room={here} />;
  return null;
}

function shut(): void {
  dialog.value = null;
  relaying.value = null;
  help.value = false;
}

export function Modal({ title, children }: { title: string; children: ComponentChildren }): VNode {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const first = box.current!.querySelector<HTMLElement>("input, textarea, select") ?? box.current!.querySelector<HTMLElement>("button");
    first?.focus();
    return () => {
      if (before?.isConnected) before.focus();
    };
  }, []);
  const keep = (event: KeyboardEvent) => {
    if (event.key !== "Tab") return;
    const all = [...box.current!.querySelectorAll<HTMLElement>("button, input, select, textarea, a[href], [tabindex='0']")].filter((one) => one.offsetParent !== null);
    const edge = event.shiftKey ? all[0] : all.at(-1);
    if (document.activeElement === edge) {
      event.preventDefault();
      (event.shiftKey ? all.at(-1) : all[0])?.focus();
    }
  };
  return (
    <div class="veil" onMouseDown={(event) => event.target === event.currentTarget && shut()}>
      <div class="modal" role="dialog" aria-modal="true" aria-label={title} ref={box} onKeyDown={keep}>
        <header>
          <h2>{title}</h2>
          <button type="button" class="tool" aria-label="Close" onClick={shut}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </div>
  );
}

function Help(): VNode {
  return (
    <Modal title="Keyboard">
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}

function GroupDialog(): VNode {
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const title = String(new FormData(event.currentTarget as HTMLFormElement).get("title")).trim();
    if (title === "") return;
    try {
      const group = await call<Group>("create_group", { title });
      await refreshGroups();
      shut();
      go({ groupId: group.group_id });
    } catch (error) {
      complain(error);
    }
  };
  return (
    <Modal title="Open a room">
      <form onSubmit={(event) => void create(event)}>
        <label>
          What is it about?
          <input name="title" required maxLength={200} placeholder="Release 2.0" autocomplete="off" />
        </label>
        <div class="actions">
          <button type="submit" class="primary">
            Open
          </button>
        </div>
      </form>
    </Modal>
  );
}

interface Made {
  id: string;
  token: string;
}

/** Words that can stand after @ and name a skill; the hub takes nothing else. */
const ROLE = "[A-Za-z0-9][A-Za-z0-9_\\-]{0,39}";
const ROLES = `[\\s,]*${ROLE}([\\s,]+${ROLE})*[\\s,]*`;

function AgentDialog({ room: here }: { room: Room }): VNode {
  const [made, setMade] = useState<Made | null>(null);
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const actor_id = String(form.get("name")).trim();
    const title = String(form.get("title")).trim();
    const roles = String(form.get("roles")).toLowerCase().split(/[\s,]+/).filter(Boolean);
    const role = form.get("foreman") ? "foreman" : "peer";
    try {
      const answer = await call<{ token: string }>("add_actor", { group_id: here.id, actor_id, role, ...(title && { title }), ...(roles.length > 0 && { roles }) });
      setMade({ id: actor_id, token: answer.token });
    } catch (error) {
      complain(error);
    }
  };
  if (made !== null) {
    return (
      <Modal key="made" title={`${made.id} may come in`}>
        <Commands room={here} made={made} />
      </Modal>
    );
  }
  return (
    <Modal title="Add an agent">
      <form onSubmit={(event) => void add(event)}>
        <label>
          Name, as others will write it after @
          <input name="name" required maxLength={64} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" placeholder="ada" autocomplete="off" />
        </label>
        <label>
          <span>
            Title <span class="soft">optional</span>
          </span>
          <input name="title" maxLength={200} placeholder="Ada, reviewer" autocomplete="off" />
        </label>
        <label>
          <span>
            Roles it can be called by <span class="soft">optional</span>
          </span>
          <input name="roles" maxLength={200} pattern={ROLES} title="Words of letters, digits, _ and -, with commas between them" placeholder="backend, review" autocomplete="off" />
        </label>
        <label class="check">
          <input type="checkbox" name="foreman" /> It leads this room (foreman)
        </label>
        <div class="actions">
          <button type="submit" class="primary">
            Add
          </button>
        </div>
      </form>
    </Modal>
  );
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** How each kind of agent is started; copy, paste, done. */
export function commandsFor(url: string, group: string, made: Made): { name: string; note: string; text: string }[] {
  const base = `TACIT_URL=${url} TACIT_TOKEN=${made.token} tacit join ${group} --as ${made.id}`;
  return [
    { name: "Codex", note: "OpenAI's coding agent", text: `${base} --driver codex -- --use-my-config --cwd .` },
    { name: "Claude Code", note: "Anthropic's coding agent", text: `${base} --driver claude -- --use-my-config --cwd .` },
    { name: "ACP", note: "any agent that speaks the Agent Client Protocol", text: `${base} --driver acp -- --use-my-config -- gemini --experimental-acp` },
    { name: "Model", note: "any OpenAI-compatible endpoint", text: `${base} --driver openai -- --base-url http://127.0.0.1:11434/v1 --model qwen3` },
    { name: "Program", note: "a script: the turn on stdin, the reply on stdout", text: `${base} --driver command -- --text --cwd . ./reply.sh` },
    { name: "MCP", note: "tools for a client that pulls", text: `TACIT_URL=${url} TACIT_TOKEN=${made.token} tacit mcp` },
  ];
}

function Commands({ room: here, made }: { room: Room; made: Made }): VNode {
  const all = commandsFor(location.origin, quoted(here.group.value.title), made);
  const [choice, setChoice] = useState(0);
  const chosen = all[choice]!;
  return (
    <div class="commands">
      <p>Its token is shown this once. Run one of these where the agent lives:</p>
      <div class="tabs" role="tablist" aria-label="Kinds of agent">
        {all.map((one, index) => (
          <button type="button" role="tab" key={one.name} aria-selected={index === choice} tabIndex={index === choice ? 0 : -1} onClick={() => setChoice(index)} onKeyDown={(event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (step === undefined) return;
            const next = (choice + step + all.length) % all.length;
            setChoice(next);
            ((event.currentTarget as HTMLElement).parentElement!.children[next] as HTMLElement).focus();
          }}>
            {one.name}
          </button>
        ))}
      </div>
      <p class="soft">{chosen.note}</p>
      <pre class="object" tabIndex={0}>
        <code>{chosen.text}</code>
      </pre>
      <div class="actions">
        <CopyButton text={made.token} label="Copy the token" />
        <CopyButton text={chosen.text} label="Copy the command" />
        <button type="button" class="primary" onClick={shut}>
          Done
        </button>
      </div>
    </div>
  );
}

function PersonDialog({ room: here }: { room: Room }): VNode {
  const [link, setLink] = useState<string | null>(null);
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const principal = `usr:${String(form.get("name")).trim()}`;
    const title = String(form.get("title")).trim();
    try {
      setLink(addressOf(await call<MadeLink>("add_person", { group_id: here.id, principal, by_link: true, ...(title && { title }) })));
    } catch (error) {
      complain(error);
    }
  };
  return (
    <Modal key={link ? "made" : "asked"} title={link ? "Give them this link" : "Invite a person"}>
      {link ? (
        <div class="commands">
          <p>It signs them in to this room, once, within a day. It is shown only now; send it over a channel that you trust.</p>
          <pre class="object" tabIndex={0}>
            <code>{link}</code>
          </pre>
          <div class="actions">
            <CopyButton text={link} label="Copy the link" />
            <button type="button" class="primary" onClick={shut}>
              Done
            </button>
          </div>
        </div>
      ) : (
        <form onSubmit={(event) => void add(event)}>
          <label>
            Short name
            <input name="name" required maxLength={60} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" placeholder="ben" autocomplete="off" />
          </label>
          <label>
            <span>
              Full name <span class="soft">optional</span>
            </span>
            <input name="title" maxLength={200} placeholder="Ben Okafor" autocomplete="off" />
          </label>
          <div class="actions">
            <button type="submit" class="primary">
              Invite
            </button>
          </div>
        </form>
      )}
    </Modal>
  );
}

function RelayDialog({ row }: { row: Row }): VNode {
  // Whoever one is there has to be able to read it here.
  const others = signInTo(row.event.group_id)?.rooms.value.filter((one) => one.id !== row.event.group_id) ?? [];
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    if (await relay(row, String(form.get("to")), String(form.get("note") ?? ""))) shut();
  };
  return (
    <Modal title="Relay to another room">
      {others.length === 0 ? (
        <p>There is no other room to relay to.</p>
      ) : (
        <form onSubmit={(event) => void send(event)}>
          <blockquote class="excerpt">
            <p>{textOf(row).slice(0, 240)}</p>
          </blockquote>
          <label>
            To
            <select name="to" aria-label="To">
              {others.map((one) => (
                <option value={one.id}>{one.group.value.title}</option>
              ))}
            </select>
          </label>
          <label>
            <span>
              A word before it <span class="soft">optional</span>
            </span>
            <input name="note" maxLength={400} autocomplete="off" />
          </label>
          <div class="actions">
            <button type="submit" class="primary">
              Relay
            </button>
          </div>
        </form>
      )}
    </Modal>
  );
}
