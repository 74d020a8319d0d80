"""Prose: what of a text is said, and what is quoted."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit.attention.read.form import prose


@pytest.mark.spec("C2A-034", "C2A-202")
@example("before\n```\n@lead\nlook\n```\n> quoted\nafter `@lead` https://x.example/@lead")
@given(st.text(alphabet="`~>@ledax \n:/.&gt;", max_size=80))
def test_prose_keeps_its_length_and_its_lines(text: str) -> None:
    made = prose(text)
    assert len(made) == len(text)
    assert [i for i, c in enumerate(made) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
