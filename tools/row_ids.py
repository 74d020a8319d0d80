"""Row ids in full, so that a row is found by search where its rule lives.

python -m tools.row_ids          lists short forms ("C2A-153 to 158", "C2A-003, 008", "rows 11-14") and unknown ids
python -m tools.row_ids --fix    writes them out in docstrings and comments, at most 110 columns wide

A range is written out as the rows that exist in it. Where a docstring's first line grows too long, the ids in brackets
at its end become a sentence of their own below it.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import textwrap
import tokenize
import tomllib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tools import places
from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

WIDTH: Final = 110
ROW: Final = re.compile(r"\b(?:CCCS|C2A|CLOWL|A2ACP)-\d{3}\b")

_NAME: Final = r"(?:CCCS|C2A|CLOWL|A2ACP)"
# A number with a unit behind it is an amount, not a row.
_AMOUNT: Final = (
    r"(?![\w%]|\.\d|:\d|[ \n]+(?:ms|s|us|bytes?|kB|MB|KiB|MiB|seconds?|minutes?|hours?|days?|characters?|times|events?|"
    r"messages?|agents?|people|per|of|in|tokens?|columns|lines|rows|pixels|px)\b)"
)
_JOIN: Final = (
    r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|to|through|until)\s+|\s*(?:/|\.{2,3}|-|\N{EN DASH})\s*)"
)
_RUN: Final = re.compile(rf"\b({_NAME}-\d{{3}})((?:{_JOIN}(?:{_NAME}-)?\d{{3}}\b{_AMOUNT})+)")
_PART: Final = re.compile(rf"({_JOIN})((?:{_NAME}-)?)(\d{{3}})\b")
_RANGE: Final = re.compile(r"\s+(?:to|through|until)\s+|\s*(?:\.{2,3}|-|\N{EN DASH})\s*")
_BARE: Final = re.compile(
    r"\b[Rr]ows? \d{1,3}\b(?:\s*(?:-|to|,|and|\N{EN DASH})\s*\d{1,3}\b)*(?! (?:of|by|x)\b)"
)
_TAIL: Final = re.compile(rf"\s*\(((?:{ROW.pattern}(?:, | and )?)+[^()]*)\)(\.?)")

Expand = Callable[[str], str]


def known(root: Path = ROOT) -> set[str]:
    """Every row there is."""
    found: set[str] = set()
    for path in sorted((root / "spec").glob("*.toml")):
        if path.name not in {"open.toml", "survivors.toml", "unreached.toml"}:
            found |= {name for name in tomllib.loads(path.read_text(encoding="utf-8")) if ROW.fullmatch(name)}
    return found


def expander(rows: set[str]) -> Expand:
    """A function that writes every short form in a text out; a text without one comes back as it is."""

    def whole(match: re.Match[str]) -> str:
        names, last_join = [match[1]], ""
        ranged = short = False
        for join, prefix, number in _PART.findall(match[2]):
            full = f"{prefix.rstrip('-') or names[-1].rpartition('-')[0]}-{number}"
            is_range = _RANGE.fullmatch(join) is not None
            if not is_range and full not in rows:
                return match[0]
            names += between(names[-1], full, rows) if is_range else [full]
            ranged, short, last_join = ranged or is_range, short or not prefix or "/" in join, join
        if not (ranged or short):
            return match[0]
        word = re.search(r"and|or", last_join)
        if word and len(names) > 1:
            return f"{', '.join(names[:-1])} {word[0]} {names[-1]}"
        return ", ".join(names)

    return lambda text: _RUN.sub(whole, text)


def between(first: str, last: str, rows: set[str]) -> list[str]:
    """The rows behind `first` up to `last`, of those that exist."""
    name, _, start = first.rpartition("-")
    other, _, end = last.rpartition("-")
    if other != name:
        return [last]
    return [row for number in range(int(start) + 1, int(end) + 1) if (row := f"{name}-{number:03}") in rows]


def named_in(text: str, rows: set[str]) -> list[str]:
    """Every row that a text names, short forms included, in its order."""
    return list(dict.fromkeys(row for row in ROW.findall(expander(rows)(text)) if row in rows))


def pieces(text: str) -> list[tuple[int, int]]:
    """Where docstrings and blocks of comments stand, as spans of whole lines, from 0."""
    spans: list[tuple[int, int]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(
            node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        ) and ast.get_docstring(node):
            words = node.body[0]
            spans.append((words.lineno - 1, (words.end_lineno or words.lineno) - 1))
    comments = [
        (token.start[0] - 1, token.line.lstrip().startswith("#"), token.start[1])
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    last: tuple[int, int] | None = None
    for line, alone, column in comments:
        if alone and last == (line - 1, column) and spans:
            spans[-1] = (spans[-1][0], line)
        else:
            spans.append((line, line))
        last = (line, column) if alone else None
    return spans


def short_forms(text: str, expand: Expand) -> list[tuple[int, str]]:
    """(line, what stands there) of every short form in docstrings and comments."""
    lines = text.splitlines()
    found: list[tuple[int, str]] = []
    # Most files have none anywhere, which is known without parsing them.
    plain = re.sub(r"^\s*#", "", text, flags=re.MULTILINE)
    if not _BARE.search(plain) and expand(plain) == plain:
        return []
    for first, last in pieces(text):
        words = "\n".join(
            re.sub(r"^\s*#", "", line) if "#" in line else line for line in lines[first : last + 1]
        )
        found += [
            (first + 1 + words[: match.start()].count("\n"), " ".join(match[0].split()))
            for match in [*_RUN.finditer(words), *_BARE.finditer(words)]
            if match.re is _BARE or expand(match[0]) != match[0]
        ]
    return found


def fixed(text: str, expand: Expand) -> str:
    """The text with every short form written out."""
    lines = text.splitlines()
    for first, last in sorted(pieces(text), reverse=True):
        block = lines[first : last + 1]
        if re.match(r"\s*#", block[0]):
            lines[first : last + 1] = _comment(block, expand)
        elif re.match(r"""\s*[rR]?(\"{3}|'{3})""", block[0]):
            lines[first : last + 1] = _docstring(block, expand)
        else:
            lines[first] = expand(block[0])
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def _comment(block: list[str], expand: Expand) -> list[str]:
    indent = block[0][: len(block[0]) - len(block[0].lstrip())]
    plain = [line.strip().removeprefix("#").removeprefix(" ") for line in block]
    done = _wrapped(plain, expand, WIDTH - len(indent) - 2)
    return block if done == plain else [f"{indent}# {line}".rstrip() for line in done]


def _docstring(block: list[str], expand: Expand) -> list[str]:
    indent = block[0][: len(block[0]) - len(block[0].lstrip())]
    opening = re.match(r"""\s*[rR]?(\"{3}|'{3})""", block[0])
    if opening is None:
        return block
    mark, head = opening[1], opening[0].strip()
    whole = "\n".join(block)
    start, end = whole.index(mark) + 3, whole.rindex(mark)
    plain = [line.removeprefix(indent) for line in whole[start:end].split("\n")]
    closes_alone = len(plain) > 1 and not plain[-1].strip()
    if closes_alone:
        plain.pop()
    room = WIDTH - len(indent)
    first = expand(plain[0])
    rest = _wrapped(plain[1:], expand, room)
    if [first, *rest] == plain:
        return block
    ends = 0 if len(rest) or closes_alone else 3
    if len(head) + len(first) + ends > room:
        first, rest = _lower_ids(first, rest, room)
    closes_alone = closes_alone or bool(rest)
    done = [f"{indent}{head}{first}", *(f"{indent}{line}".rstrip() for line in rest)]
    if closes_alone:
        return [*done, f"{indent}{mark}{whole[end + 3 :]}"]
    return [*done[:-1], f"{done[-1]}{mark}{whole[end + 3 :]}"]


def _lower_ids(first: str, rest: list[str], room: int) -> tuple[str, list[str]]:
    """The ids in brackets in a first line that is too long, the longest first, as a sentence of their own below it."""
    ids: list[str] = []
    while len(first) > room - 6 and (groups := list(_TAIL.finditer(first))):
        longest = max(groups, key=lambda one: len(one[0]))
        first = first[: longest.start()] + longest[2] + first[longest.end() :]
        ids += longest[1].replace(" and ", ", ").split(", ")
    if not ids:
        return first, rest
    if first[-1] not in ".:?!":
        first += "."
    below = rest[1:] if rest and not rest[0].strip() else rest
    paragraph: list[str] = []
    while below and below[0].strip() and _is_prose(below[:1]):
        paragraph.append(below[0])
        below = below[1:]
    lines = _fill(" ".join([f"Rows: {', '.join(dict.fromkeys(ids))}.", *paragraph]), room)
    return first, ["", *lines, *below]


def _is_prose(lines: list[str]) -> bool:
    return not any(re.match(r"\s|[-*|>] |```|\d+[.)] |async with ", line) for line in lines)


def _fill(text: str, room: int, hang: str = "") -> list[str]:
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False, subsequent_indent=hang)


def _wrapped(lines: list[str], expand: Expand, room: int) -> list[str]:
    """Paragraphs with short forms written out; those that changed are filled again, the others stay as they are."""
    done: list[str] = []
    at = 0
    while at < len(lines):
        end = at
        while (
            end < len(lines) and lines[end].strip() and (end == at or not re.match(r"\s*[-*] ", lines[end]))
        ):
            end += 1
        if end == at:
            done.append(lines[at])
            at += 1
            continue
        paragraph = lines[at:end]
        joined = "\n".join(paragraph)
        changed = expand(joined)
        item = re.match(r"(\s*)([-*] )?", paragraph[0])
        hang = (item[1] + (" " * len(item[2]) if item[2] else "")) if item else ""
        if changed == joined:
            done += paragraph
        elif _is_prose(paragraph) or (item and all(line.startswith(hang) for line in paragraph[1:])):
            done += _fill((item[1] if item else "") + " ".join(changed.split()), room, hang)
        else:
            done += changed.split("\n")
        at = end
    return done


def sources(root: Path = ROOT) -> list[Path]:
    """Every Python file of the product and its tests."""
    return [
        path
        for folder in [*places.sources(root), *places.folders_of_tests(root)]
        for path in sorted(folder.rglob("*.py"))
    ]


# These hold short forms on purpose: as examples of what is refused.
_EXAMPLES: Final = frozenset({"tests/tools/test_row_ids.py"})


def faults(root: Path = ROOT) -> list[str]:
    """Short forms, and ids in the product that no row bears."""
    rows = known(root)
    expand = expander(rows)
    found: list[str] = []
    for path in sources(root):
        where = path.relative_to(root)
        text = path.read_text(encoding="utf-8")
        if not (ROW.search(text) or _BARE.search(text)) or str(where) in _EXAMPLES:
            continue
        found += [
            f"{where}:{line}: write row ids in full: {words}" for line, words in short_forms(text, expand)
        ]
        if any(path.is_relative_to(folder) for folder in places.sources(root)):
            found += [
                f"{where}: names {row}, but no such row" for row in sorted(set(ROW.findall(text)) - rows)
            ]
    return found


def main() -> int:
    """List, or write out."""
    if "--fix" in sys.argv:
        expand = expander(known())
        for path in sources():
            text = path.read_text(encoding="utf-8")
            if (
                ROW.search(text)
                and str(path.relative_to(ROOT)) not in _EXAMPLES
                and (new := fixed(text, expand)) != text
            ):
                path.write_text(new, encoding="utf-8")
                print(path.relative_to(ROOT))
    found = faults()
    print("\n".join(found) or "every row id is written in full")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
