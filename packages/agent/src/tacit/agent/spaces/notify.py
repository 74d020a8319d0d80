"""Which changes of a space an owner is told of: those that matter to that owner (A2ACP-205).

By the setting of the space: `all`, `none`, or `mentions_me`, which is items assigned to the owner or written
by it, decisions and the status. Whatever is not told stands in the change list. Reads values by their shape
alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.agent.spaces.state import ALL, MENTIONS_ME
from tacit.wire import address

if TYPE_CHECKING:
    from tacit.base.strict_json import Json

_FOR_ALL: Final = frozenset({"decisions", "decision", "status"})
_ASSIGNED: Final = ("assigned_to", "assignee", "owner", "for", "by")


def is_meaningful(notify: str, me: str, path: str, value: Any, before_by: str, before: Any = None) -> bool:
    """Whether the owner is told of a change of this field; `before_by` is whose word it replaces."""
    if notify != MENTIONS_ME:
        return notify == ALL
    names = path.casefold().split("/")
    if names[0] in _FOR_ALL or names[-1] == "status":
        return True
    return before_by == me or _names(value, me) or _names(before, me)


def _names(value: Json, me: str) -> bool:
    if not isinstance(value, dict):
        return False
    mine = {me, me.removeprefix("agent:"), address.parse(me).username}
    named = (value.get(name) for name in _ASSIGNED)
    return any(isinstance(name, str) and name.casefold() in mine for name in named)
