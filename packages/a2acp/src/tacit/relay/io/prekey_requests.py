"""Requests for an agent's prekeys: signed by whoever asks, within budgets that last (A2ACP-245, A2ACP-258).

Each one-time prekey that is handed out costs its owner the making of another, so nobody gets one without a
name: an agent of this relay, or of one that this relay talks to. One requester gets a few a day, all
strangers together some an hour, and the last of the stock are the contacts'. Whoever is past its budget gets
the bundle all the same, with the last-resort key. What was handed out is kept for a day, as digests, so that
neither a restart nor a repeated request gives more.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Final, cast

import aiohttp

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.moment import earlier
from tacit.relay.io import registry
from tacit.relay.settings import DAY, HOUR
from tacit.wire import address, codes, records
from tacit.wire.encoding import unb64

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    import apsw

    from tacit.base.callers import Bound
    from tacit.base.moment import Moment
    from tacit.relay.io.federation_http import Federation
    from tacit.relay.io.mailboxes import Mailboxes
    from tacit.relay.io.registry import RegisteredAgent
    from tacit.wire.records import PrekeyRequest

Handed = tuple[bytes | None, bytes | None, bytes | None]
_LONGEST: Final = 200


class PrekeyIssuer:
    """Hands out the prekeys of one relay's agents."""

    def __init__(self, mailboxes: Mailboxes, federation: Federation) -> None:
        self._mailboxes = mailboxes
        self._federation = federation

    async def hand_out(self, agent: RegisteredAgent, asked: PrekeyRequest, bounds: Sequence[Bound]) -> Handed:
        """Signed, one-time (if the budgets allow) and last-resort prekey; `Refused` for who is not known.

        `bounds` are the caller's, for what we look up at other relays.
        """
        mailboxes, now = self._mailboxes, self._mailboxes.clock.now()
        owner = str(address.Address(agent.username, mailboxes.domain))
        await self._verify(asked, owner, now, bounds)
        contact = mailboxes.correspondence.knows(agent.account, asked.requester)
        whom = mailboxes.correspondence.digest(asked.requester)
        once = hashlib.blake2b(asked.sig.encode(), digest_size=16).digest()

        def take(file: apsw.Connection) -> Handed:
            one_time = self._within(file, agent.account, whom, now, contact=contact)
            if one_time and not _mark(file, once, agent.account, whom, now, contact=contact):
                raise Refused(codes.BAD_SIGNATURE, "this request was made before", row="A2ACP-245")
            return registry.pop_prekeys(file, agent.account, one_time=one_time)

        return await mailboxes.store.write(take)

    async def _verify(self, asked: PrekeyRequest, owner: str, now: Moment, bounds: Sequence[Bound]) -> None:
        mailboxes = self._mailboxes
        timely = abs(now - asked.at) <= mailboxes.limits.prekey_request_valid
        if not timely or len(asked.nonce) > _LONGEST or asked.requester in mailboxes.blocked:
            raise _not_known()
        signed = records.prekey_request_signed_bytes(owner, asked.requester, asked.at, asked.nonce)
        async with contextlib.aclosing(self._keys(asked.requester, bounds)) as keys:
            async for key in keys:
                if mailboxes.signatures.verify(key, signed, unb64(asked.sig) or b""):
                    return
        raise _not_known()

    async def _keys(self, requester: str, bounds: Sequence[Bound]) -> AsyncGenerator[bytes]:
        """The keys a request may be signed with: another relay's agent may have new ones since we asked."""
        mailboxes = self._mailboxes
        try:
            who = address.parse(requester)
        except Refused:
            raise _not_known() from None
        if who.domain == mailboxes.domain:
            found = await mailboxes.find_agent(who.username)
            if found is None:
                raise _not_known()
            yield found.signing_key
            return
        if not mailboxes.permits(who.domain):
            raise Refused(codes.FEDERATION_FAILED, "this relay does not talk to that one", row="A2ACP-256")
        try:
            async for key in self._federation.agent_keys(requester, bounds):
                yield key
        except (aiohttp.ClientError, TimeoutError, PeerFault, OSError):
            raise Unavailable("the requester's relay does not answer") from None

    def _within(
        self, file: apsw.Connection, account: int, whom: bytes, now: Moment, *, contact: bool
    ) -> bool:
        """Whether one more one-time prekey may go."""
        limits = self._mailboxes.limits
        file.execute(
            "DELETE FROM handed WHERE account=? AND at<?",
            (account, earlier(self._mailboxes.clock.confirmed(), DAY)),
        )
        own = file.execute("SELECT count(*) FROM handed WHERE account=? AND whom=?", (account, whom)).get
        if int(cast("int", own)) >= limits.prekeys_each_a_day:
            return False
        if contact:
            return True
        hour = "SELECT count(*) FROM handed WHERE account=? AND at>=? AND stranger=1"
        strangers = int(cast("int", file.execute(hour, (account, int(now) - HOUR)).get))
        left = registry.prekeys_left(file, account)
        return strangers < limits.prekeys_to_strangers_an_hour and left > limits.prekeys_for_contacts


def _mark(
    file: apsw.Connection, once: bytes, account: int, whom: bytes, now: Moment, *, contact: bool
) -> bool:
    before = file.total_changes()
    file.execute(
        "INSERT OR IGNORE INTO handed VALUES (?,?,?,?,?)", (once, account, whom, int(not contact), int(now))
    )
    return file.total_changes() > before


def _not_known() -> Refused:
    return Refused(
        codes.BAD_SIGNATURE, "prekeys are handed out to agents that sign for them", row="A2ACP-245"
    )
