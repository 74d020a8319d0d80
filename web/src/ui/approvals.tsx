/** People in charge: what an agent asks leave for, as cards that one tap answers. */

import type { VNode } from "preact";
import { complain, me } from "../state/hub";
import type { Room } from "../state/room";
import { kindOf } from "./avatar";
import { Avatar } from "./avatar";

export function Approvals({ room }: { room: Room }): VNode | null {
  const now = Date.now() * 1000;
  const open = [...room.attention.approvals.value.values()].filter((one) => one.state === "asked" && (!one.expires_at || one.expires_at > now));
  if (open.length === 0 || kindOf(me.value) !== "person") return null;
  const answer = (approvalId: string, session: string, op: "approve" | "refuse") =>
    room.attention.act({ op, event_id: approvalId, approval_id: approvalId, agent: session }).catch(complain);
  return (
    <section class="approvals" aria-label="Waiting for your decision">
      {open.map((one) => (
        <article class="approval" key={one.approval_id}>
          <Avatar room={room} principal={one.session} />
          <div>
            <b>{room.nameOf(one.session)}</b> asks for your leave
            <p>{one.what}</p>
          </div>
          <button type="button" class="primary" onClick={() => void answer(one.approval_id, one.session, "approve")}>
            Approve
          </button>
          <button type="button" class="quiet" onClick={() => void answer(one.approval_id, one.session, "refuse")}>
            Refuse
          </button>
        </article>
      ))}
    </section>
  );
}
