/**
 * Sign-in links: a code behind `#` that the hub exchanges, once, for a token of this browser's own.
 *
 * A link never replaces whoever is signed in: the person is asked, before the link is spent. The code stays in the
 * address until then, so that a reload asks again. A link that holds a token itself is not taken.
 */

import { signal } from "@preact/signals";
import { say, start } from "./hub";
import { leave, recall, signIn, token } from "./session";
import { load } from "./storage";

interface Who {
  principal: string;
  group_id: string | null;
}

/** What stands between a person and the room. */
export type Doorstep =
  | { kind: "arriving" }
  | { kind: "asked"; code: string; here: string; other: string }
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

let begun = false;

function begin(): void {
  doorstep.value = null;
  if (begun || token.peek() === null) return;
  begun = true;
  start();
}

/** Come in: by the link in the address, or as whoever the browser remembers. */
export function arrive(): void {
  recall();
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
    if (token.peek() === null) doorstep.value = { kind: "refused", words: HOLDS_TOKEN };
    else {
      begin();
      say(`${HOLDS_TOKEN} Nothing has changed here.`, "bad");
    }
  } else if (code === null) begin();
  else await use(code);
}

/** Use a link: at once where nobody is signed in, else ask first. */
export async function use(code: string): Promise<void> {
  doorstep.value = { kind: "arriving" };
  try {
    const here = await sitting();
    if (here === null) return await enter(code);
    const other = await exchange(code, true);
    if (other === null) {
      clean();
      begin();
      say(`${SPENT} You are still signed in as ${called(here.principal)}.`, "bad");
    } else if (other.principal === here.principal && other.group_id === here.group_id) {
      clean();
      begin();
    } else doorstep.value = { kind: "asked", code, here: here.principal, other: other.principal };
  } catch (error) {
    doorstep.value = { kind: "refused", words: error instanceof Error ? error.message : String(error), again: code };
  }
}

/** The person has said that the other may take this browser over. */
export async function switchTo(code: string): Promise<void> {
  doorstep.value = { kind: "arriving" };
  try {
    await enter(code);
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
  else settle(tokenIn(given) ?? given);
}

async function enter(code: string): Promise<void> {
  const made = await exchange(code, false);
  if (made?.token !== undefined) return settle(made.token);
  // Another tab of this browser may have been quicker with the same link.
  if (load<string | null>("token", null) !== token.peek()) return location.replace(location.pathname);
  clean();
  doorstep.value = { kind: "refused", words: SPENT };
}

/** Begin as this person: of whoever was here before nothing stays in the page. */
function settle(given: string): void {
  clean();
  if (token.peek() !== given) leave(token.peek());
  const isKept = signIn(given);
  if (begun && isKept) return location.reload();
  begun = false;
  begin();
}

function clean(): void {
  if (codeIn(location.href) !== null || tokenIn(location.href) !== null) history.replaceState(null, "", location.pathname);
}

/** Who is signed in here, if the browser's token is still good. */
async function sitting(): Promise<Who | null> {
  const kept = token.peek();
  if (kept === null) return null;
  return asked(await reach("/v1/whoami", { headers: { Authorization: `Bearer ${kept}` } }), 401);
}

async function exchange(code: string, look: boolean): Promise<(Who & { token?: string }) | null> {
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
