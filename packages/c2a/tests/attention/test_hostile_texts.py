"""Texts made to cost: what the hub asks of every message takes time in proportion to its length, whatever is in it.

None of these measures time: a text of the largest size that the ledger takes would keep a quadratic reader busy for
many minutes and an exponential one for ever, and the suite's time limit ends them.
"""

import tracemalloc

import pytest

from tacit.attention.decide.redaction import redacted
from tacit.attention.read.form import prose
from tacit.attention.read.intent import of_text
from tacit.attention.send.similarity import overlap
from tacit.c2a.vocabulary import Intent
from tacit.ledger.envelope import MAX_EVENT_BYTES

PUMPS = [
    "_", "-", "!", "\n", " \n", ". ", "`", "```\n", "~~~\n", "a.", "a-", "A1", "a@", "@a", "&gt;", "> ", "a://b:",
    "so ", "and then ", "ok, ", "i really ", "we really ", "what a ", "just ", "appreciate ", "👍", "\u00a0", "é",
    "eyJaaaaaaaaaa-", "eyJaaaaaaaaaa.", "password ", "bearer ", "-----BEGIN A ", "1 ", "1-",
]  # fmt: skip


@pytest.mark.parametrize("opening", ["", "thanks, please fix the build, @"])
@pytest.mark.parametrize("pump", PUMPS)
def test_the_largest_text_is_read_in_its_turn(pump, opening):
    text = opening + pump * (MAX_EVENT_BYTES // len(pump.encode())) + "x"
    said = prose(text)
    assert len(said) == len(text)
    assert of_text(said) in Intent
    assert redacted(text)


def test_what_is_said_beside_an_endless_run_is_still_heard():
    row, word = "-" * 100_000, "A" * 100_000
    assert of_text(f"thanks {row}") is Intent.THANKS
    assert of_text(f"{row}\nplease fix the build\n{row}") is Intent.REQUEST
    assert of_text(f"{word} and then? {word}") is Intent.QUESTION
    assert of_text(f"see {'!' * 50_000}?{'!' * 50_000} there") is Intent.QUESTION
    assert of_text(f"{word} could you please look at this {word}") is Intent.REQUEST
    assert overlap(word, word) == 1.0


def test_long_texts_are_not_kept():
    of_text("warm up")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(15):
            of_text(f"{number} " + "some words of a long story " * 3_000)
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < 400_000  # five of them alone


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("write to ada@example.org today", "write to                 today"),
        ("a.b+c@d-e.co.uk!", "               !"),
        ("(x@y)", "(   )"),
        ("hello @ada", "hello @ada"),
        ("@ada and @bob", "@ada and @bob"),
        ("a@ b", "a@ b"),
    ],
)
def test_an_address_is_blanked_and_a_mention_is_not(text, left):
    assert prose(text) == left
