/** People are round, agents are square, services and the hub are small: told apart by shape, colour and word. */

import type { VNode } from "preact";
import type { Room } from "../state/room";

export function hue(name: string): number {
  let hash = 7;
  for (const char of name) hash = (hash * 31 + char.codePointAt(0)!) % 12;
  return hash;
}

export function kindOf(principal: string): "person" | "agent" | "service" | "system" {
  if (principal === "system") return "system";
  if (principal === "user" || principal.startsWith("usr:")) return "person";
  return principal.startsWith("svc:") ? "service" : "agent";
}

export function initials(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const letters = words.length > 1 ? words[0]![0]! + words[1]![0]! : name.slice(0, 2);
  return letters.toUpperCase();
}

export function Avatar({ room, principal, size = 34 }: { room: Room; principal: string; size?: number }): VNode {
  const kind = kindOf(principal);
  const state = stateOf(room, principal);
  return (
    <span class={`avatar ${kind} hue-${hue(principal)} size-${size}`} aria-hidden="true">
      {initials(room.nameOf(principal))}
      {state !== null && <span class={`dot ${state}`} />}
    </span>
  );
}

/** online, busy, away or off; null for those who have no presence. */
export function stateOf(room: Room, principal: string): "online" | "busy" | "away" | "off" | null {
  const kind = kindOf(principal);
  if (kind === "system" || kind === "service") return null;
  if (kind === "agent") {
    const known = room.attention.agents.value.find((one) => one.actor_id === principal);
    if (known !== undefined) {
      if (!known.online) return "off";
      if (/busy|working/.test(known.status)) return "busy";
      return /away|paused/.test(known.status) ? "away" : "online";
    }
  }
  return room.presence.value.get(principal) ?? "off";
}

export function Name({ room, principal }: { room: Room; principal: string }): VNode {
  const kind = kindOf(principal);
  return (
    <span class={`name ${kind}`}>
      {room.nameOf(principal)}
      {kind === "agent" && <span class="tag agent">agent</span>}
      {kind === "service" && <span class="tag">service</span>}
    </span>
  );
}
