"""What `tacit agent` does for a skill of another assistant, such as OpenClaw's.

A2ACP-266, A2ACP-267, A2ACP-268, A2ACP-269, A2ACP-270, A2ACP-271.

A skill runs these commands for a model, with `TACIT_SKILL` set. Then a wish is a program's, not the owner's
word; an answer needs the id of the person's message that it came from, which the receipt keeps; and commands
that change what may be shared, or with which keys, are refused. The variable is a promise of the skill's, not
a wall: whoever can run any command on this account can run these without it, as they could read the folder.
"""

from __future__ import annotations

import os
import re
from typing import Final

from tacit.base.errors import Refused

SKILL: Final = "TACIT_SKILL"
ALLOWED: Final = frozenset(
    {"answer", "ask", "change", "disclosures", "facts", "fork", "keys", "notices", "pending", "register"}
    | {"resume", "stop", "thread", "threads", "tick", "why"}
)
"""What a skill may run."""
_MESSAGE_ID: Final = re.compile(r"[!-~]{1,180}")


def by_skill() -> bool:
    """Is this command run by a skill?"""
    return bool(os.environ.get(SKILL))


def check(command: str | None) -> None:
    """Refuse what no skill may do; its owner does it in the terminal."""
    if by_skill() and command not in ALLOWED:
        what = f"`tacit agent {command}`" if command else "`tacit agent` alone"
        raise Refused("not_for_a_skill", f"{what} is for its owner, in the terminal", row="A2ACP-266")


def via(message_id: str | None) -> str:
    """Where an answer was given; a skill's needs the message of the person who gave it (A2ACP-269)."""
    if message_id is None:
        if by_skill():
            raise Refused(
                "message_id_needed", "a skill passes on an answer with --message-id of the person's message",
                row="A2ACP-266",
            )  # fmt: skip
        return "terminal"
    if not _MESSAGE_ID.fullmatch(message_id):
        raise Refused("bad_message_id", "a message's id is one word of up to 180 signs", row="A2ACP-269")
    return f"message:{message_id}"
