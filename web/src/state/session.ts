/** Who sits here: the sign-ins that the browser keeps, out of every address. How one gets them: `sign_in.ts`. */

import { signal, effect } from "@preact/signals";
import type { Who } from "../net/socket";
import { load, onSaved, save } from "./storage";

/** A token of this browser's; who it speaks for, and in which room, is known once the hub has said so. */
export interface KeptSignIn {
  token: string;
  who?: Who;
  /** The room's title, to name it by when the sign-in has ended. */
  title?: string;
}

export const kept = signal<KeptSignIn[]>([]);
export const theme = signal<"system" | "light" | "dark">(load("theme", "system"));

function read(): KeptSignIn[] {
  // Before there were several, a browser kept one token.
  const token = load<string | null>("token", null);
  return load<KeptSignIn[]>("sign-ins", token === null ? [] : [{ token }]);
}

/** Take up what the browser keeps. */
export function recall(): void {
  kept.value = read();
}

/** Hear that another tab has signed somebody in or out. */
export function onChanged(act: () => void): void {
  onSaved("sign-ins", () => {
    recall();
    act();
  });
}

/** Another tab may have written meanwhile: change what is stored. False when it is kept by this page alone. */
function change(act: (all: KeptSignIn[]) => KeptSignIn[]): boolean {
  kept.value = act(read());
  const isSaved = save("sign-ins", kept.peek().length === 0 ? undefined : kept.peek());
  if (isSaved) save("token", undefined);
  return isSaved;
}

export function isSame(one: Who | undefined, other: Who | undefined): boolean {
  return one !== undefined && one.principal === other?.principal && one.group_id === other.group_id;
}

/** Keep a further sign-in. False when the browser will have forgotten it at the next load. */
export function keep(signIn: KeptSignIn): boolean {
  return change((all) => withoutOlder([...all.filter((one) => one.token !== signIn.token), signIn], signIn));
}

/** Write down what the hub has said about a sign-in, unless it was left meanwhile. */
export function learn(token: string, said: Omit<KeptSignIn, "token">): void {
  const before = read().find((one) => one.token === token);
  if (before === undefined) return;
  const now = { ...before, ...said };
  if (isSame(before.who, now.who) && before.title === now.title) return;
  change((all) => withoutOlder(all, now).map((one) => (one.token === token ? now : one)));
}

/** In a room a person has one sign-in: the newest takes the place of an older. */
function withoutOlder(all: KeptSignIn[], newest: KeptSignIn): KeptSignIn[] {
  return all.filter(({ token, who }) => token === newest.token || who === undefined || who.group_id !== newest.who?.group_id);
}

/** Let go of sign-ins, and have the hub end those tokens that a link made for this browser. */
export function leave(isLeft: (one: KeptSignIn) => boolean): void {
  kept.peek().filter(isLeft).forEach((one) => end(one.token));
  change((all) => all.filter((one) => !isLeft(one)));
}

function end(token: string): void {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  // Sent although the page goes away; a hub that cannot be reached ends it when nobody has used it for long.
  void fetch("/v1/sign-out", { method: "POST", headers, body: "{}", keepalive: true }).catch(() => undefined);
}

/** Sign out of one room, or as the owner; whatever else the browser keeps stays. */
export function signOut(token: string): void {
  leave((one) => one.token === token);
  location.replace(location.pathname);
}

effect(() => {
  const wanted = theme.value;
  save("theme", wanted);
  if (wanted === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
});
onSaved("theme", () => {
  theme.value = load("theme", "system");
});
