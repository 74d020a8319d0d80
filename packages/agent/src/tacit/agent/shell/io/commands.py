"""What an owner can ask of the agent and is told by it: the same dictionaries for terminal and Python.

A2ACP-101, A2ACP-119, A2ACP-122, A2ACP-128, A2ACP-129, A2ACP-143, A2ACP-164, A2ACP-196, A2ACP-217, A2ACP-263.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import structs

from tacit.a2acp.packets import packet
from tacit.agent.brain.io import thoughts
from tacit.agent.brain.io.thinking import Thinking
from tacit.agent.consent import answering
from tacit.agent.consent.answering import Answer
from tacit.agent.consent.io import receipts
from tacit.agent.consent.io.settings import Settings
from tacit.agent.contacts.io import people
from tacit.agent.groups.io import operations as grouping
from tacit.agent.groups.members import members_of
from tacit.agent.kernel import records
from tacit.agent.kernel.state import THEM, US, Question, Thread
from tacit.agent.memory.io import forgetting
from tacit.agent.memory.io import operations as remembering
from tacit.agent.owner.io import hinting, notices
from tacit.agent.scheduling import asking, concluding, drafting, proposal_slots
from tacit.agent.scheduling.facts import checked as read_facts
from tacit.agent.scheduling.io import wishes
from tacit.agent.scheduling.view import view_of
from tacit.agent.spaces.io import operations as spaces
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.errors import Refused
from tacit.base.moment import rfc3339
from tacit.base.quoting import shown, shown_in
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.workspace import Workspace

MESSAGE: Final = "message:"
"""How `Answer.via` names a message of the person in another program."""
LONGEST_RECEIVED: Final = 4000
"""Of one text that a counterpart told, where all that it told is looked at."""


class Commands(Settings, Thinking):
    """The commands of an agent; whoever runs it gives the rest."""

    # Wishes.

    async def ask(
        self,
        text: str,
        to: Sequence[str] = (),
        *,
        urgent: bool = False,
        facts: Any = None,
        by_program: bool = False,
        **group: Any,
    ) -> Fields:
        """Arrange something with somebody; `by_program` when the wish is not the owner's own word.

        With several it is a group; then `quorum`, `in_order` and `after` say how (A2ACP-153).
        """
        if len(to) > 1 and not by_program:
            return await grouping.ask(self, text, to, urgent=urgent, **group)
        if any(group.values()):
            raise Refused("bad_confirmation", "one other person confirms, or does not", row="A2ACP-153")
        peer = people.addressee(self, text, to)
        peer = people.accepted(self, peer) if by_program else peer
        known = read_facts(facts) if facts is not None else {}
        # Named before it begins, so that what reading the sentence took is among its costs.
        thread_id = packet.identifier("thr_", self.workspace().draw(17))
        goal = await wishes.goal(self, text, peer, begins=thread_id, facts=known.get("fields"))
        goal = structs.replace(goal, by_program=by_program)
        begin = drafting.begin if by_program else drafting.ask
        since = self.journal.end()
        began = await self.decide(lambda ws: begin(ws, goal, peer, known, urgent=urgent, thread_id=thread_id))
        await self.refresh()
        return self._state(began) | ({} if by_program else notices.since(self, since, began))

    async def group(self, group_id: str) -> Fields:
        """A group of this agent's: who coordinates, who takes part, what the answers come to."""
        return await grouping.group(self, group_id)

    async def transfer(self, group_id: str, to: str, reason: str = "") -> Fields:
        """Offer the coordinator's role in a group to another who takes part."""
        return await grouping.transfer(self, group_id, to, reason)

    async def change(self, thread_id: str, text: str, scope_change: str = "changed") -> Fields:
        """Make something else of an open thread."""
        goal = await wishes.goal(self, text, thread_id=thread_id)
        reason = "The person asked for something else"
        sent = await self.decide(lambda ws: asking.change_intent(ws, thread_id, goal, reason, scope_change))
        await self.refresh()
        asking.left(sent)
        return self._state(thread_id)

    async def fork(self, thread_id: str, texts: Sequence[str]) -> Fields:
        """Make several threads of one."""
        goals = [await wishes.goal(self, text, thread_id=thread_id) for text in texts]
        children = await self.decide(lambda ws: asking.fork(ws, thread_id, goals))
        await self.refresh()
        asking.left(children)
        return {"thread_id": thread_id, "threads": [self._state(one) for one in children]}

    def _state(self, thread_id: str) -> Fields:
        return {"thread_id": thread_id, "state": self.journal.book.threads[thread_id].state.value}

    # Questions.

    async def pending(self) -> Fields:
        """What waits for the owner."""
        await self.refresh()
        book = self.journal.book
        found = [
            one for one in map(book.questions.get, list(book.questions)) if one is not None and one.is_open
        ]
        return {"questions": [self._question(one) for one in sorted(found, key=lambda one: one.asked_at)]}

    def _question(self, one: Question) -> Fields:
        content = cast("Fields", self.vault.value(one.content) or {})
        content.pop("asked", None)
        found: Fields = {
            "question_id": one.question_id,
            "kind": one.kind,
            "thread_id": one.thread_id,
            "counterpart": one.peer,
            "asked_at": rfc3339(one.asked_at),
            "fields": [
                one | {"field": shown(one["field"]), "reason": shown(one["reason"])}
                for one in cast("list[Fields]", content.pop("fields", []))
            ],
            "proposal": shown_in(content.pop("proposal", None)),
            "choices": content.pop("choices", []),
        }
        found |= hinting.newness(self, one.peer)
        thread = self.journal.book.threads.get(one.thread_id)
        found |= grouping.line(self, thread) if thread is not None else {}
        return found | ({"about": shown_in(content)} if content else {})

    async def answer(self, question_id: str, said: Answer | None = None, **given: Any) -> Fields:
        """Answer a question, in the words of `Answer`; what follows from it happens at once."""
        said = said or Answer(**given)
        ws = self.workspace()
        question = answering.open_question(ws, question_id)
        self._check_message(question, said.via)
        if question.kind == "first_contact":
            return await self._first_contact(question, said)
        if question.kind in spaces.KINDS:
            return await spaces.answer(self, question, said)
        slot_free = True
        if question.kind == "checkpoint" and (said.confirm or said.alternative is not None):
            thread = ws.thread(question.thread_id)
            choice = said.alternative if said.alternative is not None else proposal_slots.MAIN
            slot = proposal_slots.slot_of(proposal_slots.chosen_details(ws, thread, choice), ws)
            slot_free = await self.slot_free(slot, thread.thread_id)
        await self.decide(lambda ws: answering.answer(ws, question_id, said, slot_free=slot_free))
        await self.refresh()
        return self._state(question.thread_id)

    def _check_message(self, question: Question, via: str) -> None:
        """A message that answered something before this was asked cannot be about this (A2ACP-269)."""
        if not via.startswith(MESSAGE):
            return
        for one, at in self.journal.records("x.a2acp.answered"):
            if isinstance(one, records.Answered) and one.via == via and at < question.asked_at:
                raise Refused(
                    "message_too_old",
                    "this message is older than the question; ask the person",
                    row="A2ACP-269",
                )

    async def _first_contact(self, question: Question, said: Answer) -> Fields:
        if not (said.confirm or said.refuse):
            raise Refused(
                "bad_answer", "this question is answered with --confirm or --refuse", row="A2ACP-032"
            )
        choice = "confirm" if said.confirm else "refuse"

        def taken(ws: Workspace) -> None:
            # Looked at again: another face may have been first.
            answering.open_question(ws, question.question_id)
            ws.say(records.Answered(question.question_id, choice, via=said.via))

        await self.decide(taken)
        if said.confirm:
            self.post.inbox.welcome(question.peer)
        else:
            self.post.inbox.block(question.peer)
            await self.forget(question.peer)
        await self.refresh()
        known = self.journal.book.threads.get(question.thread_id)
        return {"thread_id": question.thread_id, "state": known.state.value if known else None}

    # Threads.

    async def threads(self, *, every: bool = False) -> Fields:
        """Open threads, or all of them."""
        await self.refresh()
        book = self.journal.book
        names = list(book.open_threads)
        if every:
            names = [
                one.thread_id
                for one, _ in self.journal.records("x.a2acp.began")
                if isinstance(one, records.Began)
            ]
        # What has just been written down may not be folded yet.
        found = [one for one in map(book.threads.get, names) if one is not None]
        return {"threads": [self._line_of(one) for one in sorted(found, key=lambda one: one.began)]}

    def _line_of(self, thread: Thread) -> Fields:
        intent = cast("Fields", self.vault.value(thread.intent) or {})
        return {
            "thread_id": thread.thread_id,
            "with": thread.peer,
            "state": thread.state.value,
            "flags": _flags(thread),
            "summary": shown(intent.get("summary", "")),
            "began": rfc3339(thread.began),
        } | grouping.line(self, thread)

    async def thread(self, thread_id: str) -> Fields:
        """Everything about one thread."""
        await self.refresh()
        ws = self.workspace()
        thread = ws.thread(thread_id)
        view = view_of(ws, thread)
        said = list(self.journal.records("x.a2acp.received", "x.a2acp.sent"))
        steps = self.journal.records(
            "x.a2acp.cycled", "x.a2acp.moved", "x.a2acp.not_moved", "x.a2acp.noticed"
        )
        return {
            "thread_id": thread_id,
            "with": thread.peer,
            "state": thread.state.value,
            "closed_reason": thread.closed_reason or None,
            "flags": _flags(thread),
            "intent": shown_in(view.intent),
            "participants": sorted(members_of(ws, thread), key=lambda one: (one != self.me, one)),
            "turns": thread.turns,
            "shared": sorted(view.ours),
            "received": shown_in(view.theirs, LONGEST_RECEIVED),
            "proposal": shown_in(proposal_slots.shown_proposal(ws, thread) or None),
            "requested": thread.wants,
            "outstanding": sorted(name for name, status in thread.wants.items() if not status),
            "history": [
                {
                    "packet_id": one.packet_id,
                    "side": US if isinstance(one, records.Sent) else THEM,
                    "type": one.type,
                    "at": rfc3339(at),
                }
                for one, at in said
                if isinstance(one, (records.Sent, records.Received)) and one.thread_id == thread_id
            ],
            "steps": [
                self._step(one, rfc3339(at))
                for one, at in steps
                if getattr(one, "thread_id", "") == thread_id
            ],
            "actions": [
                {
                    "action_id": one.action_id,
                    "action": one.action,
                    "executor": one.executor,
                    "status": one.status or "planned",
                    "reversible": one.reversible,
                }
                for one in (thread.proposal.actions if thread.proposal else ())
            ],
            "parent": thread.parent or None,
            "siblings": list(thread.siblings),
            "cost": thoughts.cost(self.post.store, thread_id),
        } | grouping.line(self, thread)

    async def thoughts(self, thread_id: str = "") -> Fields:
        """What models were asked lately: which, for what, how sure, what it took (A2ACP-082)."""
        return {
            "thoughts": thoughts.listed(self.post.store, thread_id),
            "today": thoughts.today(*self.mind.spent()),
        }

    async def disclosures(self, peer: str = "") -> Fields:
        """Who got what, when, and what allowed it."""
        return receipts.disclosures(self, str(address.parse_typed(peer)) if peer else "")

    async def why(self, thread_id: str) -> Fields:
        """What excluded each option of the last proposal."""
        ws = self.workspace()
        thread = ws.thread(thread_id)
        found = cast("Fields", ws.read(thread.why) or {})
        return {"thread_id": thread_id, "excluded": found.get("excluded", [])}

    async def stop(self, thread_id: str) -> Fields:
        """Want no more of a thread."""
        await self.decide(lambda ws: concluding.stop(ws, thread_id))
        await self.refresh()
        return self._state(thread_id)

    async def resume(self, thread_id: str) -> Fields:
        """Go on with a thread that stood still."""
        await self.decide(lambda ws: asking.resume(ws, thread_id))
        await self.refresh()
        return self._state(thread_id)

    async def tick(self, *, news: bool = False) -> Fields:
        """Let everything that is due happen once; with `news` also what the owner was told since the last."""
        await self.refresh()
        found = {
            "open": len(self.journal.book.open_threads),
            "pending": len((await self.pending())["questions"]),
        }
        return found | ({"news": await self._news()} if news else {})

    async def _news(self) -> list[Fields]:
        """Notices that were not handed out before, by whoever ticks for the owner (A2ACP-270)."""
        told = list(self.journal.after(self.outside.heard(), "x.a2acp.noticed"))
        if told:
            await self.set_to("heard", told[-1][0])
        return [
            {"thread_id": one.thread_id, "code": one.code, "text": notices.text_of(self, one)}
            for _, one, _ in told
            if isinstance(one, records.Noticed)
        ]

    async def notices(self) -> Fields:
        """What the owner was told, oldest first."""
        found = [
            {
                "thread_id": one.thread_id,
                "code": one.code,
                "text": notices.text_of(self, one),
                "about": notices.subject_of(one),
                "at": rfc3339(at),
            }
            for one, at in self.journal.records("x.a2acp.noticed")
            if isinstance(one, records.Noticed)
        ]
        if doubt := self.clock.doubt():
            at = rfc3339(self.clock.now())
            found.append({"thread_id": "", "code": "clock", "text": doubt, "about": None, "at": at})
        return {"notices": found}

    # Memory.

    async def memory(self, who: str = "") -> Fields:
        """What is remembered of a counterpart, or of each (A2ACP-194)."""
        return await remembering.memory(self, who)

    async def memory_edit(self, who: str, key: str, value: Any) -> Fields:
        """Correct a value that is remembered."""
        return await remembering.edit(self, who, key, value)

    async def memory_forget(self, who: str, key: str = "") -> Fields:
        """Have a value forgotten, or all that is remembered of a counterpart."""
        return await remembering.forget(self, who, key)

    async def known(self, who: str) -> Fields:
        """What a counterpart knows of the owner, and what can still be called off."""
        return await remembering.known(self, who)

    # Shared spaces.

    async def space(self, do: str, **given: Any) -> Fields:
        """One thing with shared spaces: `new`, `list`, `show`, `set` and so on, as in `tacit agent space`."""
        return await spaces.carried_out(
            self, AGENT_OPERATIONS["space"].request({"do": do, **given}, here=True)
        )

    # Its own page.

    async def page_address(self) -> Fields:
        """Where the agent's own page is, if it is served; the address alone lets nobody in."""
        return {"url": self.page.address if self.page is not None else None}

    async def page_link(self, question_id: str = "") -> Fields:
        """A link for its owner, which signs in once; at one question, if it names one."""
        if self.page is None:
            raise Refused("no_page", "the agent serves no page; `tacit agent run` does")
        if question_id:
            answering.open_question(self.workspace(), question_id)
        return {"url": self.page.link(question_id)}

    async def forget(self, peer: str) -> Fields:
        """Let go of everything a contact ever said, and of what was said to it (A2ACP-195, A2ACP-196)."""
        return await forgetting.forget(self, peer)

    def _step(self, one: records.Record, at: str) -> Fields:
        match one:
            case records.Cycled():
                return {"at": at, "packet": one.subject, "steps": [list(step) for step in one.steps]}
            case records.Moved():
                return {"at": at, "from": one.before, "to": one.after, "cause": one.cause}
            case records.NotMoved():
                return {"at": at, "refused": one.cause, "in": one.state}
            case records.Noticed():
                return {"at": at, "notice": one.code, "text": notices.text_of(self, one)}
            case _:
                return {"at": at}


def _flags(thread: Thread) -> list[str]:
    named = {"paused": thread.paused, "awaiting_user": thread.awaiting_user, "urgent": thread.urgent}
    return [name for name, value in named.items() if value]
