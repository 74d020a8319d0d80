"""Wordings: what a short line stands for, where it ends in a text, and that no text makes it cost."""

from __future__ import annotations

import pytest

from tacit.attention.read.wordings import Wordings


def ends(line: str, text: str, *, spaced: bool = True) -> list[str]:
    """All that the wordings of a line match at the beginning of a text."""
    wordings = Wordings(spaced=spaced)
    wordings.add([line], 1)
    return [text[:end] for end, closed, _ in wordings.at(text, 0) if closed]


@pytest.mark.parametrize(
    ("line", "text", "matches"),
    [
        ("thanks", "thanks a lot", ["thanks"]),
        ("thanks|thank you", "thank you", ["thank you"]),
        ("thank(s| you)( so much)?", "thank you so much", ["thank you", "thank you so much"]),
        ("thanks?", "thank", ["thank"]),
        ("(so |very )*good", "so very so good", ["so very so good"]),
        ("(so )?(very )?good", "very good", ["very good"]),
        ("( so)*( very)* good", "so good", ["so good"]),
        ("that (was )?( very)? good", "that very good", ["that very good"]),
        ("owe you a #", "owe you a coffee", ["owe you a c", "owe you a co", "owe you a cof", "owe you a coff", "owe you a coffe", "owe you a coffee"]),
        ("thanks for #ing", "thanks for fixing", ["thanks for fixing"]),
        ("((a|b)c)*d", "acbcd", ["acbcd"]),
        ("good", "bad", []),
        ("ab|ac|abc", "abc", ["ab", "abc"]),
    ],
)  # fmt: skip
def test_a_line_stands_for_its_wordings(line: str, text: str, matches: list[str]) -> None:
    assert ends(line, text) == matches


def test_in_a_script_without_spaces_each_letter_is_a_word() -> None:
    assert ends("谢谢 (你|大家)?", "谢谢大家", spaced=False) == ["谢谢", "谢谢大家"]


def test_a_star_stands_for_the_rest_of_the_clause() -> None:
    wordings = Wordings(spaced=True)
    wordings.add(["thanks for *"], 4)
    assert [(end, closed, on) for end, closed, on in wordings.at("thanks for it", 0)] == [
        (10, 0, 4),
        (11, 0, 4),
    ]
    wordings.add(["*てみます|*します"], 2)
    assert wordings.endings == [("てみます", 2), ("します", 2)]


def test_marks_of_several_lines_add_up_and_their_beginnings_are_shared() -> None:
    wordings = Wordings(spaced=True)
    wordings.add(["good|good night"], 1)
    wordings.add(["good|good morning"], 2)
    assert [(end, closed) for end, closed, _ in wordings.at("good morning", 0)] == [(4, 3), (12, 2)]


@pytest.mark.parametrize("line", ["(a", "a)", "((a)"])
def test_a_line_with_a_bracket_too_many_or_too_few_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="bracket"):
        Wordings(spaced=True).add([line], 1)


def test_states_are_forgotten_when_there_are_many_and_the_answer_stays() -> None:
    wordings = Wordings(spaced=True)
    wordings.add(["(" + "|".join(f"#{letter} " for letter in "abcdefghij") + ")*x"], 1)
    for number in range(400):
        text = f"{number:07}a {number}b " * 3 + "x"
        assert list(wordings.at(text, 0))[-1][0] == len(text)
