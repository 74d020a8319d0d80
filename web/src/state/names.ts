/** The names that a text may call in a room, and whom it calls. */

import { mentioned } from "../text/mentions";
import type { Room } from "./room";

/** Every name that can be called here, in small letters. */
export function namesOf(room: Room): ReadonlySet<string> {
  const found = new Set<string>(["all", "everyone", "peers", "foreman", "user", "here"]);
  const { actors, people } = room.group.value;
  for (const actor of actors) {
    found.add(actor.actor_id.toLowerCase());
    for (const role of actor.roles) found.add(role.toLowerCase());
  }
  for (const person of people) {
    found.add(person.principal.toLowerCase());
    found.add(person.principal.replace(/^usr:/, "").toLowerCase());
  }
  return found;
}

/** The recipients that a text names, as the ledger knows them. */
export function recipients(room: Room, text: string): string[] {
  const { actors, people } = room.group.peek();
  const found = mentioned(text, namesOf(room)).map((name) => name.toLowerCase());
  const out = new Set<string>();
  for (const name of found) {
    if (name === "all" || name === "everyone" || name === "here") return ["@all"];
    const actor = actors.find((one) => one.actor_id.toLowerCase() === name);
    const person = people.find((one) => one.principal.toLowerCase() === name || one.principal.toLowerCase() === `usr:${name}`);
    if (actor) out.add(actor.actor_id);
    else if (person) out.add(person.principal);
    else if (name === "user") out.add("user");
    else for (const one of actors) if (one.roles.includes(name)) out.add(one.actor_id);
  }
  return [...out];
}
