"""Two ways for a mailed code to leave the relay: SMTP, or the operator's log while trying things out.

A2ACP-019.
"""

from __future__ import annotations

import asyncio
import logging
import smtplib
from email.message import EmailMessage
from typing import Final
from urllib.parse import unquote, urlsplit

from tacit.base.errors import Refused, Unavailable

_log: Final = logging.getLogger("tacit.relay.mail")


class LogMailer:
    """Development mode: the text goes to the log, the address does not."""

    async def send(self, to: str, subject: str, text: str) -> None:
        """Log it."""
        del to
        _log.warning("mail (not sent, development mode): %s: %s", subject, text)


class SmtpMailer:
    """`smtp://user:password@host:port?from=relay@example.org`, or `smtps://`."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise Refused(
                "bad_mail", "--mail is `log`, or smtp(s)://user:password@host:port?from=A"
            ) from None
        self._tls = parts.scheme == "smtps"
        self._host = parts.hostname or "localhost"
        self._port = port or (465 if self._tls else 587)
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._sender = parts.query.removeprefix("from=") or f"relay@{self._host}"

    async def send(self, to: str, subject: str, text: str) -> None:
        """Hand the mail to the server."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self._sender, to, subject
        message.set_content(text)
        try:
            await asyncio.to_thread(self._deliver, message)
        except (OSError, smtplib.SMTPException) as error:
            raise Unavailable(f"the mail server does not answer: {type(error).__name__}") from None

    def _deliver(self, message: EmailMessage) -> None:
        kind = smtplib.SMTP_SSL if self._tls else smtplib.SMTP
        with kind(self._host, self._port, timeout=20) as server:
            if self._user:
                if not self._tls:
                    server.starttls()
                server.login(self._user, self._password)
            server.send_message(message)
