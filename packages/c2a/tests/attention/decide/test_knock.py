"""Knocks: that something is there, without what it says."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention.decide.knock import collapsed, knock_of, topic_of
from tacit.attention.read.conversation import Conversation
from tacit.c2a.messages import Knock
from tacit.c2a.vocabulary import Intent
from tests.attention.world import event, lead_gets

WORDS = [
    "the",
    "deploy",
    "of",
    "our",
    "billing",
    "service",
    "fails",
    "because",
    "its",
    "database",
    "index",
    "is",
    "too",
    "slow",
    "question",
    "in",
    "request",
    "about",
    "rollback",
    "plan",
]


@pytest.mark.spec("C2A-089", "C2A-224")
def test_no_knock_shows_four_words_of_ten_thousand_bodies() -> None:
    """Titles are often cut from the body itself; even then the topic gives no four words away."""
    rng = random.Random(4)
    for _ in range(10_000):
        body = [rng.choice(WORDS) for _ in range(rng.randint(0, 30))]
        start = rng.randint(0, max(len(body) - 1, 0))
        title = " ".join(body[start : start + rng.randint(0, 9)]) + rng.choice(
            ["", " 4711", " https://x.example/y", " `rm`"]
        )
        text = rng.choice([" ", "  ", "\n", ", "]).join(body)
        topic, _ = topic_of(rng.choice(list(Intent)), title.title() if rng.random() < 0.5 else title, text)
        shown = re.findall(r"\w+", topic.lower())
        said = [word.lower() for word in re.findall(r"\w+", text)]
        runs = {tuple(said[at : at + 4]) for at in range(len(said) - 3)}
        assert not any(tuple(shown[at : at + 4]) in runs for at in range(len(shown) - 3))
        assert len(topic) <= 80
        assert not re.search(r"\d{2,}|http|`", topic)


@given(body=st.text(max_size=200), title=st.text(max_size=120), intent=st.sampled_from(list(Intent)))
def test_a_topic_is_short_and_clean_for_any_text(body: str, title: str, intent: Intent) -> None:
    topic, _ = topic_of(intent, title, body)
    assert 0 < len(topic) <= 80
    assert "\n" not in topic
    assert "@" not in topic


@pytest.mark.spec("C2A-089")
def test_a_topic_that_would_reveal_falls_back_to_the_intent() -> None:
    assert topic_of(Intent.QUESTION, "", "is it slow") == ("question", False)
    assert topic_of(Intent.QUESTION, "Deploy migration", "is it slow") == (
        "question in Deploy migration",
        False,
    )
    assert topic_of(Intent.QUESTION, "the deploy of our billing", "the deploy of our billing broke") == (
        "question",
        True,
    )
    assert topic_of(Intent.REQUEST, "デプロイの手順が壊れています", "デプロイの手順が壊れていますか") == (
        "request",
        True,
    )
    assert topic_of(Intent.REQUEST, "", "x")[0] == "request"


@pytest.mark.spec("C2A-088", "C2A-036", "C2A-134")
def test_a_knock_has_seven_members_and_no_body() -> None:
    what = event("why is the secret thing broken", to=["@all"])
    decision = lead_gets(what)
    knock, _ = knock_of(
        decision,
        sender="human:user",
        conversation=Conversation(title="Deploys"),
        intent=Intent.QUESTION,
        body="why is the secret thing broken",
    )
    assert list(knock.members()) == [
        "from",
        "where",
        "directedness",
        "policy",
        "priority",
        "topic",
        "pullWith",
    ]
    assert knock.members()["topic"] == "question in Deploys"
    threaded, _ = knock_of(
        decision, sender="x y" * 60, conversation=Conversation(thread="r"), intent=Intent.PLAIN, body=""
    )
    assert (threaded.where, threaded.pull_with) == ("thread:r", "chat.read_thread")
    assert threaded.sender == "x_y" * 40


@pytest.mark.spec("C2A-090")
def test_knocks_of_one_thread_become_one_with_the_strongest_policy() -> None:
    def knock(where: str, policy: str) -> Knock:
        return Knock("a", where, "to_my_role", policy, "normal", "message", "chat.read_thread")

    found = collapsed(
        [
            knock("thread:1", "must_respond"),
            knock("thread:2", "may_respond"),
            knock("thread:1", "may_respond"),
        ]
    )
    assert [(one.where, one.count, one.policy) for one in found] == [
        ("thread:2", 1, "may_respond"),
        ("thread:1", 2, "must_respond"),
    ]
    assert found[1].members()["count"] == 2
