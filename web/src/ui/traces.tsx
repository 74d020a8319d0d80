/** The CLowl conversations of a room: one line each, the tree beside it. */

import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import { call, complain } from "../state/hub";
import type { Room } from "../state/room";
import { go, route } from "../state/router";
import { agoOf, lasting } from "../text/time";
import type { LedgerEvent } from "../types";
import { hue } from "./avatar";
import { TraceTree } from "./trace";

interface Listed {
  tid: string;
  first: LedgerEvent;
  last: LedgerEvent;
  count: number;
}

const ENDS: Record<string, string> = { DONE: "done", ERR: "failed", CNCL: "cancelled" };

export function Traces({ room }: { room: Room }): VNode {
  const [all, setAll] = useState<Listed[] | null>(null);
  const end = room.timeline({ groupId: room.id }).rows.value.at(-1)?.event.seq;
  useEffect(() => {
    call<{ traces: Listed[] }>("traces", { group_id: room.id, limit: 100 })
      .then((found) => setAll(found.traces))
      .catch(complain);
  }, [room, end]);
  const chosen = route.value.detail;
  return (
    <div class={chosen ? "page traces chosen" : "page traces"}>
      <div class="trace-list" tabIndex={-1}>
        {all?.length === 0 && (
          <p class="nothing">
            No agent has spoken CLowl here yet. Messages in it are shown in English, with the object one click away; their traces are listed here.
          </p>
        )}
        <ul>
          {all?.map((one) => (
            <li key={one.tid}>
              <button type="button" class="trace-entry" aria-pressed={chosen === one.tid} onClick={() => go({ groupId: room.id, view: "traces", detail: one.tid })}>
                <i class={`chip hue-${hue(one.first.by)}`} />
                <b>{room.nameOf(one.first.by)}</b>
                <span class={`tag ${ENDS[one.last.data.clowl?.p] ?? "open"}`}>{ENDS[one.last.data.clowl?.p] ?? "open"}</span>
                <time>{agoOf(one.last.ts)}</time>
                <p>{String(one.first.data.text)}</p>
                <span class="soft">
                  {one.count} messages · {lasting(Date.parse(one.last.ts) - Date.parse(one.first.ts))}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
      {chosen && (
        <div class="trace-detail">
          <button type="button" class="quiet small only-phone" onClick={() => go({ groupId: room.id, view: "traces" })}>
            All traces
          </button>
          <TraceTree key={chosen} room={room} tid={chosen} />
        </div>
      )}
    </div>
  );
}
