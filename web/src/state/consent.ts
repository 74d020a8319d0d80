/** What a consent card would say: which fields go, with which values, and which of them still lack one. */

import { own } from "../text/agent";
import type { ConsentField } from "../net/agent_operations";
import type { Draft } from "./drafts";

export interface Consent {
  chosen: ConsentField[];
  /** Chosen, but there is nothing to share for them: until that is said, nothing goes. */
  lacking: ConsentField[];
  said: { share: Record<string, unknown>; decline: string[] };
}

export const isOn = (field: ConsentField, draft: Draft): boolean => own(draft.share, field.field) ?? field.ticked === true;

/** What was written in place of the value, with gaps where a window was left out. */
export const writtenOf = (field: ConsentField, draft: Draft): unknown => own(draft.values, field.field);

/** What was written, as it goes: windows that were left out are not in it. */
export function outgoing(written: unknown): unknown {
  return Array.isArray(written) ? written.filter((slot) => slot !== null) : written;
}

/** The text was deleted or every window left out: then the field is not to be shared as it was known either. */
export function isEmptied(value: unknown): boolean {
  return (typeof value === "string" && value.trim() === "") || (Array.isArray(value) && value.length === 0);
}

export function consentOf(fields: ConsentField[], draft: Draft): Consent {
  const written = (field: ConsentField) => outgoing(writtenOf(field, draft));
  const chosen = fields.filter((field) => isOn(field, draft));
  const lacking = chosen.filter((field) => isEmptied(written(field)) || (field.values.length !== 1 && written(field) === undefined));
  const going = chosen.filter((field) => !lacking.includes(field));
  return {
    chosen,
    lacking,
    said: {
      // Null is the value that the agent knows.
      share: Object.fromEntries(going.map((field) => [field.field, written(field) ?? null])),
      decline: fields.filter((field) => !going.includes(field)).map((field) => field.field),
    },
  };
}
