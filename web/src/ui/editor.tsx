/** A message's text, open to be changed; the message may still be on its way when the typing begins or ends. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import { edit } from "../state/actions";
import { textOf } from "../state/fold";
import { me, resend } from "../state/hub";
import { recipients } from "../state/names";
import { parcels, revise, settled, wanted, type Parcel } from "../state/outbox";
import type { Room } from "../state/room";
import { beginEditing, editing, selected, typed } from "../state/ui";
import type { Row } from "../types";
import { grow } from "./grow";

/** One name for a message from the outbox to the history; only its author gives the ledger's events such names. */
export function keyOf(row: Row): string {
  const { by, id, data } = row.event;
  return by === me.peek() && typeof data.client_id === "string" ? data.client_id : id;
}

export const parcelOf = (key: string): Parcel | undefined => parcels.value.find((one) => one.client_id === key);

/** The text of a message as its author wants it by now. */
export function currentText(row: Row): string {
  const parcel = row.event.by === me.value && !row.deleted ? parcelOf(keyOf(row)) : undefined;
  return parcel?.revised?.text ?? textOf(row);
}

export function editRow(row: Row, where: string): void {
  beginEditing(keyOf(row), where, currentText(row));
}

export function editParcel(parcel: Parcel, where: string): void {
  beginEditing(parcel.client_id, where, wanted(parcel));
}

/** What sending a message with another text would send. */
function rewriting(room: Room, text: string): (data: Parcel["data"]) => Parcel["data"] {
  return (data) => {
    const names = data.priority === "attention" && data.conversation?.kind !== "dm" ? recipients(room, text) : null;
    return { ...data, text, ...(names && { to: names.length > 0 ? names : ["@all"] }) };
  };
}

/** Put a text in the place of a message, wherever the message is by now. */
async function saved(room: Room, key: string, row: Row | undefined, text: string): Promise<boolean> {
  if (revise(key, text, rewriting(room, text))) {
    resend();
    return true;
  }
  // Landed, and not in this history yet: the row takes the editor over in a moment.
  return row !== undefined && (await edit(row, text));
}

export function Editor({ room, name, row }: { room: Room; name: string; row?: Row }): VNode {
  const area = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(typed.text);
  const before = row !== undefined ? currentText(row) : wanted(parcelOf(name) ?? settled.value.find((one) => one.client_id === name)!);
  const noted = () => {
    if (document.activeElement !== area.current) return;
    const { value, selectionStart, selectionEnd } = area.current!;
    Object.assign(typed, { text: value, from: selectionStart, to: selectionEnd });
  };
  useLayoutEffect(() => {
    const element = area.current!;
    // Not hoping for a later moment: a key pressed between two drawings must meet the field.
    element.focus({ preventScroll: row !== undefined });
    element.setSelectionRange(typed.from, typed.to);
    document.addEventListener("selectionchange", noted);
    return () => document.removeEventListener("selectionchange", noted);
  }, []);
  useLayoutEffect(() => {
    grow(area.current!);
  }, [text]);
  const leave = () => {
    const field = area.current?.closest(".talk")?.querySelector<HTMLElement>(".composer textarea");
    editing.value = null;
    if (row === undefined) field?.focus({ preventScroll: true });
    else selected.value = row.event.id;
  };
  const done = async () => {
    const now = area.current!.value;
    if (now.trim() === "" || now === before || (await saved(room, name, row, now.trimEnd()))) leave();
  };
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        void done();
      }}
    >
      <textarea
        ref={area}
        value={text}
        dir="auto"
        aria-label="Edit message"
        onInput={(event) => {
          setText(event.currentTarget.value);
          noted();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            void done();
          } else if (event.key === "Escape") {
            event.stopPropagation();
            leave();
          }
        }}
      />
      <div class="editor-actions">
        <span class="soft">Enter saves, Esc leaves it as it was</span>
        <button type="button" class="quiet small" onClick={leave}>
          Cancel
        </button>
        <button type="submit" class="primary small">
          Save
        </button>
      </div>
    </form>
  );
}
