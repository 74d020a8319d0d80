"""What a node does about the news of another (A2ACP-001, A2ACP-002, A2ACP-018, A2ACP-218, A2ACP-258).

Whoever is connected here gets what was stored there, at once; the room of a mailbox, who is a contact, keys
and scores are counted here as they are there. An agent that has connected there is no longer connected here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.base.moment import rfc3339
from tacit.relay.io import guest_store, registry
from tacit.relay.io.store import Queued
from tacit.wire import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.relay.followed import BatchNews, RemovedElsewhere, StoredElsewhere
    from tacit.relay.io.mailboxes import Mailboxes

_FEW_PREKEYS = 20


class Following:
    """Acts on what other nodes write; `wake` hears for which relays something waits."""

    def __init__(self, mailboxes: Mailboxes, wake: Callable[[str], None]) -> None:
        self._mailboxes = mailboxes
        self._wake = wake

    def follow(self, followed: BatchNews) -> None:
        """Act on the news of one batch."""
        mailboxes = self._mailboxes
        if followed.operator:
            mailboxes.reload_if_changed()
        for account in followed.claimed:
            mailboxes.supersede(account)
        for account in followed.agents:
            self._account_changed(account)
        for account, whom in followed.written:
            mailboxes.correspondence.met_elsewhere(account, whom, mailboxes.quota.senders(account))
        self._count(followed.removed, followed.stored)
        self._say(followed)
        for domain in followed.domains:
            self._wake(domain)
        for sender, score in followed.scores.items():
            mailboxes.reputation.kept(sender, score)

    def _account_changed(self, account: int) -> None:
        mailboxes = self._mailboxes
        found = registry.username(mailboxes.store.reader, account)
        if found is None:
            return
        username, active = found
        if not active:
            mailboxes.correspondence.forget(account)
        mailboxes.forget_agent(username)

    def _count(self, removed: Iterable[RemovedElsewhere], stored: Iterable[StoredElsewhere]) -> None:
        mailboxes = self._mailboxes
        for one in removed:
            mailboxes.quota.release(one.recipient, one.tag, one.sender, one.size)
            connection = mailboxes.connected.get(one.recipient)
            if connection is not None:
                connection.inflight.pop(one.position, None)
                connection.wake()
        for one in stored:
            row = (one.recipient, one.tag, one.sender, 1, one.size)
            mailboxes.quota.load([row], mailboxes.correspondence.knows)
            mailboxes.deliver(
                one.recipient, Queued(one.position, one.sender, one.tag, one.size, one.envelope, one.sig)
            )

    def _say(self, followed: BatchNews) -> None:
        mailboxes, reader = self._mailboxes, self._mailboxes.store.reader
        for account, number, frame in followed.notices:
            connection = mailboxes.connected.get(account)
            if connection is not None:
                connection.say_notice(number, frame)
        for account in followed.prekeys & mailboxes.connected.keys():
            if registry.prekeys_left(reader, account) < _FEW_PREKEYS:
                mailboxes.prekeys_low(account)
        for guest in followed.answered:
            account = guest_store.account_of(reader, guest)
            connection = mailboxes.connected.get(account) if account is not None else None
            if connection is not None:
                connection.say(frames.NoticeFrame(frames.GUEST_ANSWERED, rfc3339(mailboxes.clock.now())))
