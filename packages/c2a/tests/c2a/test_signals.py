"""Reaction signals: names, glyphs, dispositions."""

from __future__ import annotations

import pytest

from tacit.c2a.errors import Refusal
from tacit.c2a.signals import GLYPHS, SIGNALS, agreed_glyphs, known_signal, reaction_data, signal_of


@pytest.mark.spec(
    "C2A-124", "C2A-125", "C2A-126", "C2A-127", "C2A-128", "C2A-129", "C2A-130", "C2A-131", "C2A-132"
)
def test_the_nine_signals_have_their_glyphs_and_dispositions() -> None:
    table = {
        name: (one.glyph, one.disposition.value if one.disposition else None) for name, one in SIGNALS.items()
    }
    assert table == {
        "seen": ("👀", "acknowledged"), "agree": ("👍", "acknowledged"), "working": ("🔧", "claimed"),
        "queued": ("🕐", "deferred"), "claimed": ("✋", "claimed"), "done": ("✅", "responded"),
        "declined": ("🙅", "ignored"), "blocked": ("🚧", "deferred"), "unclear": ("❓", None),
    }  # fmt: skip


@pytest.mark.spec("C2A-211", "C2A-134")
def test_signals_travel_by_name_and_come_back_by_glyph() -> None:
    data = reaction_data("e1", "lead", "queued", "after lunch")
    assert data == {
        "event_id": "e1",
        "actor_id": "lead",
        "emoji": "🕐",
        "signal": "queued",
        "eta": "after lunch",
    }
    assert signal_of(data) == "queued"
    assert signal_of({"emoji": "👍🏽"}) == "agree"
    assert signal_of({"emoji": "✅\ufe0f"}) == "done"
    assert signal_of({"emoji": "🎉"}) is None
    assert signal_of({"emoji": "👍", "signal": "declined"}) == "declined"
    assert signal_of({"emoji": "👍", "signal": "nonsense"}) is None
    assert reaction_data("e1", "lead", "x.coffee")["emoji"] == "[x.coffee]"


@pytest.mark.spec("C2A-135", "C2A-225")
def test_a_workspace_may_replace_glyphs_that_stay_different() -> None:
    agreed = agreed_glyphs({"agree": "🆗"})
    assert isinstance(agreed, dict)
    assert signal_of({"emoji": "🆗"}, agreed) == "agree"
    assert signal_of({"emoji": "👍"}, agreed) is None
    for bad in ({"agree": "✅"}, {"applause": "👏"}):
        refused = agreed_glyphs(bad)
        assert isinstance(refused, Refusal)
        assert refused.number == -32602
    assert isinstance(agreed_glyphs({"x.party": "🥳"}, {"x.party": None}), dict)
    assert known_signal("x.party") is not None
    assert known_signal("x.party", {"x.party": None}) is None
    assert known_signal("seen") is None
    assert len(GLYPHS) == 9
