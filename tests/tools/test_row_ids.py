"""Short forms of row ids are found and written out; nothing else is touched, and once is enough."""

from __future__ import annotations

import pytest

from tools import row_ids

ROWS = {f"C2A-{number:03}" for number in range(1, 230) if number != 155} | {
    f"CCCS-{number:03}" for number in range(1, 120)
}
EXPAND = row_ids.expander(ROWS)

SHORT = [
    ("C2A-003, 008, 027", "C2A-003, C2A-008, C2A-027"),
    ("C2A-152 to 154", "C2A-152, C2A-153, C2A-154"),
    ("C2A-153 to C2A-157", "C2A-153, C2A-154, C2A-156, C2A-157"),
    ("C2A-152/153", "C2A-152, C2A-153"),
    ("C2A-011-014", "C2A-011, C2A-012, C2A-013, C2A-014"),
    ("C2A-011..013", "C2A-011, C2A-012, C2A-013"),
    ("C2A-001, 029 to 031 and 223", "C2A-001, C2A-029, C2A-030, C2A-031 and C2A-223"),
    ("C2A-205 and 221 to 223.", "C2A-205, C2A-221, C2A-222, C2A-223."),
    ("CCCS-044, CCCS-109, CCCS-116 to 118", "CCCS-044, CCCS-109, CCCS-116, CCCS-117, CCCS-118"),
    ("(C2A-064, 111,\n207)", "(C2A-064, C2A-111, C2A-207)"),
    ("C2A-001 to 003, CCCS-001 to 002", "C2A-001, C2A-002, C2A-003, CCCS-001, CCCS-002"),
]
WHOLE = [
    "C2A-003, C2A-008 and C2A-027",
    "C2A-148, 150 ms later",
    "C2A-148 and 200 agents",
    "C2A-148, 999",
    "C2A-148. 150 of them",
    "a port 7433 to 7440",
]


@pytest.mark.parametrize(("short", "whole"), SHORT)
def test_a_short_form_is_written_out_and_then_stays(short, whole):
    assert EXPAND(short) == whole
    assert EXPAND(whole) == whole


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_whole_or_no_row_stays(text):
    assert EXPAND(text) == text


@pytest.mark.parametrize("text", [*(short for short, _ in SHORT), "see rows 11-14", "row 7"])
def test_short_forms_are_found_in_docstrings_and_comments_but_not_in_code(text):
    assert row_ids.short_forms(f'"""Rule.\n\n{text}\n"""\n', EXPAND)
    comment = "\n".join(f"# {line}" for line in text.split("\n"))
    assert row_ids.short_forms(f"x = 1\n{comment}\n", EXPAND)
    assert not row_ids.short_forms(f"x = {text!r}\n", EXPAND)


def test_a_paragraph_that_grows_is_filled_again_and_the_others_stay_as_they_are():
    text = (
        '"""Rule.\n\n'
        "Rows: C2A-064, 111, 142, 147 to 151, 174, 205, 207, 213. Reads a call's arguments into a value, finds out\n"
        "where it goes.\n\nAnother paragraph\nwith its own breaks.\n"
        '"""\n'
    )
    assert row_ids.fixed(text, EXPAND) == (
        '"""Rule.\n\n'
        "Rows: C2A-064, C2A-111, C2A-142, C2A-147, C2A-148, C2A-149, C2A-150, C2A-151, C2A-174, C2A-205, C2A-207,\n"
        "C2A-213. Reads a call's arguments into a value, finds out where it goes.\n\n"
        "Another paragraph\nwith its own breaks.\n"
        '"""\n'
    )


def test_a_first_line_that_grows_too_long_hands_its_ids_to_the_paragraph_below():
    text = (
        '"""Deadlines: what is due when an obligation is not met (C2A-056, 059, 122, 161, 173 to 178).\n\n'
        'Redeliver first.\n"""\n'
    )
    assert row_ids.fixed(text, EXPAND) == (
        '"""Deadlines: what is due when an obligation is not met.\n\n'
        "Rows: C2A-056, C2A-059, C2A-122, C2A-161, C2A-173, C2A-174, C2A-175, C2A-176, C2A-177, C2A-178. Redeliver\n"
        'first.\n"""\n'
    )


def test_a_docstring_of_one_line_grows_to_several_and_a_short_one_does_not():
    text = (
        "def f():\n"
        '    """How a harness reports an end that no tool reports: merged, ignored, failed (C2A-087, 117, 163)."""\n\n\n'
        "def g():\n"
        '    """What is said (C2A-074 to C2A-076)."""\n'
    )
    assert row_ids.fixed(text, EXPAND) == (
        "def f():\n"
        '    """How a harness reports an end that no tool reports: merged, ignored, failed.\n\n'
        '    Rows: C2A-087, C2A-117, C2A-163.\n    """\n\n\n'
        "def g():\n"
        '    """What is said (C2A-074, C2A-075, C2A-076)."""\n'
    )


def test_comments_are_filled_in_their_column_and_lists_keep_their_form():
    text = (
        "def f():\n    # Sent again, never twice to the same one, whatever the harness says of it by then (C2A-173 to\n"
        "    # 178).\n    return 1  # as C2A-001, 002\n"
    )
    assert row_ids.fixed(text, EXPAND) == (
        "def f():\n    # Sent again, never twice to the same one, whatever the harness says of it by then (C2A-173, C2A-174,\n"
        "    # C2A-175, C2A-176, C2A-177, C2A-178).\n    return 1  # as C2A-001, C2A-002\n"
    )
    listed = '"""Rule.\n\n- one (C2A-001, 002)\n- two\n  goes on (C2A-003/004)\n"""\n'
    assert row_ids.fixed(listed, EXPAND) == (
        '"""Rule.\n\n- one (C2A-001, C2A-002)\n- two goes on (C2A-003, C2A-004)\n"""\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        '"""Rule (C2A-001, 002)."""\n',
        "# C2A-001 to 012\n" * 2,
        'def f():\n    """A.\n\n    C2A-001 to 060.\n    """\n',
    ],
)
def test_fixing_twice_is_fixing_once_and_keeps_to_the_width(text):
    once = row_ids.fixed(text, EXPAND)
    assert row_ids.fixed(once, EXPAND) == once
    assert max(map(len, once.splitlines())) <= row_ids.WIDTH
    assert not row_ids.short_forms(once, EXPAND)


def test_an_id_that_no_row_bears_is_a_fault_in_the_product(tmp_path):
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "c2a.toml").write_text('[C2A-001]\ntext = "x"\n')
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text('"""Rule (C2A-001, C2A-900)."""\n')
    assert row_ids.faults(tmp_path) == ["src/a.py: names C2A-900, but no such row"]
