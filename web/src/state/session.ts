/** Who sits here: the token, taken from the sign-in link once and then kept out of every address. */

import { signal, effect } from "@preact/signals";
import { load, onSaved, save } from "./storage";

export const token = signal<string | null>(null);
export const theme = signal<"system" | "light" | "dark">(load("theme", "system"));

function takeFromAddress(): boolean {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return false;
  save("token", given);
  history.replaceState(null, "", location.pathname);
  return true;
}

/** Take the token out of the address before anything else runs. */
export function arrive(): void {
  takeFromAddress();
  // A link pasted into an open page changes the address without loading it anew.
  window.addEventListener("hashchange", () => {
    if (takeFromAddress()) location.reload();
  });
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

export function signOut(): void {
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
