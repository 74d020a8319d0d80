/** Ctrl+K: jump to a room, a person, a view or a command by typing a few letters of it. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import { isOwner, me, room, rooms } from "../state/hub";
import { go } from "../state/router";
import { theme } from "../state/session";
import { dialog, drawer, help, palette, panel } from "../state/ui";
import { Icon, type IconName } from "./icons";
import { talkTo } from "./sidebar";

interface Choice {
  label: string;
  note: string;
  icon: IconName;
  act: () => void;
}

function choices(): Choice[] {
  const here = room.peek();
  const out: Choice[] = rooms.peek().map((one) => ({ label: one.group.peek().title, note: "room", icon: "talk", act: () => go({ groupId: one.id }) }));
  if (here !== null) {
    const { actors, people } = here.group.peek();
    for (const one of actors) out.push({ label: here.nameOf(one.actor_id), note: "agent", icon: "spark", act: () => talkTo(here, one.actor_id) });
    for (const one of ["user", ...people.map((person) => person.principal)]) {
      if (one !== me.peek()) out.push({ label: here.nameOf(one), note: "person", icon: "people", act: () => talkTo(here, one) });
    }
    const view = (label: string, icon: IconName, to: "people" | "agents" | "ledger" | "traces" | "dashboard" | "talk") =>
      out.push({ label, note: "view", icon, act: () => go({ groupId: here.id, view: to }) });
    view("Talk", "talk", "talk");
    view("People and agents", "people", "people");
    view("Agents at work", "spark", "agents");
    view("Ledger", "ledger", "ledger");
    view("Traces", "tree", "traces");
    view("Dashboard", "chart", "dashboard");
    out.push({ label: "Search messages", note: "/", icon: "search", act: () => (panel.value = { kind: "search" }) });
    out.push({ label: "Waiting for you", note: "panel", icon: "bell", act: () => (panel.value = { kind: "owed" }) });
    if (isOwner.peek()) out.push({ label: "Add an agent", note: "command", icon: "plus", act: () => (dialog.value = "agent") });
    if (isOwner.peek()) out.push({ label: "Invite a person", note: "command", icon: "plus", act: () => (dialog.value = "person") });
  }
  if (isOwner.peek()) out.push({ label: "Open a room", note: "command", icon: "plus", act: () => (dialog.value = "group") });
  for (const one of ["light", "dark", "system"] as const) {
    out.push({ label: `Colours: ${one}`, note: "command", icon: one === "dark" ? "moon" : one === "light" ? "sun" : "system", act: () => (theme.value = one) });
  }
  out.push({ label: "Keyboard shortcuts", note: "?", icon: "code", act: () => (help.value = true) });
  return out;
}

/** Every letter in order; earlier and closer together is better. Null when it does not fit. */
export function fit(label: string, query: string): number | null {
  const text = label.toLowerCase();
  let at = -1;
  let cost = 0;
  for (const letter of query.toLowerCase().replace(/\s+/g, "")) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    cost += next - at - 1;
    at = next;
  }
  return cost + text.length / 100;
}

export function Palette(): VNode {
  const [query, setQuery] = useState("");
  const [choice, setChoice] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const all = useRef(choices()).current;
  const found = all
    .map((one) => ({ one, cost: fit(one.label, query) }))
    .filter((item): item is { one: Choice; cost: number } => item.cost !== null)
    .sort((a, b) => (query === "" ? 0 : a.cost - b.cost))
    .slice(0, 12)
    .map((item) => item.one);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [choice]);
  const take = (one: Choice | undefined) => {
    palette.value = false;
    drawer.value = false;
    one?.act();
  };
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    field.current!.focus();
    return () => {
      if (before?.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const keys = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setChoice((choice + step + found.length) % found.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      take(found[choice]);
    }
  };
  return (
    <div class="veil top" onMouseDown={(event) => event.target === event.currentTarget && (palette.value = false)}>
      <div class="palette" role="dialog" aria-modal="true" aria-label="Jump to">
        <label class="field">
          <Icon name="search" />
          <input
            ref={field}
            value={query}
            placeholder="Jump to a room, a person, a view…"
            aria-label="Jump to"
            role="combobox"
            aria-expanded="true"
            aria-controls="jumps"
            aria-activedescendant={`jump-${choice}`}
            onInput={(event) => {
              setQuery(event.currentTarget.value);
              setChoice(0);
            }}
            onKeyDown={keys}
          />
        </label>
        <ul id="jumps" role="listbox" aria-label="Places" ref={list}>
          {found.map((one, index) => (
            <li
              id={`jump-${index}`}
              role="option"
              aria-selected={index === choice}
              onMouseMove={() => index !== choice && setChoice(index)}
              onClick={() => take(one)}
            >
              <Icon name={one.icon} size={16} />
              <span>{one.label}</span>
              <span class="soft">{one.note}</span>
            </li>
          ))}
          {found.length === 0 && <li class="nothing">Nothing fits.</li>}
        </ul>
      </div>
    </div>
  );
}
