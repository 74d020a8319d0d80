"""The way out: what the writer has at hand goes at once, what must be read goes in its turn, nothing overtakes."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.c2a.stage import Stage


@contextmanager
def readers_held(stage: Stage) -> Iterator[None]:
    """Nobody can read the ledger: every reader waits."""
    store = stage.server.hub.store
    free = threading.Event()
    for _ in range(store.options.readers):
        store.pool.submit(free.wait)
    try:
        yield
    finally:
        free.set()


@pytest.mark.spec("C2A-006")
async def test_a_new_event_reaches_its_session_without_the_ledger_being_read_again(stage):
    ada = await stage.agent("ada")
    await ada.delivery(await stage.tell("@ada are you there?"))
    with readers_held(stage):
        asked = await stage.tell("@ada which port is it?")
        heard = await ada.delivery(asked)
    assert heard["content"] == "@ada which port is it?"


@pytest.mark.spec("C2A-008", "C2A-223")
async def test_what_needs_no_reading_does_not_overtake_what_does(stage):
    ada = await stage.agent("ada")
    first = await stage.tell("@ada which port is it?")
    await ada.answer(first, "It is 7434.")
    with readers_held(stage):
        in_thread = await stage.tell("@ada and the host?", reply_to=first["id"])
        plain = await stage.tell("@ada what about lunch?")
        assert not ada.got(in_thread)
        assert not ada.got(plain)
    # What had to wait comes whole: with the open lines before it, as if it had not waited.
    before = (await ada.delivery(plain))["threadWindow"]
    assert [one["content"] for one in before] == ["@ada which port is it?"]
    order = [one["eventId"] for one in ada.heard]
    assert order.index(in_thread["id"]) < order.index(plain["id"])
    assert [one["content"] for one in (await ada.delivery(in_thread))["threadWindow"]] == [
        "@ada which port is it?",
        "It is 7434.",
    ]


@pytest.mark.spec("C2A-027")
async def test_a_session_that_is_away_leaves_no_draft_behind_and_misses_nothing(stage):
    ada = await stage.agent("ada")
    await ada.stop()
    asked = await stage.tell("@ada which port is it?")
    again = await stage.agent("ada")
    assert (await again.delivery(asked))["content"] == "@ada which port is it?"


@pytest.mark.spec("C2A-071", "C2A-153")
async def test_a_session_is_told_that_it_must_claim_before_it_answers(stage):
    ann, ben = await stage.cast("ann", "ben", roles=["ops"])
    shared = await stage.tell("@ops who has time for a review?")
    for agent in (ann, ben):
        assert (await agent.delivery(shared))["attention"]["needsClaim"] is True
    named = await stage.tell("@ann can you review this?")
    assert "needsClaim" not in (await ann.delivery(named))["attention"]
