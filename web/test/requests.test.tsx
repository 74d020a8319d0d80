// @vitest-environment happy-dom
import { render } from "preact";
import { expect, test } from "vitest";
import { Approvals, requestText, shortWish } from "../src/ui/approvals";
import { requests, signIns } from "../src/state/hub";
import { Room } from "../src/state/room";
import { SignIn } from "../src/state/signed_in";

const asked = {
  approval_id: "permission:bea:1", session: "bea", says: "", asked_at: "2026-01-01T00:00:00Z", asked_by: ["usr:gus"],
  request: { seq: 83, by: "usr:gus", text: "tidy\u202e up" }, kind: "command", title: "ls \u202e# fr- mr\u202c ; rm -rf ~ דוח",
  worktree: "bea", event_id: "e83", may_allow: false, covers: "exactly this",
};
function roomNamed(group_id: string, me = "user"): Room {
  const group = { group_id, title: group_id, actors: [{ actor_id: "bea", roles: [] }], people: [{ principal: "usr:gus" }], last_seq: 0 };
  const room = new Room(group as any, me, { call: () => new Promise(() => undefined) } as any);
  room.attention.approvals.value = [asked];
  return room;
}

/** Who sits here, in these rooms. */
function signedInAs(me: string, ...rooms: Room[]): void {
  const signIn = new SignIn("t", {} as any);
  signIn.me.value = me;
  signIn.rooms.value = rooms;
  signIns.value = [signIn];
}

const room = roomNamed("Lab");

test("a card says who asked for it in which words, and shows what nobody would see", () => {
  expect(requestText(room, asked)).toBe("gus asked bea (#83: “tidy⟨U+202E⟩ up”).");
  expect(shortWish(asked)).toContain("wants to run: ls ⟨U+202E⟩#");
});

test("whoever asked for it is given no way to allow it", () => {
  signedInAs("usr:gus", room);
  const box = document.createElement("div");
  render(<Approvals room={room} />, box);
  expect(box.querySelector(".wanted")!.textContent).toBe("ls ⟨U+202E⟩# fr- mr⟨U+202C⟩ ; rm -rf ~ דוח");
  expect(box.querySelector(".wanted bdi")!.textContent).toBe("דוח");
  expect([...box.querySelectorAll(".choices button")].map((one) => one.textContent!.trim())).toEqual(["No"]);
  expect(box.textContent).toContain("in worktree bea");
  render(null, box);
});

test("requests of every room are counted in the title", () => {
  signedInAs("user", roomNamed("Lab"), roomNamed("Lobby"), roomNamed("Elsewhere", "bea"));
  expect(requests.value.map((one) => one.room.id)).toEqual(["Lab", "Lobby"]);
  expect(document.title).toBe("2 requests · Tacit");
  signIns.value = [];
  expect(document.title).toBe("Tacit");
});
