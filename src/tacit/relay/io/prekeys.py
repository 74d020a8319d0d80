"""An agent's fresh prekeys: charged by their number, checked, then stored (A2ACP-245, A2ACP-257).

Each costs a signature check, so an agent has a rate of them, apart from that of its packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused, TacitError
from tacit.relay.io import registry
from tacit.wire import codes, frames, records
from tacit.wire.encoding import canonical, unb64

if TYPE_CHECKING:
    import apsw

    from tacit.base.moment import Moment
    from tacit.relay.io.connection import Connection
    from tacit.relay.io.office import PostOffice

_KINDS: Final = {
    registry.ONE_TIME: "one_time",
    registry.LAST_RESORT: "last_resort",
    registry.SIGNED: "signed",
}


async def keep(office: PostOffice, connection: Connection, frame: frames.Prekeys, now: Moment) -> None:
    """Store what an agent uploads and say how many are left, or why it was refused."""
    try:
        wait = office.gate.prekeys(connection.address, 2 + len(frame.one_time), now)
        if wait:
            office.refuse(connection, codes.RATE_LIMITED, wait=wait)
            return
        left = await _store(office, connection, frame)
    except Refused as refused:
        office.refuse(connection, refused.code)
    except TacitError:
        office.refuse(connection, codes.UNAVAILABLE, wait=5)
    else:
        connection.say(frames.PrekeysOk(left))


async def _store(office: PostOffice, connection: Connection, frame: frames.Prekeys) -> int:
    most = office.limits.one_time_prekeys
    kinds = {
        registry.SIGNED: [frame.signed] if frame.signed else [],
        registry.LAST_RESORT: [frame.last_resort] if frame.last_resort else [],
        registry.ONE_TIME: frame.one_time[:most],
    }
    checked = {
        kind: [_checked(office, connection, kind, fields) for fields in given]
        for kind, given in kinds.items()
        if given
    }
    account = connection.account

    def store(file: apsw.Connection) -> int:
        if frame.reset:
            registry.drop_prekeys(file, account)
        for kind, prekeys in checked.items():
            registry.store_prekeys(file, account, kind, prekeys, most)
        return registry.prekeys_left(file, account)

    return await office.store.write(store)


def _checked(
    office: PostOffice, connection: Connection, kind: int, fields: dict[str, object]
) -> tuple[int, bytes]:
    prekey = records.prekey_of(fields)
    signed = records.prekey_signed_bytes(connection.address, _KINDS[kind], prekey.id, prekey.key)
    if not office.signatures.verify(connection.key, signed, unb64(prekey.sig) or b""):
        raise Refused(codes.BAD_SIGNATURE, "a prekey is not signed by its agent", row="A2ACP-245")
    return prekey.id, canonical({"id": prekey.id, "key": prekey.key, "sig": prekey.sig})
