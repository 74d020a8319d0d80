/** A CLowl trace as a tree: who said what to whom, how long each answer took, what is open or broken. */

import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import { showEvent } from "../state/actions";
import { call, complain } from "../state/hub";
import type { Room } from "../state/room";
import { clockOf, lasting } from "../text/time";
import type { LedgerEvent } from "../types";
import { hue } from "./avatar";

interface Answer {
  tid: string;
  trace: Record<string, any>;
  events: LedgerEvent[];
}

interface Node {
  event: LedgerEvent;
  children: Node[];
}

/** The tree that `pid` links make; a message whose parent is not here stands at the top. */
export function treeOf(events: readonly LedgerEvent[]): Node[] {
  const nodes = new Map<string, Node>();
  const tops: Node[] = [];
  for (const event of events) nodes.set(String(event.data.clowl?.mid), { event, children: [] });
  for (const node of nodes.values()) {
    const pid = node.event.data.clowl?.pid;
    const parent = pid ? nodes.get(String(pid)) : undefined;
    if (parent !== undefined && parent !== node) parent.children.push(node);
    else tops.push(node);
  }
  return tops;
}

export function TraceTree({ room, tid }: { room: Room; tid: string }): VNode {
  const [found, setFound] = useState<Answer | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const last = room.timeline({ groupId: room.id }).rows.value.at(-1)?.event.seq;
  useEffect(() => {
    let current = true;
    call<Answer>("trace", { group_id: room.id, tid })
      .then((answer) => current && setFound(answer))
      .catch((error: Error) => current && setFailed(error.message));
    return () => {
      current = false;
    };
  }, [tid, room, last]);
  if (failed !== null && found === null) return <p class="nothing">{failed}</p>;
  if (found === null) return <p class="nothing">Reading the trace…</p>;
  const first = Date.parse(found.events[0]!.ts);
  const end = Date.parse(found.events.at(-1)!.ts);
  return (
    <div class="panel-body trace">
      <p class="soft">
        <code>{tid}</code> · {found.events.length} messages · {lasting(end - first)}
      </p>
      <Branch nodes={treeOf(found.events)} room={room} first={first} span={Math.max(1, end - first)} />
    </div>
  );
}

const TONES: Record<string, string> = { REQ: "asks", QRY: "asks", DLGT: "asks", DONE: "done", ERR: "bad", CNCL: "bad", PROG: "works", ACK: "quiet", INF: "quiet", CAPS: "quiet" };

function Branch(props: { nodes: Node[]; room: Room; first: number; span: number; from?: number }): VNode {
  return (
    <ol class="branch">
      {props.nodes.map(({ event, children }) => {
        const at = Date.parse(event.ts);
        const { p } = event.data.clowl;
        const took = props.from === undefined ? null : at - props.from;
        return (
          <li key={event.id}>
            <button type="button" class="step" onClick={() => void showEvent(event.group_id, event.id).catch(complain)}>
              <span class={`act ${TONES[p] ?? "quiet"}`}>{p}</span>
              <i class={`chip hue-${hue(event.by)}`} />
              <span class="who">{props.room.nameOf(event.by)}</span>
              <span class="took">{took === null ? clockOf(event.ts) : `+${lasting(took)}`}</span>
              <span class="said">{String(event.data.text)}</span>
              <span class="bar" aria-hidden="true">
                <i style={{ marginLeft: `${(96 * (at - props.first)) / props.span}%` }} />
              </span>
            </button>
            {children.length > 0 && <Branch {...props} nodes={children} from={at} />}
          </li>
        );
      })}
    </ol>
  );
}
