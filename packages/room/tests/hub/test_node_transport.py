"""What becomes of a command that one node sends to another: answered when it is seen here, sent again, or unknown.

The other nodes are a script, and time is the loop's own: whoever sleeps, it jumps.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.hub.nodes.codec import (
    CommandsAnswered,
    CommandsAsked,
    NotTaken,
    Whispers,
    command_bytes,
    decode,
    encode,
    outcome_bytes,
)
from tacit.hub.nodes.transport import PATIENT_SPANS, NodeTransport
from tacit.ledger.commands import Append, AppendTogether, Recorded
from tests.hub.test_node_codec import said
from tests.ledger.world import submission

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tacit.ledger.commands import Command

ROOM = 100_000
SPAN = 15.0
KEYED, PLAIN = Append(said(client_id="k")), Append(said())
GROUP, OTHER = "g_a", "g_b"
ELSEWHERE = Append(submission(OTHER, "ann", "chat.message", {"text": "there"}))
BOTH = AppendTogether((PLAIN.submission, ELSEWHERE.submission))
DONE = Recorded("done")


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop in which waiting takes no time."""

    def __init__(self) -> None:
        super().__init__()
        self._jumped = 0.0
        selector: Any = self._selector  # type: ignore[attr-defined]
        look = selector.select

        def select(timeout: float | None = None) -> Any:
            self._jumped += timeout or 0.0
            return look(0)

        selector.select = select

    def time(self) -> float:
        return self._jumped


class Others:
    """This node's place among others, of which one writes to every group that is not this one's: `writer`."""

    address, seconds, room = "here", SPAN, ROOM

    def __init__(self) -> None:
        self.mine: set[str] = set()
        self.reached = self.wrote = 0
        self.writer: str | None = "far"
        self.writers: dict[str, str] = {}
        self.said: list[tuple[str, Any, int]] = []
        self.hurried = 0
        self.last_words: CommandsAsked | None = None
        """What comes while this node leaves."""

    @property
    def held(self) -> int:
        return len(self.mine)

    def holds(self, group_id: str) -> bool:
        return group_id in self.mine

    def hurry(self, sequence: int) -> None:
        self.hurried = sequence

    def watch(self, changed: Any, free: Any) -> None:
        self.changed, self.free = changed, free

    def open(self, heard: Any, nobody: Any, reached: Any) -> None:
        self.heard, self.nobody, self.applied = heard, nobody, reached

    def leave(self) -> None:
        if self.last_words is not None:
            self.heard(encode(self.last_words))

    def say(self, address: str, payload: bytes, number: int = 0) -> None:
        self.said.append((address, decode(payload), number))

    def say_to_all(self, payload: bytes) -> None:
        self.said.append(("all", decode(payload), 0))

    def find(self, groups: Any, found: Callable[[dict[str, str | None]], None]) -> None:
        found({one: "here" if one in self.mine else self.writers.get(one, self.writer) for one in groups})

    def give_up(self) -> None:
        self.mine.clear()

    def take(self, *groups: str) -> None:
        self.mine.update(groups)
        self.changed(frozenset(groups), True)

    def answer(self, sequence: int, numbers: list[int]) -> None:
        self.heard(encode(CommandsAnswered(sequence, [(one, outcome_bytes(DONE, ROOM)) for one in numbers])))

    def apply(self, sequence: int) -> None:
        self.reached = sequence
        self.applied(sequence)

    @property
    def asked(self) -> list[tuple[str, list[int]]]:
        """To whom commands went, under which numbers."""
        return [
            (address, [number for number, _body in one.commands])
            for address, one, _message in self.said
            if isinstance(one, CommandsAsked)
        ]


class Own:
    """The writer of this node."""

    depth = failures = log_pages = 0

    def __init__(self) -> None:
        self.took: list[Command] = []
        self.done: list[Any] = []

    def start(self, deliver: Any) -> None:
        del deliver

    def submit(self, command: Command, done: Any) -> None:
        self.done.append(done)
        self.took.append(command)

    def close(self) -> None: ...


class Node:
    def __init__(self, loop: JumpingLoop) -> None:
        self.loop, self.others, self.own = loop, Others(), Own()
        self.transport = NodeTransport(self.own, self.others)
        self.outcomes: list[Any] = []

        def answer(callers: Any, outcomes: Any) -> None:
            for done, outcome in zip(callers, outcomes, strict=True):
                done(outcome)

        self.transport.answer = answer
        self.run(lambda: self.transport.start(lambda *_: None))

    def run(self, do: Callable[[], object], seconds: float = 0.5) -> None:
        """Do something on the loop, and let so much time pass."""

        async def passing() -> None:
            do()
            await asyncio.sleep(seconds)

        self.loop.run_until_complete(passing())

    def submit(self, *commands: Command) -> None:
        self.run(lambda: [self.transport.submit(one, self.outcomes.append) for one in commands])

    def wait(self, seconds: float) -> None:
        self.run(lambda: None, seconds)


@pytest.fixture
def node() -> Iterator[Node]:
    loop = JumpingLoop()
    try:
        yield Node(loop)
    finally:
        loop.close()


def test_commands_of_one_moment_go_in_one_message_to_the_one_who_writes(node: Node) -> None:
    node.submit(PLAIN, KEYED, PLAIN)
    assert node.others.asked == [("far", [1, 2, 3])]


@pytest.mark.spec("CCCS-018")
def test_a_caller_hears_when_this_node_has_what_was_written_and_not_before(node: Node) -> None:
    node.submit(PLAIN)
    node.run(lambda: node.others.answer(7, [1]))
    assert (node.outcomes, node.others.hurried) == ([], 7)
    node.run(lambda: node.others.apply(6))
    assert node.outcomes == []
    node.run(lambda: node.others.apply(7))
    assert node.outcomes == [DONE]


def test_an_answer_that_is_seen_here_already_is_told_at_once_and_once(node: Node) -> None:
    node.others.reached = 7
    node.submit(PLAIN)
    node.run(lambda: node.others.answer(7, [1]))
    node.run(lambda: node.others.answer(7, [1]))
    assert node.outcomes == [DONE]


def test_what_is_answered_and_never_seen_here_is_unknown(node: Node) -> None:
    node.submit(PLAIN)
    node.run(lambda: node.others.answer(7, [1]))
    node.wait(PATIENT_SPANS * SPAN + 1)
    assert [(type(one), one.unknown) for one in node.outcomes] == [(Unavailable, True)]


@pytest.mark.parametrize("told", ["not taken", "nobody there"])
def test_what_nobody_took_is_sent_to_the_next_who_writes_whatever_it_is(node: Node, told: str) -> None:
    node.submit(PLAIN)
    message = node.others.said[-1][2]
    node.others.writer = "next"
    if told == "not taken":
        node.run(lambda: node.others.heard(encode(NotTaken("far", [1]))))
    else:
        node.run(lambda: node.others.nobody(str(message)))
    assert node.others.asked == [("far", [1]), ("next", [1])]
    assert node.outcomes == []


def test_that_nobody_heard_it_may_come_after_who_writes_now(node: Node) -> None:
    """A node that let go of the group a moment ago took nothing: that is not unknown."""
    node.run(lambda: node.transport.submit(PLAIN, node.outcomes.append), 0.01)
    message = node.others.said[-1][2]
    node.others.writer = "next"
    node.run(node.others.free, 0.01)
    assert node.outcomes == []
    node.run(lambda: node.others.nobody(str(message)))
    assert node.others.asked == [("far", [1]), ("next", [1])]
    assert node.outcomes == []


@pytest.mark.parametrize(("command", "again"), [(KEYED, True), (PLAIN, False)])
def test_what_a_dead_node_took_is_sent_again_only_where_that_changes_nothing(
    node: Node, command: Command, again: bool
) -> None:
    node.submit(command)
    node.others.writer = "next"
    node.run(node.others.free)
    if again:
        assert node.others.asked == [("far", [1]), ("next", [1])]
        assert node.outcomes == []
    else:
        assert node.others.asked == [("far", [1])]
        assert [(type(one), one.unknown) for one in node.outcomes] == [(Unavailable, True)]


def test_what_is_the_same_done_twice_is_sent_once_more_when_its_answer_is_lost(node: Node) -> None:
    node.submit(KEYED, PLAIN)
    node.wait(SPAN - 2)
    assert node.others.asked == [("far", [1, 2])]
    node.wait(3)
    assert node.others.asked == [("far", [1, 2]), ("far", [1])]
    assert node.outcomes == []
    node.run(lambda: node.others.answer(0, [1]))
    assert node.outcomes == [DONE]
    node.run(lambda: node.others.answer(0, [1, 2]))
    assert node.outcomes == [DONE, DONE]


def test_an_answer_that_never_comes_is_unknown_when_its_time_is_up(node: Node) -> None:
    node.submit(KEYED, PLAIN)
    node.wait(PATIENT_SPANS * SPAN + 1)
    assert [(type(one), one.unknown) for one in node.outcomes] == [(Unavailable, True)] * 2
    assert node.others.asked == [("far", [1, 2]), ("far", [1])]


def test_what_may_have_been_done_is_never_called_not_done(node: Node) -> None:
    """The node that took it has died, the next takes nothing, and then nobody writes any more."""
    node.submit(KEYED)
    node.others.writer = "next"
    node.run(node.others.free)
    node.others.writer = None
    node.run(lambda: node.others.heard(encode(NotTaken("next", [1]))))
    node.wait(PATIENT_SPANS * SPAN + 1)
    assert [(type(one), one.unknown) for one in node.outcomes] == [(Unavailable, True)]


@pytest.mark.parametrize("who", ["the next", "this node"])
def test_a_no_of_who_is_asked_again_says_nothing_of_the_first_time(node: Node, who: str) -> None:
    node.submit(KEYED)

    no = Unavailable("nothing was appended")
    if who == "this node":
        node.run(lambda: node.others.take(GROUP))
        node.run(lambda: node.own.done[-1](no))
    else:
        node.others.writer = "next"
        node.run(node.others.free)
        node.run(lambda: node.others.heard(encode(CommandsAnswered(0, [(1, outcome_bytes(no, ROOM))]))))
    assert [(type(one), one.unknown) for one in node.outcomes] == [(Unavailable, True)]


def test_a_word_larger_than_a_message_is_not_dropped_without_a_word(
    node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    large = Whispers("here", "g", "ann", {"text": "x" * ROOM}, None)
    node.run(lambda: [node.transport.say_to_all(large) for _ in range(3)])
    assert node.others.said == []
    assert [(one.levelname, one.word) for one in caplog.records] == [("ERROR", "Whispers")]  # type: ignore[attr-defined]
    small = Whispers("here", "g", "ann", {"text": "x"}, None)
    node.run(lambda: [node.transport.say_to_all(one) for one in (small, large)])
    assert [said for _to, said, _number in node.others.said] == [small]
    assert len(caplog.records) == 2


def test_without_anybody_who_writes_a_command_waits_and_then_nothing_was_appended(node: Node) -> None:
    node.others.writer = None
    node.submit(PLAIN)
    node.wait(SPAN)
    assert node.outcomes == []
    node.wait(PATIENT_SPANS * SPAN)
    assert [(type(one), one.unknown) for one in node.outcomes] == [(Unavailable, False)]
    assert node.others.asked == []


def test_what_waits_goes_to_the_own_writer_when_this_node_takes_the_group(node: Node) -> None:
    node.others.writer = None
    node.submit(PLAIN, KEYED)

    node.run(lambda: node.others.take(GROUP))
    assert node.own.took == [PLAIN, KEYED]


def test_a_node_that_does_not_write_takes_no_others_command(node: Node) -> None:
    node.submit(PLAIN)
    asked = next(one for _address, one, _message in node.others.said if isinstance(one, CommandsAsked))
    node.run(lambda: node.others.heard(encode(CommandsAsked("third", asked.commands))))
    assert ("third", NotTaken("here", [1]), 0) in node.others.said
    assert node.own.took == []


def test_a_command_larger_than_a_message_is_refused_before_anything_is_sent(node: Node) -> None:
    with pytest.raises(Refused) as refused:
        node.submit(Append(said(text="x" * ROOM)))
    assert refused.value.code == "too_large"
    assert node.others.said == []


def test_each_group_is_written_where_it_is_held_and_what_is_held_here_is_not_sent(node: Node) -> None:
    node.others.writers = {OTHER: "near"}
    node.submit(PLAIN, ELSEWHERE, KEYED)
    assert node.others.asked == [("far", [1, 3]), ("near", [2])]
    node.run(lambda: node.others.take("g_c"))
    mine = Append(submission("g_c", "ann", "chat.message", {"text": "here"}))
    node.submit(mine, PLAIN)
    assert node.own.took == [mine]
    assert node.others.asked[2:] == [("far", [4])]


def test_when_one_node_dies_what_another_was_asked_goes_on(node: Node) -> None:
    node.others.writers = {OTHER: "near"}
    node.submit(PLAIN, ELSEWHERE)
    node.others.writers = {OTHER: "next"}
    node.run(node.others.free)
    assert [(type(one), one.unknown) for one in node.outcomes] == [(Unavailable, True)]
    node.run(lambda: node.others.answer(0, [1]))
    assert node.outcomes[1:] == [DONE]


def test_what_comes_when_a_group_was_just_taken_does_not_overtake_what_waits(node: Node) -> None:
    node.others.writer = None
    node.submit(PLAIN)

    def take_and_submit() -> None:
        node.others.take(GROUP)
        node.transport.submit(KEYED, node.outcomes.append)

    node.run(take_and_submit)
    assert node.own.took == [PLAIN, KEYED]


@pytest.mark.parametrize("held", [GROUP, OTHER])
def test_what_spans_groups_is_decided_where_any_of_them_is_written(node: Node, held: str) -> None:
    node.run(lambda: node.others.take(held))
    node.submit(BOTH)
    assert node.own.took == [BOTH]
    node.run(lambda: node.others.heard(encode(CommandsAsked("third", [(1, command_bytes(BOTH))]))))
    assert len(node.own.took) == 2


@pytest.mark.spec("CCCS-018")
def test_what_another_asks_waits_until_this_node_has_seen_what_that_one_has(node: Node) -> None:
    node.run(lambda: node.others.take(GROUP))
    node.run(lambda: node.others.heard(encode(CommandsAsked("third", [(1, command_bytes(PLAIN))], 7))))
    node.run(lambda: node.others.heard(encode(CommandsAsked("third", [(2, command_bytes(KEYED))], 7))))
    node.run(lambda: node.others.apply(6))
    assert node.own.took == []
    node.run(lambda: node.others.apply(7))
    assert [type(one) for one in node.own.took] == [Append, Append]
    assert "client_id" not in node.own.took[0].submission.data  # type: ignore[union-attr]


def test_a_command_says_how_far_its_node_has_seen_the_stream(node: Node) -> None:
    node.run(lambda: node.others.apply(5))
    node.submit(PLAIN)
    assert [one.seen for _address, one, _message in node.others.said if isinstance(one, CommandsAsked)] == [5]


def test_what_is_asked_of_a_node_that_leaves_is_declined_so_that_another_is_asked(node: Node) -> None:
    node.others.take(GROUP)
    node.others.last_words = CommandsAsked("far", [(7, command_bytes(PLAIN))])
    node.run(node.transport.close)
    assert node.own.took == []
    assert [(to, one.numbers) for to, one, _ in node.others.said if isinstance(one, NotTaken)] == [
        ("far", [7])
    ]
