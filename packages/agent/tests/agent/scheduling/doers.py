"""Desks whose owners can act: results of actions as a test sets them, and a restart after every decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.agent.consent import answering
from tacit.agent.consent.answering import Answer
from tacit.agent.kernel import records
from tacit.agent.scheduling import acting, failures, proposal_slots
from tacit.agent.scheduling.actions import port as actions
from tests.agent.scheduling.desk import Desk, Desks, begun

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.agent.kernel.state import Question, Thread
    from tacit.agent.kernel.workspace import Workspace


class Doer(Desk):
    """One owner's engine, with a world in which actions end as they are told to."""

    def __init__(self, name: str, **more: Any) -> None:
        super().__init__(name, **more)
        self.results: dict[tuple[str, str], list[str]] = {}
        """By operation and action: what comes of each try; done once the list is empty."""
        self.deeds: list[tuple[str, str, str]] = []
        self.outcomes: list[tuple[str, str, str, str]] = []
        """The same with what came of each."""
        self.restarts: Callable[[], bool] = lambda: True
        """Whether it restarts after a decision."""
        self.details: list[dict[str, Any]] = []

    def _keep(self, ws: Workspace) -> bool:
        did = super()._keep(ws)
        if did and self.restarts():
            # Whatever was decided, a restart in the next moment gives the same state (A2ACP-216).
            self.restarted()
        return did

    def answer(self, question: Question | None, said: Answer | None = None, **how: Any) -> None:
        assert question is not None
        answer = said or Answer(**how)
        free = True
        if question.kind == "checkpoint" and (answer.confirm or answer.alternative is not None):
            ws = self.workspace()
            thread = ws.thread(question.thread_id)
            choice = proposal_slots.MAIN if answer.alternative is None else answer.alternative
            slot = proposal_slots.slot_of(proposal_slots.chosen_details(ws, thread, choice), ws)
            free = slot is None or not self._busy(slot).spans
        self.decide(lambda ws: answering.answer(ws, question.question_id, answer, slot_free=free))
        self.settle()

    def _act(self, thread_id: str) -> bool:
        ws = self.workspace()
        found = acting.next_deed(ws, ws.thread(thread_id))
        if found is None:
            return super()._act(thread_id)
        deed, undoing = found
        operation = "undo" if undoing else "do"
        planned = self.results.get((operation, deed.action), [])
        status = planned.pop(0) if planned else actions.DONE
        if status == actions.UNKNOWN:
            return False
        self.deeds.append((operation, deed.action, deed.action_id))
        self.outcomes.append((operation, deed.action, deed.action_id, status))
        self.details.append(deed.details)
        ended = acting.undone if undoing else acting.ended
        result = self._result(operation, deed.action, status)
        self.decide(lambda ws: ended(ws, thread_id, deed.action_id, result))
        return True

    def _result(self, operation: str, action: str, status: str) -> actions.Result:
        """What the product's handlers say: a calendar that refuses, or a service."""
        if status != actions.FAILED:
            return actions.Result(status)
        refused = {"do": "did not accept the entry", "undo": "did not remove the entry"}[operation]
        told = (
            f'Your calendar "Home" {refused} (403).'
            if action == "calendar"
            else "the service refused it (409)"
        )
        return actions.Result(status, told, code=actions.REFUSED)

    # What a test looks at.

    def did(self) -> list[tuple[str, str]]:
        """Operations in their order."""
        return [(operation, action) for operation, action, _ in self.deeds]

    def entries(self) -> list[str]:
        """The entries in the owner's calendar, by the ids of their actions."""
        found: list[str] = []
        for operation, action, name, status in self.outcomes:
            if action == "calendar" and status == actions.DONE:
                found = [*found, name] if operation == "do" else [one for one in found if one != name]
        return found

    def reasons(self) -> list[str]:
        """Why something could not be carried out, as the owner was told."""
        return [
            self.value(one.subject)["reason"]
            for one in self.log
            if isinstance(one, records.Noticed) and one.code in failures.TOLD_WITH_REASON
        ]

    def sent_of(self, kind: str) -> list[dict[str, Any]]:
        """The fields of what left, of one type."""
        return [one.fields for one in self.sent if one.type == kind]

    def moves(self, thread_id: str) -> list[str]:
        """The states of a thread in their order."""
        return [
            one.after for one in self.log if isinstance(one, records.Moved) and one.thread_id == thread_id
        ]

    def slot(self, thread_id: str) -> tuple[str, str]:
        """The date and time that stand."""
        ws = self.workspace()
        found = proposal_slots.chosen_details(ws, ws.thread(thread_id))
        return found["date"], found["time"]

    def shown(self) -> dict[str, Any]:
        """The open checkpoint, as the owner sees it."""
        return self.content(self.question("checkpoint"))


def two(**more: Any) -> Desks:
    """Anna and Ben, who can act."""
    return Desks(Doer("anna", **more.get("anna", {})), Doer("ben", **more.get("ben", {})))


def proposed(both: Desks, text: str = "dinner with ben on Friday evening", **more: Any) -> str:
    """Until a proposal stands on both sides; the thread."""
    thread_id = begun(both, text, **more)
    for _ in range(6):
        for one in (both.anna, both.ben):
            for question in one.questions("consent"):
                one.share_all(question)
        both.settle()
    for one in (both.anna, both.ben):
        assert one.state(thread_id) == "PROPOSED", (one.me, one.state(thread_id))
    return thread_id


def proposer(both: Desks, thread_id: str) -> tuple[Doer, Doer]:
    """Who proposed, and the other."""
    mine = both.anna.thread(thread_id).proposal.side == "us"
    return (both.anna, both.ben) if mine else (both.ben, both.anna)


def standing(one: Doer, thread_id: str) -> Any:
    """The proposal that stands."""
    thread: Thread = one.thread(thread_id)
    return thread.proposal
