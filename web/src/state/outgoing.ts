/** Which messages are on their way to a place, and are not in its history yet. */

import type { Row } from "../types";
import type { Place } from "./fold";
import { me } from "./hub";
import { parcels, settled, type Parcel } from "./outbox";

/** A refused reply is shown in the room as well: its thread may be closed, or not be there at all. */
function isHere(parcel: Parcel, place: Place): boolean {
  if (parcel.group_id !== place.groupId || parcel.by !== me.value) return false;
  const { reply_to, to, conversation } = parcel.data;
  if (place.root !== undefined) return reply_to === place.root;
  if (place.parties !== undefined) {
    return conversation?.kind === "dm" && [...to, me.value].sort().join(",") === [...place.parties].sort().join(",");
  }
  return conversation?.kind !== "dm" && (reply_to === undefined || parcel.refused !== undefined);
}

/** Oldest first; those that landed come before those that wait. */
export function underway(rows: readonly Row[], place: Place): Parcel[] {
  if (parcels.value.length === 0 && settled.value.length === 0) return [];
  const shown = new Set(rows.map((row) => row.event.data.client_id));
  const again = new Set(parcels.value.map((one) => one.client_id));
  const landed = settled.value.filter((one) => !again.has(one.client_id));
  return [...landed, ...parcels.value].filter((one) => isHere(one, place) && !shown.has(one.client_id));
}
