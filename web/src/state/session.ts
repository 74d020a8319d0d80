/** Who sits here: the token, kept by the browser and out of every address. How one gets it: `sign_in.ts`. */

import { signal, effect } from "@preact/signals";
import { load, onSaved, save } from "./storage";

export const token = signal<string | null>(null);
export const theme = signal<"system" | "light" | "dark">(load("theme", "system"));

/** Take up what the browser kept; whoever signs in or out in another tab does so in all of them. */
export function recall(): void {
  token.value = load<string | null>("token", null);
  onSaved("token", () => {
    const now = load<string | null>("token", null);
    if (now !== token.value) location.reload();
  });
}

/** False when the browser will have forgotten it at the next load. */
export function signIn(given: string): boolean {
  token.value = given;
  return save("token", given);
}

/** Have the hub end a token that a sign-in link made for this browser; one that was given to somebody stays. */
export function leave(kept: string | null): void {
  if (kept === null) return;
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${kept}` };
  // Sent although the page goes away; a hub that cannot be reached ends it when nobody has used it for long.
  void fetch("/v1/sign-out", { method: "POST", headers, body: "{}", keepalive: true }).catch(() => undefined);
}

export function signOut(): void {
  leave(token.peek());
  save("token", undefined);
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
