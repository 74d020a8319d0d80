"""Text for somebody who decides: what nobody would see is shown as its code, such as `⟨U+202E⟩` (C2A-207).

A card, a question of consent or a file's name must not look like another text than the one that is meant. So
marks of direction, controls, zero-width characters, tags, private characters, strokes through letters and
spaces other than the ordinary one are written out, and so are blank lines and runs of spaces that would push
a part out of sight, letters of another script in a Latin word, and forms that only look like what is on a
keyboard. What a script or an emoji needs stays where it needs it: joiners between letters of scripts that
join and between pictures, one selector behind a picture, the wide space between wide letters, a few marks on
a letter.

The page has the same rule over the same table (`web/src/text/visible.ts`); `web/test/visible.json` holds
what both are held to. Pure; no table of Unicode's is asked, so that every version draws alike.
"""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = (
    "0000-0009 000B-001F 007F-00A0 00AD 0334-0338 034F 061C 115F-1160 1680 17B4-17B5 180B-180F 2000-200F "
    "2028-202F 205F-206F 20D2-20D3 20D8-20DA 20E0 20E5-20E6 20EA-20EB 2800 3000 3164 D800-F8FF FDD0-FDEF "
    "FE00-FE0F FEFF FFA0 FFF0-FFFC FFFE-FFFF 13430-13440 16FE4 1BCA0-1BCA3 1D159 1D173-1D17A E0000-10FFFF"
)
"""Shown as codes, unless one of the rules below keeps them. A line break is kept or not by who asks."""
TWINS: Final = "01C3 037E 2010-2011 2024 2044 2215 2236 29F8 A789-A78A 1D400-1D7FF"
"""Signs and letters that are taken for those of a keyboard, wherever they stand: also shown as codes."""
ALIKE: Final = (
    "0391-0392 0395-0397 0399-039A 039C-039D 039F 03A1 03A4-03A5 03A7 03B1 03B5 03B9-03BA 03BD 03BF 03C1 "
    "03C4-03C5 03F2 03F9 0405-0406 0408 0410 0412 0415 041A 041C-041E 0420-0422 0425 0430 0433 0435 043A "
    "043C-043E 0440-0443 0445-0446 0455-0456 0458 0474-0475 04AE-04AF 04BA-04BB 04BD 04C0 04CF 0500-0501 "
    "050C 051B 051D 0570 0578 057C-057D 0581 0585 13A0-13FF 1D00-1D2B 2160-217F A4D0-A4F7 A731"
)
"""Letters that are taken for Latin ones: shown as codes in a word that has Latin letters too."""
LETTERS: Final = (
    "0030-0039 0041-005A 0061-007A 00C0-02AF 0370-037D 037F-0482 048A-052F 0531-0588 13A0-13FF 1D00-1D7F "
    "2160-217F A4D0-A4F7"
)
"""What words are made of, where letters of several scripts are told apart."""
FULL_WIDTH: Final = "FF01-FF5E"
"""Wide forms of what is on a keyboard: ordinary beside wide letters, and shown as codes elsewhere."""
JOINING: Final = (
    "0620-06FF 0700-08FF 0900-0DFF 0F00-109F 1780-17B3 17B6-17FF 1810-18AF 1A20-1AAF 1B00-1BFF A840-A87F "
    "A980-A9DF FB50-FDCF FE70-FEFC"
)
"""Letters of scripts that need joiners and non-joiners between them."""
PICTURES: Final = (
    "00A9 00AE 203C 2049 2122 2139 2190-21FF 2300-23FF 24C2 25AA-25FE 2600-27BF 2934-2935 2B00-2BFF 3030 "
    "303D 3297 3299 1F000-1FAFF"
)
"""Emoji, and signs that a selector makes into one."""
WIDE: Final = "2E80-2FFF 3001-3163 3165-9FFF AC00-D7A3 F900-FAFF FF5F-FF9F FFA1-FFEE 20000-3FFFF"
"""Letters beside which wide forms and the wide space are the ordinary ones."""
MARKS: Final = (
    "0300-034E 0350-036F 0483-0489 0591-05BD 064B-065F 0670 06D6-06DC 0E31 0E34-0E3A 0E47-0E4E 1AB0-1AFF "
    "1DC0-1DFF 20D0-20FF FE20-FE2F"
)
"""Marks that stand on a letter, of which many hide what is around it."""
MARKS_ON_A_LETTER: Final = 3
SPACES_IN_A_ROW: Final = 24
TABS_IN_A_ROW: Final = 8
SAME_IN_A_ROW: Final = 200
BLANK_LINES: Final = 1
"""How many of each are drawn as they are."""
_FLAGS: Final = frozenset({"gbeng", "gbsct", "gbwls"})
"""The flags that are spelt in tags behind a black flag: England, Scotland and Wales."""


def _class(table: str) -> str:
    ends = (row.partition("-")[::2] for row in table.split())
    return "".join(
        f"{re.escape(chr(int(first, 16)))}-{re.escape(chr(int(last or first, 16)))}" for first, last in ends
    )


def _one_of(table: str) -> re.Pattern[str]:
    return re.compile(f"[{_class(table)}]")


_JOINS: Final = _one_of(JOINING)
_PICTURE: Final = _one_of(PICTURES)
_IS_WIDE: Final = _one_of(WIDE)
_ALIKE: Final = _one_of(ALIKE)
_RUN: Final = re.compile(rf"(\S)\1{{{SAME_IN_A_ROW},}}")
_LATIN: Final = re.compile("[A-Za-z]")
_UNSEEN_IN_A_LINE: Final = re.compile(
    f"(?P<flag>\U0001f3f4[\U000e0061-\U000e007a]{{1,8}}\U000e007f)"
    f"|(?P<row> {{{SPACES_IN_A_ROW + 1},}}|\t{{{TABS_IN_A_ROW + 1},}})"
    f"|(?P<wide>[{_class(FULL_WIDTH)}]+)"
    f"|(?<![{_class(LETTERS)}])(?P<word>[{_class(LETTERS)}]+)"
    f"|(?<=[{_class(MARKS)}]{{{MARKS_ON_A_LETTER}}})(?P<marks>[{_class(MARKS)}]+)"
    f"|(?P<hidden>[{_class(HIDDEN)}{_class(TWINS)}])"
)
_UNSEEN: Final = re.compile(f"(?P<lines>\n(?:[ \t]*+\n){{{BLANK_LINES + 1},}}+)|{_UNSEEN_IN_A_LINE.pattern}")


def visible(text: str, *, lines: bool = False) -> str:
    """The text with a code in the place of everything that would not be seen.

    With `lines` it may have several: line breaks and tabs stay, and a character that comes so often that it
    would push the rest out of sight is counted. Else line breaks and tabs are shown as codes too.
    """
    if text.isascii() and text.isprintable() and len(text) <= SPACES_IN_A_ROW:
        return text
    if not lines:
        return _UNSEEN_IN_A_LINE.sub(_drawn, text).replace("\n", code("\n")).replace("\t", code("\t"))
    return _UNSEEN.sub(_drawn, _RUN.sub(lambda run: run[1] + code(run[1], len(run[0])), text))


def code(char: str, count: int = 1) -> str:
    """How a character is named, and how many of it there are."""
    return f"⟨U+{ord(char):04X}{f'×{count}' if count > 1 else ''}⟩"  # noqa: RUF001 - the sign for so many


def _drawn(found: re.Match[str]) -> str:
    text = found.group()
    before = found.string[found.start() - 1 : found.start()] if found.start() else ""
    behind = found.string[found.end() : found.end() + 1]
    match found.lastgroup:
        case "flag":
            tags = "".join(chr(ord(tag) - 0xE0000) for tag in text[1:-1])
            return text if tags in _FLAGS else text[0] + "".join(code(tag) for tag in text[1:])
        case "lines":
            return "\n" + code("\n", text.count("\n")) + "\n"
        case "row":
            return code(text[0], len(text))
        case "word":
            return _ALIKE.sub(lambda letter: code(letter[0]), text) if _LATIN.search(text) else text
        case "wide" if _IS_WIDE.match(before) or _IS_WIDE.match(behind):
            return text
        case "marks" | "wide":
            return "".join(code(char) for char in text)
        case _:
            return text if _is_kept(text, before, behind) else code(text)


def _is_kept(char: str, before: str, behind: str) -> bool:
    """Is this a character that the text around it needs?"""
    match char:
        case "\t":
            return True
        case "\u200d" if _PICTURE.match(behind):
            return before == "\ufe0f" or bool(_PICTURE.match(before))
        case "\u200c" | "\u200d" | "\u180b" | "\u180c" | "\u180d" | "\u180e" | "\u180f":
            return bool(_JOINS.match(before) and _JOINS.match(behind))
        case "\ufe0e" | "\ufe0f":
            return bool(_PICTURE.match(before)) or (before in {*"0123456789#*"} and behind == "\u20e3")
        case "\u3000":
            return bool(_IS_WIDE.match(before) and _IS_WIDE.match(behind))
        case _:
            return False
