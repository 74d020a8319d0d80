"""Prose: what of a text is said, and what is quoted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tacit.attention.read.prose import prose


@given(st.text(alphabet="`~>@ledax \n:/.&gt;", max_size=80))
def test_prose_keeps_its_length_and_its_lines(text: str) -> None:
    made = prose(text)
    assert len(made) == len(text)
    assert [i for i, c in enumerate(made) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
