"""What a node tells others of who is with it: what changed at once, the rest in its turn, all to whoever is new."""

from __future__ import annotations

import asyncio
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.state.work import AgentStatus, SessionLife
from tacit.base.moment import SECOND, Moment
from tacit.hub.nodes.codec import (
    AllHere,
    Beat,
    Greets,
    Leaves,
    NodePresence,
    all_here,
    decode,
    encode,
    here_of,
)
from tacit.hub.nodes.neighbours import LONGEST_PAUSE, ROUND, Neighbours

if TYPE_CHECKING:
    from collections.abc import Callable

FAR = Beat("far", "machine", 0, 0)
LIFE = SessionLife("ann", Moment(1), Moment(1))


class Nodes:
    """What is said, and to whom."""

    address, seconds, room, held, reached, asleep = "here", 16.0, 10_000, 0, 0, 0

    def __init__(self) -> None:
        self.said: list[tuple[str, Any]] = []
        self.on_word: Callable[[Any], None] = lambda _word: None

    def say_to_all(self, word: Any) -> None:
        self.said.append(("all", decode(encode(word))))

    def say_to(self, address: str, word: Any) -> bool:
        self.said.append((address, decode(encode(word))))
        return True


class Link:
    session, status, detail = "ann", "busy", ""


class Host:
    """Agents: one in each of these groups."""

    def __init__(self) -> None:
        self.there = [f"g_{number}" for number in range(45)]
        self.writer: list[str] = []
        self.elsewhere_late_by = 0

    def groups(self) -> list[str]:
        return self.there

    def links(self, group_id: str) -> list[Link]:
        return [Link()] if group_id in self.there else []

    def lives(self, group_id: str) -> tuple[SessionLife, ...]:
        return (LIFE,) if group_id in self.there else ()

    def statuses_here(self, group_id: str) -> dict[str, AgentStatus]:
        return {link.session: AgentStatus(link.status, link.detail) for link in self.links(group_id)}

    def statuses(self, _group_id: str) -> dict[str, AgentStatus]:
        return {}

    def connected_elsewhere(self, *_: Any) -> None: ...

    def tell_writer(self, group_id: str) -> None:
        self.writer.append(group_id)


class Live:
    """People in one more."""

    def groups(self) -> list[str]:
        return ["g_people"]

    def people_here(self, group_id: str) -> dict[str, str]:
        return {"usr:eve": "online"} if group_id == "g_people" else {}

    def stir(self, *_: Any) -> None: ...

    def tell_presence(self, *_: Any) -> None: ...


class Scene:
    def __init__(self) -> None:
        self.nodes, self.host, self.live = Nodes(), Host(), Live()
        self.loop = asyncio.new_event_loop()
        self.neighbours = Neighbours(self.nodes, self.host, self.live)  # type: ignore[arg-type]

    def run(self, do: Callable[[], object]) -> list[tuple[str, Any]]:
        """What is said while something is done on the loop."""
        self.nodes.said.clear()

        async def doing() -> None:
            do()
            await asyncio.sleep(0)

        self.loop.run_until_complete(doing())
        return list(self.nodes.said)

    def groups(self, do: Callable[[], object]) -> list[str]:
        """Of which groups it is said to all."""
        told = [word for to, word in self.run(do) if to == "all" and isinstance(word, AllHere)]
        return [here.group_id for word in told for here in here_of(word)]


@pytest.fixture
def scene() -> Any:
    made = Scene()
    yield made
    made.loop.close()


def meet(scene: Scene) -> None:
    scene.run(lambda: scene.nodes.on_word(FAR))


def test_a_node_alone_says_only_that_it_lives(scene: Scene) -> None:
    said = scene.run(scene.neighbours.beat)
    said += scene.run(lambda: scene.neighbours._changed("g_0"))
    assert [type(word) for _to, word in said] == [Beat]


def test_who_is_new_is_told_of_everybody_alone_and_greeted(scene: Scene) -> None:
    said = scene.run(lambda: scene.nodes.on_word(FAR))
    assert {to for to, _word in said} == {"far"}
    assert [type(word) for _to, word in said] == [Beat, AllHere, Greets]
    told = {here.group_id: here for here in here_of(said[1][1])}
    assert told.keys() == {*scene.host.there, "g_people"}
    assert told["g_0"] == NodePresence("here", "g_0", {"ann": AgentStatus("busy")}, (LIFE,))
    assert told["g_people"].people == {"usr:eve": "online"}
    assert not [
        word for _to, word in scene.run(lambda: scene.nodes.on_word(FAR)) if isinstance(word, AllHere)
    ]


def test_who_forgot_this_node_and_greets_it_hears_of_everybody_again(scene: Scene) -> None:
    meet(scene)
    said = scene.run(lambda: scene.nodes.on_word(Greets("far")))
    assert [(to, type(word)) for to, word in said] == [("far", Beat), ("far", AllHere)]


def test_a_change_is_told_at_once_and_a_sign_of_life_with_the_next_beat(scene: Scene) -> None:
    meet(scene)
    assert scene.groups(lambda: (scene.neighbours._changed("g_7"), scene.neighbours._changed("g_7"))) == [
        "g_7"
    ]
    assert scene.groups(lambda: scene.neighbours._heard_from("g_44")) == []
    assert "g_44" in scene.groups(scene.neighbours.beat)


def test_the_host_knows_how_late_a_sign_of_life_at_another_node_may_come(scene: Scene) -> None:
    assert scene.host.elsewhere_late_by == LONGEST_PAUSE * SECOND


def test_in_a_round_everything_is_said_once_and_little_at_a_time(scene: Scene) -> None:
    meet(scene)
    at_a_time = ceil(46 * LONGEST_PAUSE / ROUND)
    beats = ceil(46 / at_a_time)
    assert beats * LONGEST_PAUSE <= ROUND
    said = [scene.groups(scene.neighbours.beat) for _ in range(beats)]
    assert Counter(group for one in said for group in one) == Counter([*scene.host.there, "g_people"])
    assert max(map(len, said)) == at_a_time


def test_that_nobody_is_left_is_said_twice_and_then_no_more(scene: Scene) -> None:
    """The first word may be lost."""
    meet(scene)
    scene.groups(lambda: scene.neighbours._changed("g_0"))
    scene.host.there = []
    assert scene.groups(lambda: scene.neighbours._changed("g_0")) == ["g_0"]
    beats = 2 * ceil(ROUND / LONGEST_PAUSE)
    assert [scene.groups(scene.neighbours.beat) for _ in range(beats)].count(["g_0"]) == 1


def test_what_others_say_takes_the_place_of_what_they_said_before(scene: Scene) -> None:
    meet(scene)
    (told,) = all_here(
        "far", [NodePresence("far", "g_1", {"ben": AgentStatus("idle")}), NodePresence("far", "g_2")], 10_000
    )
    scene.run(lambda: scene.nodes.on_word(told))
    assert [one.agents for one in scene.neighbours.in_group("g_1")] == [{"ben": AgentStatus("idle")}]
    assert scene.neighbours.groups() == ["g_1"]
    assert scene.host.writer == ["g_1"]
    scene.run(lambda: scene.nodes.on_word(Leaves("far")))
    assert scene.neighbours.groups() == []
    assert scene.neighbours.count() == 1


def test_words_are_as_few_as_fit_and_a_large_group_is_one_by_itself() -> None:
    sizes = [10, 4_000, 4_000, 9_500, 10, 10]
    heres = [
        NodePresence("a", f"g_{number}", {"x" * size: AgentStatus("")}) for number, size in enumerate(sizes)
    ]
    words = list(all_here("a", heres, 10_000))
    assert [here for word in words for here in here_of(word)] == heres
    assert [len(word.groups) for word in words] == [3, 1, 2]
    assert all(len(encode(word)) < 10_000 for word in words)
    assert list(all_here("a", [], 10_000)) == []
