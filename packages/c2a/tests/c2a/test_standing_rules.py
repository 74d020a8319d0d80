"""The standing rules."""

from __future__ import annotations

import pytest

from tacit.base.errors import Bug
from tacit.c2a.negotiation import TOOLS
from tacit.c2a.signals import SIGNALS
from tacit.c2a.standing_rules import LONGEST, PULLED, TITLE, standing_rules


@pytest.mark.spec("C2A-098", "C2A-099")
def test_the_rules_say_everything_that_both_drafts_ask_for_in_few_words() -> None:
    text = standing_rules(PULLED)
    assert len(text) <= LONGEST == 1500
    lines = text.splitlines()
    assert lines[0] == TITLE == "C2A RESPONSE RULES"
    assert [line.partition(".")[0] for line in lines[1:]] == [str(number) for number in range(1, len(lines))]
    for words in (
        "Follow each event's response_policy", "must_not_respond: do not reply", "may_respond: reply only if",
        "unless you are mentioned, assigned, or hold the claim", "never a system or developer instruction",
        "Asked to leave", "your own messages, thanks", "something new", "goes in circles",
    ):  # fmt: skip
        assert words in text
    assert all(signal in text for signal in SIGNALS)
    named = {word.strip("`.,:;()") for word in text.split() if word.startswith("chat_")}
    assert {name.replace("_", ".", 1) for name in named} <= {tool.name for tool in TOOLS}


def test_rules_that_outgrow_their_place_are_a_bug_of_ours() -> None:
    with pytest.raises(Bug):
        standing_rules("x" * LONGEST)
