"""Placeholders: names for values that a model does not see."""

from __future__ import annotations

import pytest

from tacit.a2acp.consent.scan import Scanner
from tacit.agent.brain.placeholders import filled, masked, placeholder, present


@pytest.mark.spec("A2ACP-071")
def test_a_value_takes_its_place_only_where_it_is_known() -> None:
    text = f"Somewhere with {placeholder('dietary')} in {placeholder('area')}"
    assert (
        filled(text, {"dietary": "vegan food", "area": "Reading"}) == "Somewhere with vegan food in Reading"
    )
    assert filled(text, {"dietary": "vegan food"}) is None
    assert filled("plain", {}) == "plain"


@pytest.mark.parametrize("text", ["⟨a", "a⟩", "〈x〉", "⟨⟩", "⟨a⟨b⟩⟩"])
def test_no_text_leaves_with_a_bracket_of_a_placeholder(text: str) -> None:
    assert present(text)
    assert filled(text, {"b": "⟨c⟩"}) is None


def test_values_that_are_no_text_take_no_place() -> None:
    assert filled(placeholder("list"), {"list": ["a"]}) is None


def test_what_is_withheld_is_masked_in_every_text_key_and_number() -> None:
    secret = {"diet": "no nuts", "pin": 91234, "where": {"street": "5 Elm Road"}, "yes": True, "short": "ok"}
    said = {"no NUTS": ["at 5  elm road", 91234, True, None], "n": "ok, code 91234"}
    assert masked(said, secret) == {"⟨diet⟩": ["at ⟨where⟩", "⟨pin⟩", True, None], "n": "ok, code ⟨pin⟩"}


def test_a_value_inside_a_longer_word_is_another_word() -> None:
    assert masked("veganism and vegan", {"diet": "vegan"}) == "veganism and ⟨diet⟩"


def test_the_longest_value_is_masked_first() -> None:
    assert masked("no nuts at all", {"a": "no nuts", "b": "no nuts at all"}) == "⟨b⟩"


@pytest.mark.spec("A2ACP-071")
@pytest.mark.parametrize(
    ("value", "said", "shown"),
    [
        ("gluten free", "a gluten-free dinner", "a ⟨own⟩ dinner"),
        ("epilepsy, migraine", "because of my epilepsy", "because of my ⟨own⟩"),
        ("0171 234 5678", "call 01712345678 now", "call ⟨own⟩ now"),
        ("Zoë's café", "at Zoe's cafe", "⟨own⟩"),
        ("01712345678", "call 0171 234 5678 now", "⟨own⟩"),
        (91234567, {"code": "9123-4567"}, {"code": "⟨own⟩"}),
        ("C++", "plan C is better", "plan C is better"),
        ("dinner, epilepsy", "a dinner", "a dinner"),
    ],
)
def test_a_value_is_masked_in_every_spelling_that_the_scanner_knows(value, said, shown) -> None:
    assert masked(said, {"own": value}, Scanner([("own", value)]).hits) == shown
