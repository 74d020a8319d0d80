"""A mail server of somebody's own: an address with its password becomes a way for mail to leave.

The server's certificate is checked. A password never travels unencrypted, and where the caller says so no
mail does either, except to this machine itself. Errors name neither address nor text.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, unquote, urlsplit

from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from email.message import EmailMessage

FORM: Final = "smtp(s)://user:password@host:port?from=ADDRESS"
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_TIMEOUT: Final = 20


class SmtpServer:
    """One server, by `smtp://user:password@host:port?from=somebody@example.org`, or `smtps://`."""

    def __init__(self, url: str, *, encrypted: bool = False) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise _bad() from None
        if parts.scheme not in {"smtp", "smtps"}:
            raise _bad()
        self._tls = parts.scheme == "smtps"
        self.host = parts.hostname or "localhost"
        self._port = port or (465 if self._tls else 587)
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self.sender = (parse_qs(parts.query).get("from") or [""])[0]
        self._upgrades = bool(self._user) or (encrypted and self.host not in _LOOPBACK)

    async def send(self, message: EmailMessage) -> None:
        """Hand a mail to the server, or `Unavailable`."""
        try:
            await asyncio.to_thread(self._deliver, message)
        except (OSError, smtplib.SMTPException, UnicodeError) as error:
            raise Unavailable(f"the mail server does not answer: {type(error).__name__}") from None

    def _deliver(self, message: EmailMessage) -> None:
        with self._connected() as server:
            if not self._tls and self._upgrades:
                server.starttls(context=ssl.create_default_context())
            if self._user:
                server.login(self._user, self._password)
            server.send_message(message)

    def _connected(self) -> smtplib.SMTP:
        if self._tls:
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self._port, timeout=_TIMEOUT, context=context)
        return smtplib.SMTP(self.host, self._port, timeout=_TIMEOUT)


def _bad() -> Refused:
    return Refused("bad_mail", f"a mail server is {FORM}")
