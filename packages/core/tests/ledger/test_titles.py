"""A title or a display name is one line of text that reads as no mention, whoever gives it by whatever door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.ledger.world import World, refusal, submission

if TYPE_CHECKING:
    from collections.abc import Callable

TITLES: dict[str, Callable[[World, str], Any]] = {
    "a new group": lambda room, title: room.store.append(_opening(title), creates=True),
    "a group": lambda room, title: room.do("g_one", "user", "group.update", title=title),
    "a new actor": lambda room, title: room.do("g_one", "user", "actor.add", actor_id="zoe", title=title),
    "an actor": lambda room, title: room.do("g_one", "user", "actor.update", actor_id="ann", title=title),
    "a person": lambda room, title: room.do(
        "g_one", "user", "x.tacit.person.add", principal="usr:eve", title=title
    ),
    "a task": lambda room, title: _sync(room, "tasks", "T1", title),
    "a stream": lambda room, title: _sync(room, "context", "stream:s", title),
}
NAMES = ("a new actor", "an actor", "a person")


def _opening(title: str) -> Any:
    return submission("g_two", "user", "group.create", {"title": title})


def _sync(room: World, store: str, key: str, title: str) -> Any:
    change = {"op": "set", "store": store, "key": key, "value": {"title": title}}
    return room.do("g_one", "user", "context.sync", ops=[change])


@pytest.mark.parametrize("given_to", TITLES)
@pytest.mark.parametrize(
    "title",
    [
        "@all",
        " @ann ",
        "\uff20everyone",
        "two\nlines",
        "a\ttab",
        "\x1b[31mred",
        "up\u2028down",
        "\u202eturned",
    ],
)
def test_a_title_that_reads_as_a_mention_or_has_more_than_one_line_is_refused(
    room: World, given_to: str, title: str
) -> None:
    before = room.state("g_one").last_seq
    with refusal("invalid_request"):
        TITLES[given_to](room, title)
    assert room.state("g_one").last_seq == before


@pytest.mark.parametrize("given_to", NAMES)
@pytest.mark.parametrize("name", ["all", " Everyone", "HERE", "peers", "user", "Team @ann"])
def test_a_display_name_that_calls_somebody_else_is_refused(room: World, given_to: str, name: str) -> None:
    with refusal("invalid_request"):
        TITLES[given_to](room, name)


@pytest.mark.parametrize("given_to", [what for what in TITLES if what not in NAMES])
def test_the_title_of_work_may_name_somebody(room: World, given_to: str) -> None:
    TITLES[given_to](room, "@types/node is outdated, ask @ann")


@pytest.mark.parametrize("given_to", TITLES)
def test_other_titles_are_taken_as_they_are(room: World, given_to: str) -> None:
    TITLES[given_to](room, "Ann @ work: ann@example.org 👩‍💻")
