/**
 * Sign-in links: a code behind `#` that the hub exchanges, once, for a token of this browser's own.
 *
 * A link never changes who speaks in a room without asking, before the link is spent. A further room of the same
 * person is opened beside the others. The code stays in the address until then, so that a reload asks again. A link
 * that holds a token itself is not taken.
 */

import { signal } from "@preact/signals";
import type { Who } from "../net/socket";
import { connect, say, signIns } from "./hub";
import { go } from "./router";
import { isSame, keep, kept, type KeptSignIn, leave, onChanged, recall } from "./session";

/** Whom a link signs in, and the title of the room that it opens. */
export interface Invited extends Who {
  title?: string;
}

/** What stands between a person and the room. */
export type Doorstep =
  | { kind: "arriving" }
  | { kind: "asked"; code: string; here: Who[]; other: Invited }
  | { kind: "refused"; words: string; again?: string };
export const doorstep = signal<Doorstep | null>(null);

const SPENT = "This link was used already, or has run out: a link works once.";
const HOLDS_TOKEN = "This link holds a token, and pages take none from an address any more.";

/** The code of a sign-in link; nothing but exactly such a link has one. */
export function codeIn(address: string): string | null {
  return /#sign-in=([\w-]+)$/.exec(address)?.[1] ?? null;
}

/** The token of a link as it was before links held codes. */
export function tokenIn(address: string): string | null {
  return /#token=(.+)$/.exec(address)?.[1] ?? null;
}

/** How a person is called where one is asked who one is. */
export function called(principal: string): string {
  return principal === "user" ? "the owner of this hub" : principal.replace(/^usr:/, "");
}

/** A link that the hub has made. */
export interface MadeLink {
  path: string;
  public_url: string;
}

export function addressOf(made: MadeLink): string {
  return (made.public_url || location.origin) + made.path;
}

/** What opening a link would do to those who are signed in. */
export type Effect = "nothing" | "a room beside" | "somebody else";

export function effectOf(here: readonly Who[], other: Who): Effect {
  if (here.some((one) => isSame(one, other))) return "nothing";
  const isKnown = here.some((one) => one.principal === other.principal);
  return isKnown && !here.some((one) => meet(one, other)) ? "a room beside" : "somebody else";
}

/** Are both in some room? The owner is in all. */
function meet(one: Who, other: Who): boolean {
  return one.group_id === null || other.group_id === null || one.group_id === other.group_id;
}

/** May both be kept? Only one person speaks in a room; the owner leaves it to whom they come in as. */
export function canStayBeside(here: readonly Who[], other: Who): boolean {
  return !here.some((one) => one.group_id === other.group_id);
}

/** Those who are signed in here, as one would say it. */
export function calledAll(all: readonly Who[]): string {
  return [...new Set(all.map((one) => called(one.principal)))].join(" and ");
}

function begin(): void {
  doorstep.value = null;
  connect();
}

/** Come in: by the link in the address, or as whoever the browser remembers. */
export function arrive(): void {
  recall();
  onChanged(() => {
    // Of whoever signed out in another tab nothing stays in this one.
    const left = signIns.peek().filter((one) => !one.hasEnded && !kept.peek().some(({ token }) => token === one.token));
    const step = doorstep.peek()?.kind;
    if (left.length > 0) location.reload();
    else if (step !== "arriving" && step !== "asked") begin();
  });
  // A link pasted into an open page changes the address without loading it anew.
  window.addEventListener("hashchange", (event) => {
    if (codeIn(location.href) === null && tokenIn(location.href) === null) return;
    const pasted = location.href;
    const before = new URL(event.oldURL);
    history.replaceState(null, "", before.pathname + before.search + before.hash);
    window.dispatchEvent(new HashChangeEvent("hashchange", { oldURL: pasted, newURL: location.href }));
    void follow(pasted);
  });
  void follow(location.href);
}

async function follow(address: string): Promise<void> {
  const code = codeIn(address);
  if (tokenIn(address) !== null) {
    clean();
    if (kept.peek().length === 0) doorstep.value = { kind: "refused", words: HOLDS_TOKEN };
    else {
      begin();
      say(`${HOLDS_TOKEN} Nothing has changed here.`, "bad");
    }
  } else if (code === null) begin();
  else await use(code);
}

/** Use a link: at once where it changes nothing for whoever is signed in, else ask first. */
export async function use(code: string): Promise<void> {
  await trying(code, async () => {
    const here = await sitting();
    if (here.length === 0) return enter(code, {});
    const other = await exchange(code, true);
    const effect = other === null ? "nothing" : effectOf(here, other);
    if (other !== null && effect === "somebody else") doorstep.value = { kind: "asked", code, here, other };
    else if (other !== null && effect === "a room beside") await enter(code, { beside: other });
    else {
      clean();
      begin();
      if (other === null) say(`${SPENT} You are still signed in as ${calledAll(here)}.`, "bad");
      else if (other.group_id !== null) go({ groupId: other.group_id });
    }
  });
}

/** The person has said that the other may take this browser over: of those who were here nothing stays. */
export function switchTo(code: string, other: Who): Promise<void> {
  return trying(code, () => enter(code, { instead: other }));
}

/** The person is the other too, in the room that the link opens. */
export function come(code: string, other: Invited): Promise<void> {
  return trying(code, () => enter(code, { beside: other }));
}

async function trying(code: string, work: () => Promise<void>): Promise<void> {
  doorstep.value = { kind: "arriving" };
  try {
    await work();
  } catch (error) {
    doorstep.value = { kind: "refused", words: error instanceof Error ? error.message : String(error), again: code };
  }
}

/** Stay who one is; the link is not spent. */
export function stay(): void {
  clean();
  begin();
}

/** A link or a token, as somebody typed it at the door. */
export function typed(given: string): void {
  const code = codeIn(given);
  if (code !== null) void use(code);
  else settle({ token: tokenIn(given) ?? given });
}

async function enter(code: string, { beside, instead }: { beside?: Invited; instead?: Who }): Promise<void> {
  const before = kept.peek();
  const made = await exchange(code, false);
  if (made?.token === undefined) {
    clean();
    recall();
    // Another tab of this browser may have been quicker with the same link.
    if (kept.peek().some((one) => !before.some(({ token }) => token === one.token))) return begin();
    doorstep.value = { kind: "refused", words: SPENT };
    return;
  }
  const who = { principal: made.principal, group_id: made.group_id };
  if (instead !== undefined) leave((one) => one.who?.principal !== who.principal || one.who.group_id === who.group_id);
  settle({ token: made.token, who, ...(beside?.title !== undefined && { title: beside.title }) }, instead !== undefined);
  if (beside === undefined || who.group_id === null) return;
  go({ groupId: who.group_id });
  say(`You are now in ${beside.title ?? "another room"} too.`);
}

/** Begin as this person too, or instead: then of whoever was here before nothing stays in the page. */
function settle(signIn: KeptSignIn, isInstead = false): void {
  clean();
  const isKept = keep(signIn);
  if (isInstead && isKept && signIns.peek().length > 0) return location.reload();
  begin();
}

function clean(): void {
  if (codeIn(location.href) !== null || tokenIn(location.href) !== null) history.replaceState(null, "", location.pathname);
}

/** Who is signed in here: of the browser's tokens those that are still good. */
async function sitting(): Promise<Who[]> {
  const asking = kept.peek().map(async ({ token }) => asked(await reach("/v1/whoami", { headers: { Authorization: `Bearer ${token}` } }), 401));
  return (await Promise.all(asking)).filter((one) => one !== null);
}

async function exchange(code: string, look: boolean): Promise<(Invited & { token?: string }) | null> {
  const body = JSON.stringify({ code, look });
  return asked(await reach("/v1/sign-in", { method: "POST", headers: { "Content-Type": "application/json" }, body }), 403);
}

async function reach(path: string, given: RequestInit): Promise<Response> {
  try {
    return await fetch(path, given);
  } catch {
    throw new Error("The hub cannot be reached right now.");
  }
}

async function asked(answer: Response, no: number): Promise<any> {
  if (answer.status === no) return null;
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.message ?? "The hub cannot answer right now.");
  return said;
}
