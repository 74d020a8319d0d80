"""Registration over HTTP: email code, passkey, enrolment code; no password anywhere.

A2ACP-011, A2ACP-012, A2ACP-014, A2ACP-015, A2ACP-019.

The first step answers alike for free and taken names; who owns a mailbox learns the truth after proving it.
Each one mails a code to somebody: a source begins so many in a day, and one mailbox gets so many.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from aiohttp import web

from tacit.base.callers import bounds_of
from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import rfc3339
from tacit.relay import accounts, registration
from tacit.relay.accounts import PendingRegistration
from tacit.relay.io import registry
from tacit.relay.io.account_http import AccountHttp
from tacit.relay.io.account_sessions import AccountSessions
from tacit.relay.io.budgets import DailyAllowance
from tacit.relay.io.replies import json_body, json_reply, text_field
from tacit.relay.packet_checks import RateLimited
from tacit.relay.rate import PerMinute
from tacit.relay.short_lived import ShortLived
from tacit.wire import frames, records
from tacit.wire.address import Address
from tacit.wire.encoding import b64, canonical, unb64

if TYPE_CHECKING:
    import apsw

    from tacit.base.moment import Moment
    from tacit.relay.io.mailboxes import Mailboxes
    from tacit.relay.ports import Mailer, PasskeyCeremonies
    from tacit.wire.records import Statement

# Far below what an agent accepts of a directory.
_MOST_RECORD: Final = 16 * 1024
_log: Final = logging.getLogger("tacit.relay")


class Accounts:
    """The account endpoints of one relay."""

    def __init__(
        self,
        mailboxes: Mailboxes,
        passkeys: PasskeyCeremonies,
        mailer: Mailer,
        *,
        pepper: bytes,
        secure_cookie: bool,
    ) -> None:
        self._mailboxes = mailboxes
        self._passkeys = passkeys
        self._mailer = mailer
        self._pepper = pepper
        self._pending: ShortLived[PendingRegistration] = ShortLived()
        self._sessions = AccountSessions(mailboxes, secure_cookie=secure_cookie)
        self._logins: ShortLived[PendingRegistration] = ShortLived()
        self._rates = PerMinute(per_minute=20, burst=40)

    def routes(self) -> list[web.RouteDef]:
        """Where each step is."""
        return [
            web.post("/v1/accounts", self.begin),
            web.post("/v1/accounts/confirm", self.confirm),
            web.post("/v1/accounts/passkey", self.add_first_passkey),
            web.post("/v1/accounts/recovery", self.recover),
            web.post("/v1/accounts/recovery/confirm", self.finish_recovery),
            web.delete("/v1/accounts", self.delete),
            web.post("/v1/sessions/options", self.login_options),
            web.post("/v1/sessions", self.login),
            web.post("/v1/passkeys/options", self.another_passkey_options),
            web.post("/v1/passkeys", self.another_passkey),
            web.post("/v1/enrolment-codes", self.enrolment_code),
            web.post("/v1/agents", self.enrol),
            *AccountHttp(self._mailboxes, self._sessions, self._slow_down).routes(),
        ]

    def _slow_down(self, request: web.Request) -> Moment:
        now = self._mailboxes.clock.now()
        wait = self._rates.take_each(self._mailboxes.sources_of(request.remote), now)
        if wait:
            raise Refused("rate_limited", "too many requests", details={"retry_after": wait})
        return now

    def _token(self) -> str:
        return b64(self._mailboxes.entropy.draw(24))

    # A new account.

    async def begin(self, request: web.Request) -> web.Response:
        """Name and email; a code is mailed. The answer is the same whether or not the name is free."""
        now = self._slow_down(request)
        body = await json_body(request)
        username, email = text_field(body, "username").strip().lower(), text_field(body, "email")
        accounts.check_username(username)
        accounts.check_email(email)
        code = accounts.email_code(self._mailboxes.entropy.draw(16))
        expires = _later(now, self._mailboxes.limits.email_code_valid)
        mailbox = accounts.email_hash(self._pepper, email)
        await self._spend(self._registration_allowances(request.remote, mailbox), now)
        pending = PendingRegistration(username, mailbox, accounts.code_hash(code), expires, 0)
        token = self._token()
        self._pending.put(token, pending, self._mailboxes.sources_of(request.remote), now)
        await self._mailer.send(email, "Your relay code", f"Your code is {code}. It is valid for 15 minutes.")
        return json_reply({"registration": token}, 202)

    def _registration_allowances(self, remote: str | None, mailbox: bytes) -> list[DailyAllowance]:
        """How many registrations a source may begin in a day, and how many codes go to one mailbox."""
        limits, bounds = self._mailboxes.limits, bounds_of(remote)
        return [
            *(
                DailyAllowance(f"registrations\n{bound.key}", int(limits.registrations_a_day * bound.share))
                for bound in bounds
            ),
            DailyAllowance(f"codes\n{mailbox.hex()}", limits.codes_to_a_mailbox_a_day),
            # So that it takes more than one to keep somebody from registering.
            DailyAllowance(f"codes\n{mailbox.hex()}\n{bounds[0].key}", limits.codes_to_a_mailbox_a_day // 4),
        ]

    async def _spend(self, allowances: list[DailyAllowance], now: Moment) -> None:
        """Count one more of each, or `RateLimited`; whoever is refused causes no write."""
        budgets, store = self._mailboxes.budgets, self._mailboxes.store
        if wait := budgets.wait(store.reader, allowances, now):
            raise RateLimited(wait)
        await store.write(lambda file: budgets.spend(file, allowances, now))

    async def confirm(self, request: web.Request) -> web.Response:
        """The mailed code; answers with what the browser needs to make a passkey."""
        now = self._slow_down(request)
        body = await json_body(request)
        pending = self._pending.get(text_field(body, "registration"), now)
        pending = accounts.confirm(pending, text_field(body, "code"), self._mailboxes.limits)
        pending.challenge = self._mailboxes.entropy.draw(32)
        user_id = accounts.code_hash(pending.username)[:16]
        return json_reply(
            self._passkeys.creation_options(
                username=str(Address(pending.username, self._mailboxes.domain)),
                user_id=user_id,
                challenge=pending.challenge,
            )
        )

    async def add_first_passkey(self, request: web.Request) -> web.Response:
        """The new passkey; only now does the account exist."""
        now = self._slow_down(request)
        body = await json_body(request)
        token = text_field(body, "registration")
        pending = self._pending.get(token, now)
        if pending is None or not pending.confirmed or not pending.challenge:
            raise Refused("bad_code", "confirm the email code first", row="A2ACP-019")
        challenge, pending.challenge = pending.challenge, b""
        credential = self._passkeys.created(_object(body, "credential"), challenge)
        self._pending.drop(token)

        def create(file: apsw.Connection) -> int:
            account = registry.create_account(
                file, username=pending.username, email_hash=pending.email_hash, now=now
            )
            registry.add_passkey(file, account, credential, now)
            return account

        account = await self._mailboxes.store.write(create)
        return self._sessions.begin(account, pending.username, now, 201, passkey=credential[0])

    # Signing in.

    async def login_options(self, request: web.Request) -> web.Response:
        """A challenge for any passkey of this site; it names nobody."""
        now = self._slow_down(request)
        token, challenge = self._token(), self._mailboxes.entropy.draw(32)
        login = PendingRegistration(
            "", b"", b"", _later(now, self._mailboxes.limits.email_code_valid), 0, challenge=challenge
        )
        self._logins.put(token, login, self._mailboxes.sources_of(request.remote), now)
        return json_reply({"login": token, "options": self._passkeys.request_options(challenge)})

    async def login(self, request: web.Request) -> web.Response:
        """A signed challenge becomes a session."""
        now = self._slow_down(request)
        body = await json_body(request)
        token, credential = text_field(body, "login"), _object(body, "credential")
        login = self._logins.get(token, now)
        self._logins.drop(token)
        credential_id = unb64(text_field(credential, "id")) or b""
        known = registry.passkey(self._mailboxes.store.reader, credential_id)
        if login is None or known is None:
            raise Refused("passkey_refused", "the passkey was not accepted", row="A2ACP-011")
        account, username, stored = known
        count = self._passkeys.asserted(credential, login.challenge, stored)
        await self._mailboxes.store.write(lambda file: registry.count_use(file, credential_id, count, now))
        return self._sessions.begin(account, username, now, passkey=credential_id)

    async def another_passkey_options(self, request: web.Request) -> web.Response:
        """What the browser needs to make a further passkey for the signed-in account."""
        now = self._slow_down(request)
        session = self._sessions.of(request, now)
        token, challenge = self._token(), self._mailboxes.entropy.draw(32)
        expires = _later(now, self._mailboxes.limits.email_code_valid)
        pending = PendingRegistration(session.username, b"", b"", expires, 0, challenge=challenge)
        self._logins.put(token, pending, self._mailboxes.sources_of(request.remote), now)
        options = self._passkeys.creation_options(
            username=str(Address(session.username, self._mailboxes.domain)),
            user_id=accounts.code_hash(session.username)[:16],
            challenge=challenge,
            exclude=[
                one.credential_id for one in registry.passkeys(self._mailboxes.store.reader, session.account)
            ],
        )
        return json_reply({"login": token, "options": options})

    async def another_passkey(self, request: web.Request) -> web.Response:
        """A further passkey, after a recovery or for a second device."""
        now = self._slow_down(request)
        session = self._sessions.of(request, now)
        body = await json_body(request)
        token = text_field(body, "login")
        waiting = self._logins.get(token, now)
        self._logins.drop(token)
        if waiting is None or waiting.username != session.username:
            raise Refused("passkey_refused", "the passkey was not accepted", row="A2ACP-011")
        credential = self._passkeys.created(_object(body, "credential"), waiting.challenge)
        await self._mailboxes.store.write(
            lambda file: registry.add_passkey(file, session.account, credential, now)
        )
        spoken = str(Address(session.username, self._mailboxes.domain))
        await self._mailboxes.tell(spoken, frames.NoticeFrame("passkey_added", rfc3339(now)))
        return json_reply({"address": spoken}, 201)

    # Agents.

    async def enrolment_code(self, request: web.Request) -> web.Response:
        """A one-time code for the signed-in person's headless agent (A2ACP-012)."""
        now = self._slow_down(request)
        session = self._sessions.of(request, now)
        code = accounts.code_text(self._mailboxes.entropy.draw(accounts.CODE_BYTES))
        expires = _later(now, self._mailboxes.limits.enrolment_valid)
        await self._mailboxes.store.write(
            lambda file: registry.add_code(
                file,
                code=code,
                purpose="enrol",
                username=session.username,
                expires=expires,
                may_reset=session.recovered,
            )
        )
        address = str(Address(session.username, self._mailboxes.domain))
        found = {"code": code, "address": address, "expires_at": rfc3339(expires)}
        return json_reply({**found, "may_reset": session.recovered}, 201)

    async def enrol(self, request: web.Request) -> web.Response:
        """An agent's public keys with a code; wrong, used or expired codes register nothing."""
        now = self._slow_down(request)
        body = await json_body(request)
        record = records.read_record(canonical(_object(body, "record")))
        raw = bytes(record.statement)
        statement = records.read_statement(raw)
        code = text_field(body, "code")
        key = self._check_record(statement, record, code, text_field(body, "possession"))
        username = statement.address.removeprefix("agent:").partition("@")[0]
        offered = records.SignedStatement(record.statement, record.sig, record.rotation_sig)
        if len(msgspec.json.encode(offered)) > _MOST_RECORD:
            raise Refused("too_large", f"a key record has at most {_MOST_RECORD} bytes", row="A2ACP-021")

        def register(file: apsw.Connection) -> None:
            taken = registry.take_code(file, code, now, self._mailboxes.clock.confirmed(), "enrol", "invite")
            known = registry.account_of(file, username)
            if taken.username != username or (taken.purpose == "invite" and known is not None):
                raise Refused("bad_code", "wrong, used or expired code", row="A2ACP-012")
            account = known[0] if known else registry.create_account(
                file, username=username, email_hash=None, now=now
            )  # fmt: skip
            before = registry.registered(file, account)
            registration.check_serial(before, statement, may_reset=taken.may_reset)
            verify = self._mailboxes.signatures.verify
            registry.register_agent(
                file,
                account,
                signing_key=key,
                serial=statement.serial,
                record=registration.record_after(before, offered, statement, verify),
                now=now,
            )

        await self._mailboxes.store.write(register)
        self._mailboxes.forget_agent(username)
        return json_reply({"address": statement.address}, 201)

    def _check_record(
        self, statement: Statement, record: records.KeyRecord, code: str, possession: str
    ) -> bytes:
        raw, key = bytes(record.statement), unb64(statement.signing_key) or b""
        signatures = self._mailboxes.signatures
        proof = records.enrolment_signed_bytes(
            relay=self._mailboxes.domain, owner=statement.address, code=code, statement=raw
        )
        sound = (
            statement.address.endswith(f"@{self._mailboxes.domain}")
            and signatures.sound(key)
            and signatures.agrees(unb64(statement.agreement_key) or b"")
            and signatures.verify(key, records.statement_signed_bytes(raw), unb64(record.sig) or b"")
            and signatures.verify(key, proof, unb64(possession) or b"")
        )
        if not sound:
            raise Refused("bad_record", "the key record does not hold", row="A2ACP-014")
        return key

    # Loss and farewell.

    async def recover(self, request: web.Request) -> web.Response:
        """Lost passkey: a mailed code that works after three days, announced to the connected agent."""
        now = self._slow_down(request)
        body = await json_body(request)
        username, email = text_field(body, "username").strip().lower(), text_field(body, "email")
        known = registry.account_of(self._mailboxes.store.reader, username)
        mailbox = accounts.email_hash(self._pepper, email)
        if known is not None and known[1] == mailbox:
            allowance = DailyAllowance(
                f"recovery\n{mailbox.hex()}", self._mailboxes.limits.recovery_mails_a_day
            )
            with contextlib.suppress(RateLimited):
                await self._spend([allowance], now)
                await self._start_recovery(username, email, now)
        # The same answer for everyone.
        return json_reply({"status": "if the name and the email belong together, a mail is on its way"}, 202)

    async def _start_recovery(self, username: str, email: str, now: Moment) -> None:
        code = accounts.code_text(self._mailboxes.entropy.draw(accounts.CODE_BYTES))
        opens = _later(now, self._mailboxes.limits.recovery_delay)
        expires = _later(opens, self._mailboxes.limits.invite_valid)

        def start(file: apsw.Connection) -> int | None:
            # A recovery that runs is not begun anew: whoever asks again would put it off for ever.
            pending = registry.pending_code(file, purpose="recovery", username=username, now=now)
            if pending is None:
                registry.add_code(
                    file, code=code, purpose="recovery", username=username, expires=expires, not_before=opens
                )
            return pending

        pending = await self._mailboxes.store.write(start)
        if pending is not None:
            opened = rfc3339(cast("Moment", pending))
            await self._mailer.send(
                email, "Relay account recovery", f"The code mailed to you before works from {opened}."
            )
            return
        text = f"From {rfc3339(opens)} this code works: {code}"
        try:
            await self._mailer.send(email, "Relay account recovery", text)
        except Unavailable:
            # Nobody has this code: it must not stand in the way of the next one.
            await self._mailboxes.store.write(lambda file: registry.drop_code(file, code))
            raise
        notice = frames.NoticeFrame("recovery_started", rfc3339(opens))
        await self._mailboxes.tell(str(Address(username, self._mailboxes.domain)), notice)

    async def finish_recovery(self, request: web.Request) -> web.Response:
        """The recovery code, after the delay, becomes a session in which a new passkey is made."""
        now = self._slow_down(request)
        code = text_field(await json_body(request), "code")
        taken = await self._mailboxes.store.write(
            lambda file: registry.take_code(file, code, now, self._mailboxes.clock.confirmed(), "recovery")
        )
        known = registry.account_of(self._mailboxes.store.reader, taken.username)
        if known is None:
            raise Refused("bad_code", "wrong, used or expired code", row="A2ACP-019")
        return self._sessions.begin(known[0], taken.username, now, recovered=True)

    async def delete(self, request: web.Request) -> web.Response:
        """Keys and queue go; the name is never given again."""
        now = self._slow_down(request)
        session = self._sessions.of(request, now)
        spoken = str(Address(session.username, self._mailboxes.domain))
        await self._mailboxes.store.write(lambda file: registry.delete_account(file, session.account, spoken))
        self._mailboxes.quota.forget(session.account)
        self._mailboxes.correspondence.forget(session.account)
        self._mailboxes.forget_agent(session.username)
        self._sessions.end_all(session.account)
        connection = self._mailboxes.connected.get(session.account)
        if connection is not None:
            connection.close(4003)
        return json_reply({"deleted": spoken})


def _later(now: Moment, by: int) -> Moment:
    return cast("Moment", now + by)


def _object(body: dict[str, Any], name: str) -> dict[str, Any]:
    value: object = body.get(name)
    if not isinstance(value, dict):
        raise Refused("bad_request", f"{name} is missing")
    return cast("dict[str, Any]", value)
