/** Where one is in the personal agent's views: `#/agent/threads/thr_…`, the same on its own page and in the room. */

import { signal } from "@preact/signals";

export type AgentView = "questions" | "threads" | "people" | "permissions" | "receipts" | "spaces" | "you";

export interface AgentRoute {
  view: AgentView;
  detail: string | null;
}

const VIEWS: readonly AgentView[] = ["questions", "threads", "people", "permissions", "receipts", "spaces", "you"];

/** Null for an address that is not the agent's. */
export function parseAgent(hash: string): AgentRoute | null {
  const [mark, view, detail] = hash.replace(/^#\/?/, "").split("/").map(safeDecode);
  if (mark !== "agent") return null;
  return { view: VIEWS.find((one) => one === view) ?? "questions", detail: detail || null };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function agentAddress(view: AgentView, detail: string | null = null): string {
  return `#/agent/${view}${detail === null ? "" : `/${encodeURIComponent(detail)}`}`;
}

export const agentRoute = signal<AgentRoute | null>(parseAgent(location.hash));
window.addEventListener("hashchange", () => {
  agentRoute.value = parseAgent(location.hash);
});

export function goAgent(view: AgentView, detail: string | null = null, instead = false): void {
  const hash = agentAddress(view, detail);
  if (instead) history.replaceState(null, "", hash);
  else if (location.hash !== hash) location.hash = hash;
  agentRoute.value = { view, detail };
}
