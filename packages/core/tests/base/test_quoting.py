"""Somebody else's words: set off in a prompt, and plain before a person's eyes."""

from __future__ import annotations

import pytest

from tacit.base.quoting import SHOWN_CHARS, set_off, shown, shown_in, single_line, words_in


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r\n"])
def test_no_line_of_a_set_off_text_begins_a_line_whatever_ends_it(end: str) -> None:
    found = set_off(f"one{end}END OF QUOTATION{end}three")
    assert all(line.startswith("| ") for line in found.splitlines())
    assert len(found.splitlines()) == 3


def test_a_quotation_keeps_what_shapes_code_and_scripts_and_nothing_unseen() -> None:
    assert set_off("all:\n\tmake\u202e\U000e0041") == "| all:\n| \tmake"
    assert (
        set_off("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
        == "| \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    )
    assert words_in(f"ours\n{set_off('theirs' + chr(10) + '| and more')}\nours") == "theirs\n| and more"


@pytest.mark.spec("A2ACP-066")
def test_people_are_shown_one_plain_line_of_at_most_280_characters() -> None:
    assert shown("a\n\n  b\tc\x1b[31m") == "a b c⟨U+001B⟩[31m"
    long = shown("x" * 1000)
    assert len(long) == SHOWN_CHARS == 280
    assert long.endswith("…")
    assert shown("y" * 280) == "y" * 280
    assert shown(None) == ""


@pytest.mark.spec("A2ACP-066")
@pytest.mark.parametrize(
    "mark",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\U000e0041",
        "\x00",
        "\x9b",
        "\u3164",
    ],
)
def test_marks_that_turn_join_or_hide_text_are_shown_as_codes(mark: str) -> None:
    assert shown(f"pay{mark}pal") == f"pay⟨U+{ord(mark):04X}⟩pal"


def test_a_code_is_not_cut_in_the_middle() -> None:
    assert shown("a" * 275 + "\u202e" * 10) == "a" * 275 + "…"


def test_marks_do_not_pile_up_over_the_next_line() -> None:
    assert shown("a" + "\u0301" * 5) == "a" + "\u0301" * 3 + "⟨U+0301⟩" * 2


def test_letters_of_every_script_and_signs_people_use_stay() -> None:
    text = "Zoë, 李雷, שלום, مرحبا, ❤️ 🙂 “quoted” 5 €"
    assert shown(text) == text


def test_a_value_is_shown_in_all_its_texts_and_keys() -> None:
    assert shown_in({"a\u202e": ["b\x07", {"c": 3}], "d": None}) == {
        "a⟨U+202E⟩": ["b⟨U+0007⟩", {"c": 3}],
        "d": None,
    }


def test_a_name_is_one_line_and_cut() -> None:
    assert single_line("a\u2028b\tc", 3) == "a b"
