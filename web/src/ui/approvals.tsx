/** People in charge: what an agent asks leave for, as cards that one tap answers. */

import type { VNode } from "preact";
import { complain, me } from "../state/hub";
import type { Room } from "../state/room";
import { Avatar, kindOf } from "./avatar";

export function Approvals({ room }: { room: Room }): VNode | null {
  const open = room.attention.approvals.value;
  if (open.length === 0 || kindOf(me.value) !== "person") return null;
  const answer = (approval_id: string, op: "approve" | "refuse") => {
    // The card is about to vanish: what is typed next belongs to the conversation.
    document.querySelector<HTMLElement>(".main .composer textarea")?.focus({ preventScroll: true });
    void room.attention.act({ op, approval_id }).catch(complain);
  };
  return (
    <section class="approvals" aria-label="Waiting for your decision">
      {open.map((one) => (
        <article class="approval" key={one.approval_id}>
          <Avatar room={room} principal={one.session} />
          <div>
            <b>{room.nameOf(one.session)}</b> asks for your leave
            <p title={one.says}>{one.says || "Open its last message to see what it is about."}</p>
          </div>
          <button type="button" class="primary" onClick={() => answer(one.approval_id, "approve")}>
            Approve
          </button>
          <button type="button" class="quiet" onClick={() => answer(one.approval_id, "refuse")}>
            Refuse
          </button>
        </article>
      ))}
    </section>
  );
}
