"""What waits for an owner, gone through question by question: the state behind a face at the terminal.

A2ACP-131, A2ACP-273, A2ACP-274. Holds the cards, follows the agent, answers. Knows no screen: a face shows
`card` and `told`, and is called when either changes. A question that was answered somewhere else closes here,
with a line that says so; what had been typed goes into the question that takes its place, or is shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.agent.shell.commands.arrange_show import TITLES
from tacit.agent.shell.commands.desk import card as agent_card
from tacit.agent.shell.commands.desk.card_show import EXPLAINED, Line, name_of
from tacit.agent.terminal.commands.values import plain, value_text
from tacit.base import agent_operations as operations
from tacit.base.commands.quotation import label, quoted
from tacit.base.errors import Refused, TacitError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.agent.shell.commands.desk import line as agent_line
    from tacit.agent.shell.commands.desk.card import Card
    from tacit.base.agent_results import QuestionResult

STALE: Final = "stale_question"
_BEGINS_AFRESH: Final = frozenset({"following", "everything"})
_CHANGES_QUESTIONS: Final = _BEGINS_AFRESH | {"question", "reminder", "thread"}
VIAS: Final = {
    "page": "on the page",
    "room": "in the room",
    "inbox": "in the inbox",
    "terminal": "at another terminal",
}


class Desk:
    """One face's view of what waits."""

    def __init__(self, line: agent_line.Line, *, via: str, changed: Callable[[], None]) -> None:
        self._line = line
        self._via = via
        self._changed = changed
        self.cards: dict[str, Card] = {}
        """The open questions, oldest first."""
        self.later: set[str] = set()
        self.current = ""
        self._closed_by: dict[str, str | None] = {}
        """Where each question that was closed got its answer; None where it lost its subject."""
        self._orphans: dict[tuple[str, str], Card] = {}
        """Cards whose question is gone while something was typed in them, by thread and kind."""
        self.told: list[Line] = []
        """Lines that happened; whoever shows them takes them out."""
        self.why: list[Line] = []
        self.busy = False
        self.gone = False
        """Whether the agent behind it has stopped."""
        self._looking = asyncio.Lock()

    # What is shown.

    @property
    def card(self) -> Card | None:
        """The question that is before the owner now."""
        return self.cards.get(self.current)

    @property
    def position(self) -> str:
        """Where the current question stands among those that wait."""
        names = list(self.cards)
        later = f", {len(self.later)} for later" if self.later else ""
        if self.current not in self.cards:
            return later.removeprefix(", ")
        return f"{names.index(self.current) + 1} of {len(names)}{later}"

    def tell(self, *parts: tuple[str, str]) -> None:
        """A line of what happened."""
        self.told.append(list(parts))
        self._changed()

    def choose(self, question_id: str) -> None:
        """Put this question before the owner."""
        if question_id in self.cards:
            self.later.discard(question_id)
            self.current = question_id
            self.why = []
            self._changed()

    # Looking.

    async def look(self, *, afresh: bool = False) -> None:
        """Ask the agent what waits, and bring the cards in step.

        A question that no longer waits keeps its card until the change that closed it has been heard, since
        only that change says where it was answered. `afresh` closes it at once: no such change will come.
        """
        async with self._looking:
            waiting = (await self._line.call(operations.PENDING)).questions
            hints = (await self._line.call(operations.HINTS)).hints or ()
            self._take(waiting, afresh=afresh)
            for one in hints:
                self.tell(("own", f"★ {one.text}"))
                await self._line.call(operations.SEEN, hint=one.hint)
        self._changed()

    def _take(self, waiting: list[QuestionResult], *, afresh: bool) -> None:
        open_now = {question.question_id: question for question in waiting}
        for name in [name for name in self.cards if name not in open_now]:
            if afresh or name in self._closed_by:
                self._close(name)
        for name, question in open_now.items():
            if name not in self.cards:
                self.cards[name] = self._begun(question)
            elif self.cards[name].question != question:
                self.cards[name] = replace(self.cards[name], question=question)
        if self.current not in self.cards:
            self.current = next((name for name in self.cards if name not in self.later), "")
            self.why = []
        for card in self._orphans.values():
            self.tell(("dim", "  what you had typed: "), ("", plain(card.draft.text)))
        self._orphans.clear()

    def _begun(self, question: QuestionResult) -> Card:
        card = agent_card.begun(question)
        former = self._orphans.pop((question.thread_id, question.kind), None)
        return agent_card.taken_over(card, former) if former is not None else card

    def _close(self, name: str) -> None:
        card = self.cards.pop(name)
        self.later.discard(name)
        via = self._closed_by.pop(name, None)
        if via == self._own(name):
            return
        kind, peer = card.question.kind, name_of(card.question.counterpart)
        where = "it no longer waits" if via is None else f"answered {_where(via)}"
        self.tell(("dim", f"· {TITLES.get(kind, kind)} {peer}: {where}"))
        if card.mode in agent_card.TYPING and card.draft.text:
            self._orphans[card.question.thread_id, kind] = card

    def _own(self, name: str) -> str:
        return f"own:{name}"

    async def follow(self) -> None:
        """Look, then hear of changes until the agent stops; each makes the face look again."""
        changes = self._line.changes()
        try:
            async for change in changes:
                await self._heard(change)
        except ConnectionError:
            self.gone = True
            self._changed()
        finally:
            await changes.aclose()

    async def _heard(self, change: dict[str, Any]) -> None:
        match change:
            case {"change": "question", "open": False, "question_id": str(name), **more}:
                self._closed_by.setdefault(name, str(more["via"]) if "via" in more else None)
            case {"change": "notice", "thread_id": str(thread_id), "code": str(code)}:
                await self._notice(thread_id, code)
            case _:
                pass
        if change["change"] in _CHANGES_QUESTIONS:
            await self._look_again(afresh=change["change"] in _BEGINS_AFRESH)

    async def _look_again(self, *, afresh: bool = False) -> None:
        """Look; what cannot be had now is told, and what is shown stays."""
        try:
            await self.look(afresh=afresh)
        except TacitError as fault:
            self.tell(("warn", f"· {plain(str(fault))}"))

    async def _notice(self, thread_id: str, code: str) -> None:
        from tacit.agent.features import NOTICES

        text = NOTICES.get(code, code)
        try:
            found = await self._line.call(operations.THREAD, thread_id=thread_id)
            what = quoted(found.intent.get("summary", ""))
            text = next(
                (step.text for step in reversed(found.steps) if step.notice == code and step.text), text
            )
        except TacitError:
            # It may be gone by now, as what is forgotten is; that something was told is still worth a line.
            what = thread_id
        self.tell(("notice", f"· {what} {plain(text)}"))

    # Answering.

    async def press_at(self, at: str, key: str) -> str:
        """A key that was pressed while this question was shown: it is for that one and for no other."""
        if at != self.current and key != "q":
            return ""
        return await self.press(key)

    async def press(self, key: str) -> str:
        """A key: `quit` when the owner wants to leave, else nothing."""
        card = self.card
        if card is None or self.busy:
            return agent_card.QUIT if key == "q" else ""
        after, deed = agent_card.press(card, key)
        self.cards[card.question_id] = after
        if deed is None:
            self._changed()
            return ""
        if deed.what == agent_card.ANSWER:
            await self._answer(after, dict(deed.answer))
        elif deed.what == agent_card.LATER:
            self.later.add(card.question_id)
            self.current = next((name for name in self.cards if name not in self.later), "")
            self.why = []
        elif deed.what == agent_card.WHY:
            await self._explain(after)
        self._changed()
        return agent_card.QUIT if deed.what == agent_card.QUIT else ""

    def paste(self, text: str) -> None:
        """Text from a clipboard."""
        if self.card is not None:
            self.cards[self.current] = agent_card.pasted(self.card, text)
            self._changed()

    async def _answer(self, card: Card, said: dict[str, object]) -> None:
        name = card.question_id
        self.busy = True
        self._closed_by[name] = self._own(name)
        self._changed()
        try:
            found = await self._line.call(operations.ANSWER, **said, via=self._via)
        except Refused as refused:
            self._closed_by.pop(name, None)
            if refused.code == STALE:
                self.tell(("warn", "· it was answered elsewhere first, or no longer waits"))
                self._closed_by[name] = self._own(name)
            else:
                self.cards[name] = replace(card, told=f"{refused.code}: {plain(refused.message)}")
        except ConnectionError:
            self.gone = True
        except TacitError as fault:
            self._closed_by.pop(name, None)
            self.cards[name] = replace(card, told=plain(str(fault)))
        else:
            self._said(card, said, found.state or "")
        finally:
            self.busy = False
        if not self.gone:
            await self._look_again()

    def _said(self, card: Card, said: dict[str, object], state: str) -> None:
        peer = name_of(card.question.counterpart)
        stands = f" ({state.lower()})" if state else ""
        self.tell(("chosen", "✓ "), ("", f"{_answer_text(card, said)}: {peer}"), ("dim", stands))

    async def _explain(self, card: Card) -> None:
        lines: list[Line] = [[("own", f"  {EXPLAINED.get(card.question.kind, '')}")]]
        try:
            excluded = (await self._line.call(operations.WHY, thread_id=card.question.thread_id)).excluded
        except TacitError:
            # A first contact has no thread yet.
            excluded = []
        for what, reason in excluded[:5]:
            lines.append([("dim", f"    not {value_text(what)}: {plain(reason)}"[:200])])
        self.why = [] if self.why else lines

    def inherit(self, former: Desk) -> None:
        """Go on from another face of the same folder: its cards and drafts, and what was put aside."""
        self.cards, self.later, self.current = former.cards, former.later, former.current


def _where(via: str) -> str:
    return VIAS.get(via, f"by {plain(via)[:60]}" if via else "by a command")


def _answer_text(card: Card, said: Mapping[str, object]) -> str:
    """An answer in a few words, without any value."""
    match said:
        case {"share": dict()}:
            return f"shared {', '.join(map(label, msgspec.convert(said['share'], dict[str, object])))}"
        case {"decline_all": True}:
            return "shared nothing"
        case {"alternative": int(number)}:
            return f"confirmed alternative {number + 1}"
        case {"choose": int(number)}:
            return f"chosen {number + 1}"
        case {"counter": [str(name), str()]}:
            return f"another {label(name)} suggested"
        case {"excuse": _}:
            return "excused"
        case {"confirm": True}:
            return "confirmed" if card.question.kind == "checkpoint" else "yes"
        case {"refuse": True}:
            return "refused"
        case _:
            return "put aside"
