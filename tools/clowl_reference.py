"""Writes docs/reference/clowl.md from the tables that the validator, the prompt and the lifecycle use.

python tools/clowl_reference.py           write it
python tools/clowl_reference.py --check   exit 1 if it is stale
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import TYPE_CHECKING

from tacit.language import tables
from tacit.language.prompt import prompt
from tacit.language.schema import schema
from tacit.language.task import TRANSITIONS, TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TARGET = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reference" / "clowl.md"
_TYPES = {
    "clowl": ("the string `0.2`", "Version of the language."),
    "mid": ("name", "Id of the message; a UUIDv7 when we build it."),
    "ts": (f"integer, 0 to {tables.MAX_TS}", "Seconds since 1970, when the message was written."),
    "p": ("one of the ten performatives", "What the message does."),
    "from": ("name, not `*`", "The agent that wrote it."),
    "to": ("name, `*`, or an array of names", "Whom it addresses."),
    "cid": ("name", "The conversation; replies keep it."),
    "body": ("object with `t` (name) and `d` (object)", "The task and its data."),
    "tid": ("name", "The trace; kept by every reply, delegation and retry."),
    "pid": ("name or null", "The `mid` of the message it answers or follows."),
    "ctx": ("object with `ref`, `inline`, `hash`", "Shared context."),
    "auth": ("string", "A token for the receiver's verifier; never shown."),
    "det": ("boolean", "The sender's claim that its data is reproducible."),
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def members() -> list[str]:
    """The members of a message."""
    rows = [
        (f"`{name}`", "yes" if name in tables.REQUIRED else "no", *_TYPES[name])
        for name in (*tables.REQUIRED, *tables.OPTIONAL)
    ]
    limits = (
        f"A name has 1 to {tables.MAX_NAME} characters, none of them a control character. `ctx.inline` has "
        f"at most {tables.MAX_INLINE} characters, `ctx.hash` 64 hex digits. A message has at most "
        f"{tables.MAX_BYTES:,} bytes and {tables.MAX_DEPTH} levels."
    )
    return [
        "## Members",
        "",
        limits,
        "",
        *table(("member", "required", "type", "meaning"), rows),
    ]


def performatives() -> list[str]:
    """The ten performatives."""
    rows = [
        (f"`{code}`", row.name, row.direction, row.meaning, row.intent, ", ".join(row.replies))
        for code, row in tables.PERFORMATIVES.items()
    ]
    opening = ", ".join(code for code, row in tables.PERFORMATIVES.items() if row.opens)
    rules = (
        f"A conversation opens with {opening}. In strict mode "
        f"{', '.join(sorted(tables.REPLIES_THAT_NEED_A_PARENT))} must name their parent, except ERR "
        f"{' and '.join(tables.PARENTLESS_ERRORS)}."
    )
    return [
        "## Performatives",
        "",
        *table(("code", "name", "direction", "meaning", "intent", "may be answered by"), rows),
        rules,
        "",
    ]


def errors() -> list[str]:
    """The sixteen codes."""
    rows = [
        (f"`{code}`", row.category, row.meaning, "yes" if row.retryable else "no")
        for code, row in tables.ERROR_CODES.items()
    ]
    return ["## Error codes", "", *table(("code", "category", "meaning", "retryable"), rows)]


def delegation() -> list[str]:
    """The three modes."""
    rows = [(f"`{mode}`", meaning) for mode, meaning in tables.DELEGATION_MODES.items()]
    members = (
        "DLGT carries `body.d.delegation_mode`, and may carry `reply_to` and `chain` (at most "
        f"{tables.MAX_CHAIN} agents)."
    )
    return [
        "## Delegation",
        "",
        members,
        "",
        *table(("mode", "meaning"), rows),
    ]


def lifecycle() -> list[str]:
    """The state machine, as a table and as a diagram."""
    rows = [(start, trigger, end) for (start, trigger), end in TRANSITIONS.items()]
    diagram = [f"    {start} --> {end}: {trigger}" for start, trigger, end in rows if start != end]
    ends = [f"    {state} --> [*]" for state in TaskState if not any(start is state for start, _, _ in rows)]
    return [
        "## Life of a task",
        "",
        "One task for each REQ or DLGT and recipient. What is not in the table is flagged, no more.",
        "",
        *table(("state", "what happens", "next"), rows),
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> requested: REQ or DLGT",
        *diagram,
        *ends,
        "```",
        "",
    ]


def prompts() -> list[str]:
    """Both prompts."""
    lines = ["## System prompts", ""]
    for form in ("semantic", "full"):
        lines += [f"`tacit clowl prompt --form {form}`:", "", "```text", prompt(form), "```", ""]
    return lines


def page() -> str:
    """The whole reference."""
    parts = [
        "# CLowl 0.2 reference",
        "",
        "Written by `tools/clowl_reference.py` from the tables in `tacit.language`; do not edit.",
        f"JSON Schemas (`tacit clowl schema`): `{schema()['$id']}`, `{schema(strict=False)['$id']}`.",
        "",
        *members(),
        *performatives(),
        *errors(),
        *delegation(),
        *lifecycle(),
        *prompts(),
    ]
    return "\n".join(parts).rstrip() + "\n"


def main() -> None:
    """Write the page, or check it."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--check", action="store_true")
    if options.parse_args().check:
        sys.exit(TARGET.read_text(encoding="utf-8") != page())
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
