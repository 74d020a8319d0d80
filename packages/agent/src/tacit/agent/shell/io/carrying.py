"""An agent's journal, vault and own calendar in its backup, and out of it again (A2ACP-224, A2ACP-225).

The first two are of one moment, since they lie in one file; and read while the post's file is locked for
writing, so that what the post calls handled is in the journal. A restored journal says the same records at
the same moments, as events of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.agent.features import FOLD
from tacit.agent.kernel.io import vault
from tacit.agent.kernel.io.journal import GROUP, Decide, Journal
from tacit.agent.kernel.io.paths import journal_file
from tacit.agent.scheduling.io.outside import OWN_CALENDAR
from tacit.base.errors import Refused
from tacit.base.io.private_file import write_private
from tacit.base.io.sqlite import connect
from tacit.ledger.envelope import decode
from tacit.ledger.io import upkeep
from tacit.ledger.io.schema import SCHEMA
from tacit.ledger.principal import SYSTEM
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.a2acp.post.io.post import Post
    from tacit.base.ports import Clock, Entropy

JOURNAL: Final = "journal"
VAULT: Final = "vault"
TOGETHER: Final = 200


def saved(folder: Path) -> dict[str, Any]:
    """The journal's events, the vault's values and the agent's own calendar, as parts of a backup."""
    if not journal_file(folder).exists():
        return {}
    connection = connect(journal_file(folder), readonly=True)
    own = folder / OWN_CALENDAR
    entered = {OWN_CALENDAR: own.read_bytes()} if own.exists() else {}
    try:
        SCHEMA.require_known(connection, journal_file(folder))
        connection.execute("BEGIN")
        events = list(upkeep.events_on(connection, GROUP))
        return {JOURNAL: events, VAULT: vault.rows_of(connection), **entered}
    finally:
        connection.close()


def backup(post: Post, passphrase: str, **cost: int) -> bytes:
    """A backup of all of an agent: its post, its journal and its vault."""
    return post.backup(passphrase, beside=lambda: saved(post.store.folder), **cost)


def restore_journal(folder: Path, content: dict[str, Any], *, clock: Clock, entropy: Entropy) -> int:
    """Write the journal of an opened backup into a folder that has none; how many records."""
    kept: list[bytes] = content.get(JOURNAL, [])
    if not kept:
        return 0
    if journal_file(folder).exists():
        raise Refused("other_identity", "this folder already has a journal; choose an empty --data")
    if OWN_CALENDAR in content:
        write_private(folder / OWN_CALENDAR, content[OWN_CALENDAR])
    journal = Journal(folder, FOLD, clock=clock, entropy=entropy)
    try:
        found = [one for one in map(decode, kept) if FOLD.decoded(one.kind, one.data) is not None]
        values: tuple[vault.Kept, ...] = tuple(tuple(one) for one in content.get(VAULT, ()))
        for first in range(0, len(found), TOGETHER):
            said = tuple(
                Submission(GROUP, SYSTEM, one.kind, one.data, msgspec.json.encode(one.data))
                for one in found[first : first + TOGETHER]
            )
            journal.store.decide(Decide(GROUP, said, values if first == 0 else ()))
    finally:
        journal.close()
    return len(found)
