/** What a form says about an agent, as the words that the hub takes; pure. */

import type { AgentPresence, CrewDriver } from "../types";

export interface AgentForm {
  name: string;
  driver: string;
  model: string;
  folder: string;
  access: string;
  mine: boolean;
  more: string;
  roles: string;
  instructions: string;
  dollars: string;
  worktree: boolean;
}

export const BLANK: AgentForm = {
  name: "",
  driver: "",
  model: "",
  folder: "",
  access: "read",
  mine: true,
  more: "",
  roles: "",
  instructions: "",
  dollars: "",
  worktree: false,
};

/** Words as a shell would split them, with quotes, and nothing else of a shell. */
export function words(text: string): string[] {
  const found: string[] = [];
  for (const [, double, single, plain] of text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)) {
    found.push(double !== undefined ? double.replace(/\\(.)/g, "$1") : (single ?? plain ?? ""));
  }
  return found;
}

/** The parameters of `crew_add`. */
export function request(groupId: string, form: AgentForm, driver: CrewDriver): Record<string, unknown> {
  const takes = (flag: string) => flag in driver.takes;
  const options: string[] = [];
  if (takes("--model") && form.model.trim() !== "") options.push("--model", form.model.trim());
  if (takes("--cwd") && form.folder.trim() !== "") options.push("--cwd", form.folder.trim());
  if (takes("--access")) options.push("--access", form.access);
  if (takes("--use-my-config") && form.mine) options.push("--use-my-config");
  options.push(...words(form.more));
  const roles = form.roles.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const dollars = Number(form.dollars);
  return {
    group_id: groupId,
    actor_id: form.name.trim(),
    driver: form.driver,
    options,
    worktree: form.worktree && takes("--cwd"),
    ...(roles.length > 0 && { roles }),
    ...(form.instructions.trim() !== "" && { instructions: form.instructions.trim() }),
    ...(dollars > 0 && { budget: { cost_usd: dollars } }),
  };
}

type Costing = Pick<AgentPresence, "currency" | "turns">;

/** What was counted, or, with a sign, reckoned by bytes where an agent counts nothing. */
export const BY_BYTES = "~ is reckoned by bytes: an agent here counts no tokens";
export const about = (estimated: boolean | undefined, told: string): string => (estimated ? `~${told}` : told);

/** What agents cost, said as it is: what some of them do not tell is not nought. */
export function costTold<One extends Costing>(known: One[], of: (one: One) => number, estimated = false): string {
  const telling = known.filter((one) => one.currency !== "");
  if (telling.length === 0) return known.some((one) => one.turns > 0) ? "not told" : "-";
  const total = telling.reduce((all, one) => all + of(one), 0);
  const isPartial = known.some((one) => one.currency === "" && one.turns > 0);
  return `${isPartial ? "at least " : ""}${about(estimated, total.toFixed(2))} ${telling[0]!.currency}`;
}
