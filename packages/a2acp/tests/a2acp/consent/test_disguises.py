"""What a reader with a decoder finds in a text: the bytes with which a readable text can begin are all tried."""

from __future__ import annotations

import base64

import pytest

from tacit.a2acp.consent.disguises import disguised

pytestmark = pytest.mark.spec("A2ACP-071")
WORD = "sarcoidosis"


@pytest.mark.parametrize(
    "first",
    [" ", "!", "~", "\t", "\n", "\u00a1", "\u00e9", "\u0430", "\u4e2d", "\U0001f600", "\U00020000"],
)
@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode, base64.b32encode])
def test_a_coded_text_is_found_whatever_readable_sign_it_begins_with(first, code):
    hidden = f"{first}{WORD} stage two"
    assert hidden in disguised(f"see {code(hidden.encode()).decode()} there")


@pytest.mark.parametrize("code", [base64.b64encode, base64.b32encode])
@pytest.mark.parametrize("first", [b"\x00", b"\x1f", b"\x7f", b"\x80", b"\xc1", b"\xf5", b"\xff"])
def test_bytes_that_begin_no_text_are_none(first, code):
    assert not any(WORD in one for one in disguised(code(first + WORD.encode()).decode()))


@pytest.mark.parametrize(("text", "found"), [("abc", True), ("ab", False)])
def test_three_signs_are_a_text_and_two_are_chance(text, found):
    tags = "".join(chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16) for byte in text.encode())
    assert (text in disguised(f"x{tags}\ufe00\ufe01"[: 1 + len(tags)])) is found


def test_one_inside_another_is_found_three_deep_and_no_deeper():
    layers = [WORD]
    for _ in range(4):
        layers.append(base64.b64encode(layers[-1].encode()).decode())
    assert WORD in disguised(layers[3])
    assert WORD not in disguised(layers[4])


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        ("\\u{1f600}", "\U0001f600"), ("\\u{61}", "a"), ("\\u0061", "a"), ("\\U0001f600", "\U0001f600"), ("\\x61", "a"),
        # Half a sign, and what is beyond all signs, is none.
        ("\\ud800", ""), ("\\udfff", ""), ("\\u{110000}", ""), ("\\ud7ff", "\ud7ff"), ("\\ue000", "\ue000"),
        ("\\u{10ffff}", "\U0010ffff"),
    ],
)  # fmt: skip
def test_an_escape_is_one_sign_whatever_letters_follow_it(escaped, plain):
    assert f"saf{plain}bed" in disguised(f"saf{escaped}bed")
