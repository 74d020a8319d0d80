"""An agent's fresh prekeys: charged by their number, checked, then stored (A2ACP-245, A2ACP-257).

Each costs a signature check, so an agent has a rate of them, apart from that of its packets. All that are
held for an agent are of one epoch: a later one replaces them whole, of an earlier one nothing is taken. Knows
nothing of mailboxes; what the agent is told is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.wire import codes, records
from tacit.wire.encoding import canonical, unb64

if TYPE_CHECKING:
    import apsw

    from tacit.base.moment import Moment
    from tacit.relay.io.connection import MailboxConnection
    from tacit.relay.io.store import RelayStore
    from tacit.relay.packet_checks import PacketChecks
    from tacit.relay.ports import Signatures
    from tacit.wire import frames

_KINDS: Final = {
    registry.ONE_TIME: "one_time",
    registry.LAST_RESORT: "last_resort",
    registry.SIGNED: "signed",
}


# For clocks that are ahead of ours.
_AHEAD: Final = 2 * 24 * 3600 * SECOND


class PrekeyUploads:
    """Takes prekeys into one relay's file, at most `most` one-time keys of an agent."""

    def __init__(self, checks: PacketChecks, signatures: Signatures, store: RelayStore, *, most: int) -> None:
        self._checks = checks
        self._signatures = signatures
        self._store = store
        self._most = most

    async def keep(self, connection: MailboxConnection, frame: frames.PrekeysFrame, now: Moment) -> int:
        """Store what an agent uploads; how many one-time prekeys it has then. `Refused` stores nothing."""
        self._checks.prekeys(connection.address, 2 + len(frame.one_time), now)
        most, account = self._most, connection.account
        kinds = {
            registry.SIGNED: [frame.signed] if frame.signed else [],
            registry.LAST_RESORT: [frame.last_resort] if frame.last_resort else [],
            registry.ONE_TIME: frame.one_time[:most],
        }
        checked = {
            kind: [self._checked(connection, kind, fields, frame.epoch) for fields in given]
            for kind, given in kinds.items()
            if given
        }

        def store(file: apsw.Connection) -> int:
            held = registry.prekey_epoch(file, account)
            if frame.epoch != held:
                _check_begins(frame, held, now)
            if frame.reset or frame.epoch != held:
                registry.drop_prekeys(file, account)
            for kind, prekeys in checked.items():
                registry.store_prekeys(file, account, kind, prekeys, most, frame.epoch)
            return registry.prekeys_left(file, account)

        return await self._store.write(store)

    def _checked(
        self, connection: MailboxConnection, kind: int, fields: dict[str, object], epoch: int
    ) -> tuple[int, bytes]:
        prekey = records.prekey_of(fields)
        if prekey.epoch != epoch:
            raise Refused(codes.OTHER_DEVICE, "a prekey of another epoch than its upload", row="A2ACP-245")
        signed = records.prekey_signed_bytes(connection.address, _KINDS[kind], prekey.id, prekey.key, epoch)
        if not self._signatures.verify(connection.key, signed, unb64(prekey.sig) or b""):
            raise Refused(codes.BAD_SIGNATURE, "a prekey is not signed by its agent", row="A2ACP-245")
        body: dict[str, object] = {"id": prekey.id, "key": prekey.key, "sig": prekey.sig}
        return prekey.id, canonical({**body, "epoch": epoch} if epoch else body)


def _check_begins(frame: frames.PrekeysFrame, held: int, now: Moment) -> None:
    """Whether an upload may begin an epoch: all of a later one, with a number that others can follow."""
    whole = frame.signed is not None and frame.last_resort is not None
    if frame.epoch < held or not whole:
        raise Refused(codes.OTHER_DEVICE, "another device speaks for this address now", row="A2ACP-245")
    if frame.epoch > max(held + 1, int(now) + _AHEAD):
        raise Refused(codes.BAD_ENVELOPE, "an epoch that lies in the future", row="A2ACP-245")
