"""What somebody decides about is drawn as it is: nothing in it turns, hides or goes unseen."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base import visible as table
from tacit.base.visible import visible
from tools.places import ROOT

ROWS = json.loads((ROOT / "web" / "test" / "visible.json").read_text())
PAGE = ROOT / "web" / "src" / "text" / "visible.ts"


@pytest.mark.spec("C2A-207")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_what_nobody_would_see_is_a_code_and_scripts_stay_readable(row: dict[str, str]) -> None:
    assert visible(row["text"]) == row["line"]
    assert visible(row["text"], lines=True) == row["lines"]


@given(st.text())
def test_no_control_and_no_mark_of_direction_is_ever_drawn(text: str) -> None:
    never = re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    )
    assert not never.search(visible(text, lines=True))
    assert not {"\n", "\t"} & set(visible(text))


@given(st.text())
def test_what_is_drawn_already_stays_as_it_is(text: str) -> None:
    drawn = visible(text)
    assert visible(drawn) == drawn


def test_the_page_has_the_same_table() -> None:
    source = PAGE.read_text()
    for name in ("HIDDEN", "TWINS", "ALIKE", "LETTERS", "FULL_WIDTH", "JOINING", "PICTURES", "WIDE", "MARKS"):
        written = re.search(rf"export const {name} =(.*?);", source, re.DOTALL)
        assert written is not None, name
        assert "".join(re.findall('"([^"]*)"', written[1])) == getattr(table, name)
    for name in ("MARKS_ON_A_LETTER", "SPACES_IN_A_ROW", "TABS_IN_A_ROW", "SAME_IN_A_ROW", "BLANK_LINES"):
        assert f"const {name} = {getattr(table, name)};" in source
