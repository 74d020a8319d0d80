"""docs/reference/c2a.md, made from the tables of `tacit.attention` and `tacit.c2a`: tools, errors, records.

python tools/c2a_reference.py           write the page
python tools/c2a_reference.py --check   fail when it is stale
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

from tacit.attention.settings import DEFAULTS, NAMES
from tacit.attention.state import records
from tacit.base.moment import Moment
from tacit.c2a.errors import TABLE, ErrorNumber
from tacit.c2a.messages import Author, Delivered, Part, encode
from tacit.c2a.negotiation import CAPABILITIES, TOOLS, VERSIONS
from tacit.c2a.notifications import METHODS, Notification
from tacit.c2a.tools import INPUTS
from tacit.c2a.vocabulary import (
    NEWER,
    OLDER,
    AuthorKind,
    ConversationKind,
    Directedness,
    Mode,
    Policy,
    Priority,
    Reason,
)

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "c2a.md"


def _argument(name: str, schema: dict, required: list[str]) -> str:
    kind = schema.get("type") or ("one of " + ", ".join(map(str, schema["enum"])) if "enum" in schema else "")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    says = schema.get("description", "")
    text = f"`{name}`{'' if name in required else '?'}: {kind}"
    return text + (f" ({says})" if says else "")


def _tools() -> list[str]:
    lines = ["| tool | arguments (`?` may be left out) | repeatable | needs |", "|---|---|---|---|"]
    for tool in TOOLS:
        schema = INPUTS[tool.name]
        arguments = "<br>".join(
            _argument(name, one, schema["required"]) for name, one in schema["properties"].items()
        )
        marks = "reads" if tool.read_only else "yes"
        lines.append(f"| `{tool.name}`<br>{tool.says} | {arguments} | {marks} | `{tool.capability}` |")
    return lines


def _records() -> list[str]:
    lines = ["| kind | says | members |", "|---|---|---|"]
    for kind, model in records.KINDS.items():
        says = (model.__doc__ or "").strip().split("\n")[0]
        names = ", ".join(f"`{name}`" for name in model.__struct_encode_fields__)
        lines.append(f"| `{kind}` | {says} | {names} |")
    return lines


EXAMPLE = Delivered(
    event_id="ev_1",
    conversation="main",
    kind=ConversationKind.CHANNEL,
    author=Author("user", AuthorKind.HUMAN, "Ann"),
    directedness=Directedness.TO_MY_ROLE,
    policy=Policy.MAY_RESPOND,
    mode=Mode.BUFFERED,
    reason=Reason.ROLE_MENTION.value,
    priority=Priority.NORMAL,
    created_at=Moment(1_782_000_000_000_000),
    idempotency_key="ev_1:ada",
    content=(Part(text="who can look at this?"), Part("image", title="graph")),
    sequence=16,
    needs_claim=True,
    reply_target="conversation:main",
    group="g_1",
)


def _deliveries() -> list[str]:
    """One delivery as the encoder writes it, and what the other draft writes otherwise."""
    newer = json.dumps(encode(EXAMPLE, NEWER), indent=2, ensure_ascii=False)
    other = replace(EXAMPLE, kind=ConversationKind.SYSTEM, policy=Policy.ACK_ONLY)
    first, second = encode(other, NEWER), encode(other, OLDER)
    rows = [
        f"| `{path}` | `{json.dumps(_at(first, path))}` | `{json.dumps(_at(second, path))}` |"
        for path in ("content", "conversation.kind", "policy", "attention.policy")
    ]
    return [
        "```json",
        newer,
        "```",
        "",
        f"| a notice of the system | {NEWER} | {OLDER} |",
        "|---|---|---|",
        *rows,
    ]


def _at(value: object, path: str) -> object:
    for name in path.split("."):
        value = value[name]  # type: ignore[index]
    return value


def _notifications() -> list[str]:
    rows = [
        f"| `{METHODS[model]}` | {(model.__doc__ or '').strip().split(chr(10))[0]} |"
        for model in get_args(Notification)
    ]
    return ["| notification | says |", "|---|---|", *rows]


def _codes(row: ErrorNumber) -> str:
    names = ", ".join(f"`{code}`" for code in row.codes)
    return f"{names} with `details.reason` `{row.reason}`" if row.reason else names


def page() -> str:
    """The whole page."""
    capabilities = [f"- `{section}`: {', '.join(names)}" for section, names in CAPABILITIES.items()]
    errors = [f"| {row.number} | {_codes(row)} | {row.when} |" for row in TABLE]
    settings = [f"| `{name}` | {json.dumps(getattr(DEFAULTS, name))} |" for name in sorted(NAMES)]
    return "\n".join(
        [
            "# C2A reference",
            "",
            "<!-- Made by tools/c2a_reference.py from the tables of packages/c2a; do not edit by hand. -->",
            "",
            f"Versions: {', '.join(VERSIONS)}. How to use all this: [c2a.md](../c2a.md).",
            "",
            "## Tools",
            "",
            *_tools(),
            "",
            "## Capabilities",
            "",
            *capabilities,
            "",
            "Beside them `reactionGlyphs` (signal to glyph) and `ownSignals` (`x.<name>` to `glyph`, `meaning`, `disposition`).",
            "",
            "## A delivery",
            "",
            "The `params` of `chat/deliver`. Both drafts have every member; three are written differently.",
            "",
            *_deliveries(),
            "",
            "## Notifications",
            "",
            *_notifications(),
            "",
            "## Errors",
            "",
            "The same at every door that speaks JSON-RPC: `/c2a` and `/v1/ws`. Go by `error.data.code`.",
            "",
            "| JSON-RPC code | `error.data.code` | when |",
            "|---|---|---|",
            *errors,
            "",
            "## Records in the ledger",
            "",
            "Written by the hub alone, folded into what it knows; a record about a private event is as private.",
            "",
            *_records(),
            "",
            "## Settings of a group",
            "",
            "`tacit attention settings GROUP NAME=VALUE`; times are milliseconds.",
            "",
            "| setting | default |",
            "|---|---|",
            *settings,
            "",
        ]
    )


def main() -> int:
    """Write the page, or check it."""
    made = page()
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
            sys.stderr.write(f"{PAGE.relative_to(ROOT)} is stale: run python tools/c2a_reference.py\n")
            return 1
        return 0
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
