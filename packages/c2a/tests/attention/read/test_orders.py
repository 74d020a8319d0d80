"""Orders: a text is one from its first word to its last, or it is none."""

from __future__ import annotations

import pytest

from tacit.attention.read.form import prose
from tacit.attention.read.intent import LONGEST, of_text
from tacit.c2a.vocabulary import Intent

DESTRUCTIVE = {Intent.LEAVE_REQUEST, Intent.CANCELLATION}


@pytest.mark.spec("C2A-054", "C2A-194")
@pytest.mark.parametrize(
    "text",
    [
        "@ada please leave this channel",
        "@ada could you leave the thread, please?",
        "thanks for your help, you can go now",
        "@ada we no longer need you here",
        "ada, leave us alone",
    ],
)
def test_an_order_to_leave_is_read_as_one(text: str) -> None:
    assert of_text(prose(text)) is Intent.LEAVE_REQUEST


@pytest.mark.spec("C2A-054", "C2A-081")
@pytest.mark.parametrize(
    "text",
    [
        "@ada stop",
        "@ada stop the deploy, please",
        "@ada nvm",
        "never mind, found it",
        "@ada never mind, thanks",
        "please don't bother",
        "sorry, wrong channel, forget it",
        "@ada can you stop what you're doing?",
        "hold on, don't merge",
    ],
)
def test_an_order_to_stop_is_read_as_one(text: str) -> None:
    assert of_text(prose(text)) is Intent.CANCELLATION


@pytest.mark.spec("C2A-054", "C2A-194")
@pytest.mark.parametrize(
    "text",
    [
        "@ada how do I get this warning to go away?",
        "@ada how can I make the popup leave the room for the text",
        "@ada cancel my lunch reminder",
        "@ada cancel the meeting with bob at three",
        "@ada stop?",
        "@ada why did you stop the deploy?",
        "@ada what happens when I abort the migration?",
        "@ada he told me to leave the group",
        "@ada please leave the door open",
        "@ada the users want to quit the chat and nothing happens",
        "@ada stop the deploy and tell bob why it broke",
        "@ada don't forget that the report is due",
        "@ada never mind the gap in the log, look at the last line of it",
        "@ada no, don't delete the old ones, rename them",
        "@ada 'go away' is what the page says to everybody who signs in",
        "@ada no go",
        "@ada stop it when the tests are done",
        "@ada cancel that and fixed ones too",
        "@ada ignore that the tests got fixed",
    ],
)
def test_words_of_an_order_in_another_sentence_are_none(text: str) -> None:
    assert of_text(prose(text)) not in DESTRUCTIVE


@pytest.mark.parametrize("text", ["stop", "please leave this channel"])
def test_whoever_says_more_than_an_order_gives_none(text: str) -> None:
    assert of_text(text) in DESTRUCTIVE
    assert of_text(f"{text}, {'and ' * LONGEST}") not in DESTRUCTIVE


@pytest.mark.parametrize(
    "text",
    [
        "your backups will prevent any data loss",
        "you can boot into an emergency shell",
        "what is a data breach",
    ],
)
def test_a_word_of_danger_alone_is_no_alarm(text: str) -> None:
    assert of_text(prose(text)) is not Intent.SAFETY


@pytest.mark.parametrize(
    "text", ["we have a data breach", "our deploy token was leaked", "this is an emergency", "emergency!"]
)
def test_an_alarm_is_read_as_one(text: str) -> None:
    assert of_text(prose(text)) is Intent.SAFETY
