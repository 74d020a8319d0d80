"""One session for each audience: what is told in private is in no request that is made for anybody else.

The truth comes from outside: every request that reaches the model's server is searched for a marker.
"""

from __future__ import annotations

import json
from itertools import count

import pytest

from tacit.client import Hub
from tests.harness.drivers.rigs import named
from tests.model_server import Call, Say

ALL = pytest.mark.parametrize("rig", named("command", "codex", "claude", "acp", "openai"))
MARKER = "zebrafish-4711"
"""What is told in private, beside the word that the model will search for."""
WORDS = (
    "apples", "bridges", "candles", "deserts", "engines", "feathers", "gardens", "harbours", "islands", "jackets",
    "kettles", "ladders", "meadows", "needles", "oceans", "pencils", "quilts", "rivers", "saddles", "tunnels",
)  # fmt: skip
LOOKS = (
    ("chat_search", {"query": "aquarium"}),
    ("chat_list_events", {"limit": 200}),
    ("chat_read_thread", {"conversationId": "dm:ada+user"}),
    ("chat_read_thread", {"conversationId": "main"}),
)
"""How a curious model looks for it."""


class Curious:
    """A model that looks everywhere before it answers, and never says the same twice."""

    def __init__(self) -> None:
        self._numbers = count()

    def __call__(self, seen):
        said = seen.said
        asked = max(
            place for place, (role, text) in enumerate(said) if role == "user" and "C2A EVENT" in text
        )
        looked = sum(role == "tool" for role, _ in said[asked:])
        if looked < len(LOOKS):
            return Call(*LOOKS[looked])
        number = next(self._numbers)
        return Say(f"{WORDS[number]} {WORDS[-number]} and {number}")


def requests_for(model, word: str) -> list[str]:
    """Every request whose newest event says this word, as it came."""
    found = []
    for seen in (*model.calls, *model.asides):
        prompts = [text for role, text in seen.said if role == "user" and "C2A EVENT" in text]
        if prompts and word in prompts[-1]:
            found.append(json.dumps(seen.body))
    return found


@ALL
@pytest.mark.spec("C2A-203", "C2A-207")
async def test_what_is_told_in_private_is_in_no_request_for_the_room_or_for_another(rig, home, model):
    model.follow(Curious())
    token = (await home.owner.add_person(home.group, "usr:bo"))["token"]
    state = home.folder / "ada" / "driver"
    async with Hub(home.url, token) as bo:
        async with home.agent("ada", rig.driver(state, model)):
            await home.until_reply(
                await home.say(f"private-one: remember {MARKER} in the aquarium", to=["ada"])
            )
            public = await home.say("@ada room-one: what do you know?")
            other = (await bo.send(home.group, "bo-one: what do you know?", to=["ada"])).id
            await home.until_reply(public)
            await home.until_reply(other)
            await home.until_reply(await home.say("private-two: and now?", to=["ada"]))
        before = {
            word: requests_for(model, word) for word in ("private-one", "private-two", "room-one", "bo-one")
        }
        # A restart: the sessions are taken up again, each by its own audience.
        async with home.agent("ada", rig.driver(state, model)):
            public = await home.say("@ada room-two: what do you know?")
            other = (await bo.send(home.group, "bo-two: what do you know?", to=["ada"])).id
            again = await home.say("private-three: and after the pause?", to=["ada"])
            for event_id in (public, other, again):
                await home.until_reply(event_id)
    after = {word: requests_for(model, word) for word in ("room-two", "bo-two", "private-three")}
    seen = before | after
    assert all(len(requests) == len(LOOKS) + 1 for requests in seen.values()), {
        word: len(requests) for word, requests in seen.items()
    }
    for word in ("room-one", "room-two", "bo-one", "bo-two"):
        assert MARKER not in "".join(seen[word]), word
        assert "private-" not in "".join(seen[word])
        assert ("bo-" in "".join(seen[word])) == word.startswith("bo")
    # Each audience keeps its own memory, over a restart too; the first request of a turn has no look in it yet.
    assert MARKER in seen["private-two"][0]
    assert MARKER in seen["private-three"][0]
    assert "room-one" in seen["room-two"][0]
    assert "bo-one" in seen["bo-two"][0]
    # And in private the tools show what was said there.
    assert seen["private-three"][-1].count("private-one") > seen["private-three"][0].count("private-one")
