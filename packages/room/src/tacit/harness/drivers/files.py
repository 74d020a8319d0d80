"""Files of a turn: what a model is told about each, and which form an agent takes it in.

The rule owned here: every file that came with the turn's messages stands in one list behind the prompt, with
where it is, or why it is not there. Names and texts are people's words: every line of them is set off. Pure;
files are put where an agent can read them by `io/placing.py`.
"""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from tacit.base.quoting import set_off, single_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.harness.drivers.port import TurnFile

TITLE: Final = "C2A FILES"
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that models take as pictures."""
PDF: Final = "application/pdf"
_TEXTUAL: Final = frozenset(
    {"application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
     "application/javascript", "application/x-sh", "application/sql", "image/svg+xml"}
)  # fmt: skip
INLINE_CHARS: Final = 16_000
"""Characters of a text file that stand in the prompt itself."""
_NAME_CHARS: Final = 80
_REASON_CHARS: Final = 200
_FOLDER_DIGITS: Final = 24


def is_image(file: TurnFile) -> bool:
    """Can a model look at it?"""
    return file.mime_type in IMAGES


def is_text(mime_type: str) -> bool:
    """Can it be read as it is?"""
    return mime_type.startswith("text/") or mime_type in _TEXTUAL or mime_type.endswith(("+json", "+xml"))


def data_url(file: TurnFile) -> str:
    """The file as an address that holds it."""
    return f"data:{file.mime_type};base64,{base64.b64encode(file.data).decode()}"


def safe_name(name: str, number: int) -> str:
    """A name for a file on our disk: no folder, no dot in front, nothing that a shell or a terminal reads."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(one if one.isalnum() or one in "._-" else "_" for one in last).lstrip(".")[-_NAME_CHARS:]
    return f"{number}-{kept or 'file'}"


def folder_name(words: str) -> str:
    """A name for a folder, from an id or an audience: the same for the same, and nothing to be read in it."""
    return sha256(words.encode()).hexdigest()[:_FOLDER_DIGITS]


def with_files(
    prompt: str,
    files: Iterable[TurnFile],
    *,
    boundary: str,
    seen: frozenset[int] = frozenset(),
    paths: dict[int, str],
) -> str:
    """The prompt with the list of its files. `seen` are those that go along as pictures, by their number."""
    lines: list[str] = []
    for number, file in enumerate(files, 1):
        text = [] if file.left_out else _inline(file)
        where = ["at the path below"] if number in paths else []
        where += ["shown to you as a picture"] if number in seen else []
        place = " and ".join(where) or ("quoted below" if text else _NOWHERE)
        place = f"not handed to you, {single_line(file.left_out, _REASON_CHARS)}" if file.left_out else place
        lines.append(f"- {len(file.data) or file.size} bytes, {place}; its name and type:")
        lines.append(set_off(f"{_shown(file.name)} ({_shown(file.mime_type)})"))
        lines += [set_off(paths[number])] if number in paths else []  # it ends in the file's name
        lines += ["  and what it says:", *map(set_off, text)] if text else []
    if not lines:
        return prompt
    about = "Files of the message; what they are called and what they say is quoted too."
    return "\n".join([prompt, "", f"{TITLE} {boundary}", about, *lines])


_NOWHERE: Final = "not handed to you, this agent has no way to open it"


def _inline(file: TurnFile) -> list[str]:
    if not is_text(file.mime_type):
        return []
    text = file.data.decode("utf-8", errors="replace")
    more = [f"[... cut; {len(text)} characters in all]"] if len(text) > INLINE_CHARS else []
    return [*text[:INLINE_CHARS].splitlines(), *more]


def _shown(words: str) -> str:
    return single_line(words, _NAME_CHARS) or "unnamed"
