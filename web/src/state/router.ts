/** Where one is, kept behind `#` so that back, forward and links work without the hub knowing. */

import { signal } from "@preact/signals";
import { agentRoute } from "./agent_route";

export type View = "talk" | "dm" | "ledger" | "traces" | "dashboard" | "people" | "agents";

export interface Route {
  groupId: string | null;
  view: View;
  /** The parties of a private conversation, a trace's id, or a position. */
  detail: string | null;
}

const VIEWS: readonly View[] = ["talk", "dm", "ledger", "traces", "dashboard", "people", "agents"];

export function parse(hash: string): Route {
  const [mark, group, view, ...rest] = hash.replace(/^#\/?/, "").split("/").map(safeDecode);
  if (mark !== "g" || !group) return { groupId: null, view: "talk", detail: null };
  const known = VIEWS.find((one) => one === view) ?? "talk";
  return { groupId: group, view: known, detail: rest.join("/") || null };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function address(route: Route): string {
  if (route.groupId === null) return "#/";
  const parts = ["g", route.groupId];
  if (route.view !== "talk" || route.detail !== null) parts.push(route.view);
  if (route.detail !== null) parts.push(route.detail);
  return "#/" + parts.map(encodeURIComponent).join("/");
}

export const route = signal<Route>(parse(location.hash));
window.addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

/** Go somewhere; `instead` of where one is, when going back there would lead nowhere. */
export function go(to: Partial<Route> & { groupId: string | null }, instead = false): void {
  const next: Route = { view: "talk", detail: null, ...to };
  const hash = address(next);
  if (instead) history.replaceState(null, "", hash);
  else if (location.hash !== hash) location.hash = hash;
  agentRoute.value = null;
  route.value = next;
}
