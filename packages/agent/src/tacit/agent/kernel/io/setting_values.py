"""The values of an owner's settings, read from the vault by the ids that the journal names (A2ACP-007).

A value that is gone is never taken for a setting that was not made: without calendars all time would be free,
and without permissions the defaults would hold. While a decision replaces a setting the file has the next
value already, under another id, and the state does not: until then the former value is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.base.errors import Corrupt
from tacit.base.strict_json import parse

if TYPE_CHECKING:
    from tacit.agent.kernel.io.journal import Journal
    from tacit.agent.kernel.io.vault import Vault


class SettingValues:
    """The settings of one agent, by name."""

    def __init__(self, journal: Journal, vault: Vault) -> None:
        self._journal = journal
        self._vault = vault
        self._last: dict[str, tuple[str, bytes]] = {}
        """As last read: each with the id of its value."""

    def __call__(self, name: str) -> Any:
        """A setting's value; None when the owner never made it."""
        value_id = self._journal.book.settings.get(name)
        if not value_id:
            return None
        if self._last.get(name, ("", b""))[0] != value_id:
            value = self._vault.raw(value_id)
            if value is None:
                raise missing()
            self._last[name] = (value_id, value)
        return parse(self._last[name][1])


def missing() -> Corrupt:
    """The fault of a setting whose value is gone."""
    return Corrupt("a setting of this agent is missing from its folder", hint="restore a backup of the agent")
