"""What one node asks of all others: it waits for those that live, for one that has it, or until time is up.

The other nodes are a script, and time is the loop's own: whoever waits, it jumps.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Unavailable
from tacit.hub.host.activities import within
from tacit.hub.nodes.codec import (
    AgentInvited,
    EndLink,
    FindLink,
    Informs,
    Inquires,
    LinkFound,
    LinkIds,
    ListLinks,
    RedeemCode,
    ShowTurns,
    TurnsFound,
    decode,
    encode,
)
from tacit.hub.nodes.inquiries import WITHIN, Inquiries
from tacit.hub.people.all_links import AllLinks
from tacit.hub.people.credentials import digest
from tacit.hub.people.sign_in_links import SignInLinks
from tests.hub.test_node_transport import JumpingLoop
from tests.hub.test_sign_in_links import Seeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tacit.hub.nodes.codec import Finding, Word

BEN = LinkFound("usr:ben", "g_a")
ASKED = FindLink(b"digest", spends=True)


class Others:
    """Nodes that answer as they are told to."""

    address = "here"

    def __init__(self) -> None:
        self.known = {"far": 1, "near": 1}
        self.answers: dict[str, Finding] = {}
        self.asked: list[Inquires] = []
        self.told: list[tuple[str, Informs]] = []
        self.is_large: Callable[[Informs], bool] = lambda _told: False
        self.inquiries = Inquiries(self, lambda: self.known)  # type: ignore[arg-type]

    def say_to_all(self, word: Word) -> None:
        assert isinstance(word, Inquires)
        self.asked.append(word)
        for address, finding in self.answers.items():
            told = Informs(address, word.number, finding)
            asyncio.get_running_loop().call_soon(self.inquiries.heard, told)

    def say_to(self, address: str, word: Any) -> bool:
        if self.is_large(word):
            return False
        self.told.append((address, word))
        return True


@pytest.fixture
def others() -> Others:
    return Others()


@pytest.fixture
def run() -> Iterator[Callable[[Any], Any]]:
    loop = JumpingLoop()
    yield lambda coroutine: (loop.run_until_complete(coroutine), loop.time())
    loop.close()


def test_it_is_over_when_all_have_answered(others: Others, run: Callable[[Any], Any]) -> None:
    others.answers = {"far": None, "near": BEN}
    assert run(others.inquiries.ask(ASKED)) == ([None, BEN], 0.0)


def test_it_is_over_when_one_has_said_enough(others: Others, run: Callable[[Any], Any]) -> None:
    others.answers = {"near": BEN}
    assert run(others.inquiries.ask(ASKED, is_enough=lambda found: found is not None)) == ([BEN], 0.0)


def test_an_answer_that_does_not_come_is_waited_for_so_long(
    others: Others, run: Callable[[Any], Any]
) -> None:
    others.answers = {"near": BEN}
    assert run(others.inquiries.ask(ASKED)) == ([BEN], WITHIN)
    assert not others.inquiries._asked


def test_nobody_waits_for_a_node_that_is_gone(others: Others, run: Callable[[Any], Any]) -> None:
    async def asked() -> list[Finding]:
        asking = asyncio.create_task(others.inquiries.ask(ASKED))
        await asyncio.sleep(0)
        others.inquiries.heard(Informs("near", 1, None))
        others.inquiries.heard(Informs("near", 7, BEN))  # the answer to nothing that is asked
        others.inquiries.gone("far")
        return await asking

    assert run(asked()) == ([None], 0.0)


def test_where_there_is_no_other_node_nobody_is_asked(others: Others, run: Callable[[Any], Any]) -> None:
    others.known = {}
    assert run(others.inquiries.ask(ASKED)) == ([], 0.0)
    assert not others.asked


def test_who_is_asked_answers_and_says_nothing_of_what_is_too_large(
    others: Others, run: Callable[[Any], Any]
) -> None:
    async def found(_inquiry: object) -> Finding:
        return BEN

    others.inquiries.answer = found
    run(others.inquiries.inform(Inquires("far", 3, ASKED)))
    others.is_large = lambda told: told.finding is not None
    run(others.inquiries.inform(Inquires("far", 4, ASKED)))
    assert others.told == [("far", Informs("here", 3, BEN)), ("far", Informs("here", 4, None))]


def test_who_cannot_answer_says_so_instead_of_nothing(others: Others, run: Callable[[Any], Any]) -> None:
    async def fails(_inquiry: object) -> Finding:
        raise Unavailable("not now")

    others.inquiries.answer = fails
    run(others.inquiries.inform(Inquires("far", 3, ASKED)))
    assert others.told == [("far", Informs("here", 3, None))]


@pytest.mark.spec("CCCS-042")
def test_a_link_of_another_node_is_found_listed_and_ended_there(
    others: Others, run: Callable[[Any], Any]
) -> None:
    links = SignInLinks(Seeded())
    mine = AllLinks(links)
    code = links.make("usr:eve", "g_a", maker="tok", until=900.0)
    alone = run(mine.find_elsewhere("code", spends=False))
    assert (alone[0], others.asked) == (None, [])
    mine.inquiries = others.inquiries
    others.answers = {"far": BEN, "near": None}
    assert run(mine.find_elsewhere("code", spends=True))[0] == BEN
    assert others.asked[-1].inquiry == FindLink(digest("code"), spends=True)

    async def here() -> tuple[Finding, Finding]:
        return mine.find_here(code, spends=True), mine.find_here(code, spends=True)

    assert run(here())[0] == (LinkFound("usr:eve", "g_a"), None)
    links.make("usr:ben", "g_a", maker="tok", until=900.0)
    (listed,) = links.ids("g_a", "usr:ben", 0.0)
    others.answers = {"far": LinkIds(["lnk_far"]), "near": LinkIds([])}
    assert run(mine.ids("g_a", "usr:ben"))[0] == [listed, "lnk_far"]
    others.answers = {"far": None, "near": BEN}
    before = len(others.asked)
    assert run(mine.end(listed))[0] == LinkFound("usr:ben", "g_a")
    assert len(others.asked) == before
    assert run(mine.end("lnk_far"))[0] == BEN
    assert others.asked[-1].inquiry == EndLink("lnk_far")


@pytest.mark.parametrize(
    "inquiry",
    [
        ASKED,
        ListLinks("g_a", "usr:ben"),
        EndLink("lnk_1"),
        RedeemCode("ab"),
        ShowTurns("g_a", "e1", [("ann", "e1")], True),
    ],
)
@pytest.mark.parametrize(
    "finding",
    [None, BEN, LinkIds(["lnk_1"]), AgentInvited("g_a", "ada"), TurnsFound([{"a": 1}], [], ["ann"])],
)
def test_questions_and_answers_come_as_they_went(inquiry: Any, finding: Any) -> None:
    for word in (Inquires("a", 1, inquiry), Informs("a", 1, finding)):
        assert decode(encode(word)) == word


def test_cards_that_are_more_than_a_node_can_be_told_lose_their_texts() -> None:
    item = {"id": "c1", "title": "make", "text": "x" * 60, "files": ["y" * 40]}
    found = TurnsFound([{"turn": "t1", "items": [item]}], [{"turn": "t0"}], ["ann"])
    assert within(found, 100) == found
    short = within(found, 99)
    assert short.running == [{"turn": "t1", "items": [{"id": "c1", "title": "make", "cut": True}]}]
    assert (short.kept, short.reached) == ([{"turn": "t0", "items": []}], ["ann"])
