/** Where one writes: draft kept, names completed, files carried, and a line that says what sending will do. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { VNode } from "preact";
import { upload, type Uploaded } from "../net/blobs";
import { placeKey, type Place } from "../state/fold";
import { complain, me, notify, send, tokenIn } from "../state/hub";
import { recipients } from "../state/names";
import { underway } from "../state/outgoing";
import type { Room } from "../state/room";
import { load, onSaved, save } from "../state/storage";
import { selectAndReveal, wasSent } from "../state/ui";
import { completed, completions, typedAt, type Mentionable } from "../text/mentions";
import { sized } from "../text/time";
import type { Preview } from "../types";
import { currentText, editParcel, editRow } from "./editor";
import { grow } from "./grow";
import { Icon } from "./icons";

interface Carried {
  id: number;
  name: string;
  type: string;
  size: number;
  share: number;
  done: (Uploaded & { width?: number; height?: number }) | null;
  failed: string | null;
  stop: () => void;
}

interface Draft {
  text: string;
  asks: boolean;
  files: { id: number; name: string; type: string; size: number; done: Uploaded & { width?: number; height?: number } }[];
}

const EMPTY: Draft = { text: "", asks: false, files: [] };
const TYPING_EVERY = 2500;
const MOST_FILE = 64 * 1024 * 1024;
/** Grow over reloads too: a kept draft's files stand before new ones. */
let carriedIds = Date.now();

/** Whom one can mention here. */
export function mentionables(room: Room): Mentionable[] {
  const { actors, people } = room.group.value;
  const roles = [...new Set(actors.flatMap((one) => one.roles))].sort();
  return [
    ...actors.map((one) => ({ name: one.actor_id, label: one.title ?? one.actor_id, kind: "agent" as const })),
    ...people
      .filter((one) => one.principal !== me.value)
      .map((one) => ({ name: one.principal.replace(/^usr:/, ""), label: one.title ?? one.principal, kind: "person" as const })),
    ...(me.value === "user" ? [] : [{ name: "user", label: "Owner", kind: "person" as const }]),
    ...roles.map((one) => ({ name: one, label: `${actors.filter((actor) => actor.roles.includes(one)).length} agents with this role`, kind: "role" as const })),
    { name: "all", label: "Everyone here", kind: "everyone" as const },
  ];
}

/** The `data` of the message as it would be sent. */
export function dataOf(room: Room, place: Place, draft: Draft): Record<string, any> {
  const data: Record<string, any> = { text: draft.text.trimEnd(), format: "markdown" };
  if (place.root !== undefined) data.reply_to = place.root;
  else if (place.parties !== undefined) {
    data.to = place.parties.filter((one) => one !== room.me);
    data.conversation = { kind: "dm" };
  }
  if (draft.asks) {
    data.priority = "attention";
    if (place.parties === undefined) {
      const to = recipients(room, draft.text);
      data.to = to.length > 0 ? to : ["@all"];
      data.conversation = { kind: place.root === undefined ? "channel" : "thread" };
    }
  }
  if (draft.files.length > 0) {
    data.attachments = draft.files.map((one) => ({
      path: one.done.path,
      title: one.name,
      mime_type: one.type || "application/octet-stream",
      kind: one.type.startsWith("image/") ? "image" : one.type.startsWith("text/") ? "text" : "file",
      ...(one.done.width && { width: one.done.width, height: one.done.height }),
    }));
  }
  return data;
}

async function dimensions(file: File): Promise<{ width?: number; height?: number }> {
  if (!file.type.startsWith("image/") || !("createImageBitmap" in window)) return {};
  try {
    const bitmap = await createImageBitmap(file);
    const size = { width: bitmap.width, height: bitmap.height };
    bitmap.close();
    return size;
  } catch {
    return {};
  }
}

export function Composer({ room, place, autoFocus }: { room: Room; place: Place; autoFocus?: boolean }): VNode {
  const key = placeKey(place);
  // Another person may sign in on this browser.
  const kept = `draft.${room.me}.${key}`;
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState<Draft>(() => ({ ...EMPTY, ...load(kept, EMPTY) }));
  const [carried, setCarried] = useState<Carried[]>([]);
  const [found, setFound] = useState<Mentionable[]>([]);
  const [choice, setChoice] = useState(0);
  const [over, setOver] = useState(false);
  const signalled = useRef(0);
  const preview = usePreview(room, place, draft);

  const change = (next: Draft) => {
    setDraft(next);
    const blank = next.text === "" && next.files.length === 0;
    save(kept, blank ? undefined : next);
  };
  useEffect(() => {
    setDraft({ ...EMPTY, ...load(kept, EMPTY) });
    setCarried([]);
    setFound([]);
    if (autoFocus) area.current?.focus({ preventScroll: true });
  }, [key]);
  useEffect(() => {
    // Another tab writes the same draft: follow it unless this one is being typed in.
    return onSaved(kept, () => {
      if (document.activeElement !== area.current || !document.hasFocus()) setDraft({ ...EMPTY, ...load(kept, EMPTY) });
    });
  }, [key]);
  useLayoutEffect(() => {
    grow(area.current!, Math.min(260, innerHeight * 0.35));
  }, [draft.text]);

  const carry = (files: Iterable<File>) => {
    for (const file of files) {
      const id = ++carriedIds;
      const known = { id, name: file.name, type: file.type, size: file.size, share: 0, done: null };
      if (file.size > MOST_FILE) {
        setCarried((all) => [...all, { ...known, failed: "is larger than 64 MiB", stop: () => undefined }]);
        continue;
      }
      const set = (what: Partial<Carried>) => setCarried((all) => all.map((one) => (one.id === id ? { ...one, ...what } : one)));
      const { done, stop } = upload(tokenIn(room.id), room.id, file, (share) => set({ share }));
      setCarried((all) => [...all, { ...known, failed: null, stop }]);
      Promise.all([done, dimensions(file)])
        .then(([stored, size]) => {
          setCarried((all) => all.filter((one) => one.id !== id));
          setDraft((now) => {
            // In the order of choosing, whichever came through first.
            const files = [...now.files, { id, name: file.name, type: file.type, size: file.size, done: { ...stored, ...size } }].sort((a, b) => a.id - b.id);
            const next = { ...now, files };
            save(kept, next);
            return next;
          });
        })
        .catch((error: Error) => set({ failed: error.message }));
    }
  };

  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // Files may be dropped anywhere on the conversation.
    const whole = form.current!.closest<HTMLElement>(".talk") ?? form.current!;
    const dragged = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent) => {
      if (!whole.contains(event.relatedTarget as Node | null)) setOver(false);
    };
    const dropped = (event: DragEvent) => {
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      carry(files);
    };
    whole.addEventListener("dragover", dragged);
    whole.addEventListener("dragleave", left);
    whole.addEventListener("drop", dropped);
    return () => {
      whole.removeEventListener("dragover", dragged);
      whole.removeEventListener("dragleave", left);
      whole.removeEventListener("drop", dropped);
    };
  }, [key]);

  const typed = () => {
    const element = area.current!;
    const mention = typedAt(element.value, element.selectionStart);
    setFound(mention === null ? [] : completions(mentionables(room), mention.query));
    setChoice(0);
    const now = Date.now();
    if (element.value !== "" && now - signalled.current > TYPING_EVERY) {
      signalled.current = now;
      notify("typing", { group_id: room.id, conversation_id: conversationOf(place) });
    }
  };

  const choose = (one: Mentionable) => {
    const element = area.current!;
    const mention = typedAt(element.value, element.selectionStart)!;
    const next = completed(element.value, element.selectionStart, mention, one.name);
    // At once, in the element itself: the next key may come before the next drawing.
    element.value = next.text;
    element.focus();
    element.setSelectionRange(next.caret, next.caret);
    change({ ...draft, text: next.text });
    setFound([]);
  };

  const submit = () => {
    if (carried.some((one) => one.failed === null)) return complain(new Error("An attachment is still on its way."));
    if (draft.text.trim() === "" && draft.files.length === 0) return;
    send(room.id, dataOf(room, place, draft));
    wasSent(key);
    change(EMPTY);
    signalled.current = 0;
    setFound([]);
    area.current?.focus();
  };

  const keys = (event: KeyboardEvent) => {
    // Enter and the arrows belong to whoever composes a letter.
    if (event.isComposing) return;
    // A name that stands there whole needs no completing: Enter sends.
    const isWhole = found[choice]?.name.toLowerCase() === typedAt(area.current!.value, area.current!.selectionStart)?.query;
    if (found.length > 0 && !(isWhole && event.key === "Enter")) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        return setChoice((choice + step + found.length) % found.length);
      }
      if (event.key === "Enter" || event.key === "Tab") {
        event.preventDefault();
        return choose(found[choice]!);
      }
      if (event.key === "Escape") {
        event.stopPropagation();
        return setFound([]);
      }
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "ArrowUp" && draft.text === "") {
      if (editNewest(room, place)) event.preventDefault();
    } else if (event.key === "Escape") {
      area.current?.blur();
    }
  };

  const label = place.root ? "Reply in this thread" : place.parties ? `Message ${place.parties.filter((one) => one !== room.me).map((one) => room.nameOf(one)).join(", ")}` : `Message ${room.group.value.title}`;
  return (
    <form
      ref={form}
      class={over ? "composer over" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {found.length > 0 && (
        <ul class="completions" role="listbox" id={`names-${key}`} aria-label="Names">
          {found.map((one, index) => (
            <li
              role="option"
              id={`name-${key}-${index}`}
              aria-selected={index === choice}
              onMouseDown={(event) => {
                event.preventDefault();
                choose(one);
              }}
            >
              <span class={`kind ${one.kind}`} aria-hidden="true">
                {one.kind === "role" ? "#" : one.kind === "everyone" ? "∗" : one.label.slice(0, 1).toUpperCase()}
              </span>
              <b>@{one.name}</b>
              <span class="soft">{one.label === one.name ? one.kind : one.label}</span>
            </li>
          ))}
        </ul>
      )}
      {(draft.files.length > 0 || carried.length > 0) && (
        <ul class="carried">
          {draft.files.map((one, index) => (
            <li key={one.done.path + index}>
              <Icon name="file" size={15} /> {one.name} <span class="soft">{sized(one.size)}</span>
              <button type="button" class="tool" aria-label={`Remove ${one.name}`} onClick={() => change({ ...draft, files: draft.files.filter((_, at) => at !== index) })}>
                <Icon name="close" size={13} />
              </button>
            </li>
          ))}
          {carried.map((one) => (
            <li key={one.id} class={one.failed ? "failed" : ""}>
              {one.name} {one.failed ?? <progress value={one.share} max={1} aria-label={`Uploading ${one.name}`} />}
              <button
                type="button"
                class="tool"
                aria-label={`Stop ${one.name}`}
                onClick={() => {
                  one.stop();
                  setCarried((all) => all.filter((other) => other.id !== one.id));
                }}
              >
                <Icon name="close" size={13} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="write">
        <textarea
          ref={area}
          rows={1}
          dir="auto"
          value={draft.text}
          placeholder={label.length > 60 ? `${label.slice(0, 58)}…` : label}
          aria-label={label}
          aria-autocomplete="list"
          aria-controls={found.length > 0 ? `names-${key}` : undefined}
          aria-activedescendant={found.length > 0 ? `name-${key}-${choice}` : undefined}
          onInput={(event) => {
            change({ ...draft, text: event.currentTarget.value });
            typed();
          }}
          onKeyDown={keys}
          onBlur={() => setFound([])}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])];
            if (files.length > 0) {
              event.preventDefault();
              carry(files);
            }
          }}
        />
        <div class="write-actions">
          <button type="button" class="tool" title="Attach a file" aria-label="Attach a file" onClick={() => picker.current!.click()}>
            <Icon name="attach" />
          </button>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              carry([...(event.currentTarget.files ?? [])]);
              // So that the same file can be chosen again.
              event.currentTarget.value = "";
            }}
          />
          <button
            type="button"
            class={draft.asks ? "tool on" : "tool"}
            title="Ask for acknowledgement"
            aria-label="Ask for acknowledgement"
            aria-pressed={draft.asks}
            onClick={() => change({ ...draft, asks: !draft.asks })}
          >
            <Icon name="bell" />
          </button>
          <button type="submit" class="send" aria-label="Send" disabled={draft.text.trim() === "" && draft.files.length === 0}>
            <Icon name="send" />
          </button>
        </div>
      </div>
      <p class="will" role="status" aria-live="polite">
        {preview ?? <span class="hint">{draft.asks ? "Those you name will be asked to acknowledge." : "Enter sends · Shift+Enter new line · @ names someone"}</span>}
      </p>
    </form>
  );
}

/** Open one's newest message here for editing; it may be on its way still. */
function editNewest(room: Room, place: Place): boolean {
  const rows = room.timeline(place).rows.peek();
  const where = placeKey(place);
  const waiting = underway(rows, place).at(-1);
  if (waiting !== undefined) {
    editParcel(waiting, where);
    return true;
  }
  const own = rows.findLast((row) => row.event.by === me.peek() && !row.deleted && row.event.kind === "chat.message" && !row.event.data.clowl);
  if (own === undefined || currentText(own) === "") return false;
  selectAndReveal(own.event.id);
  editRow(own, where);
  return true;
}

/** What the hub calls the conversation that one types in. */
export function conversationOf(place: Place): string | null {
  return place.parties ? `dm:${[...place.parties].sort().join("+")}` : null;
}

/** What sending will do, asked a little after the last key. */
function usePreview(room: Room, place: Place, draft: Draft): VNode | string | null {
  const [preview, setPreview] = useState<Preview | null>(null);
  const offered = room.attention.offered.value && room.agents.value.size > 0;
  const text = draft.text.trim();
  useEffect(() => {
    if (!offered || text === "") return setPreview(null);
    let current = true;
    const wait = setTimeout(() => {
      room.attention
        .preview(dataOf(room, place, draft))
        .then((found) => current && setPreview(found))
        .catch(() => current && setPreview(null));
    }, 220);
    return () => {
      current = false;
      clearTimeout(wait);
    };
  }, [text, draft.asks, offered, placeKey(place)]);
  if (preview === null || text === "") return null;
  return <span class={(preview.unknown ?? []).length > 0 ? "preview warns" : "preview"}>{preview.sentence}</span>;
}
