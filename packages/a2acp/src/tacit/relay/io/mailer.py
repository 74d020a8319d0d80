"""Two ways for a mailed code to leave the relay: SMTP, or the operator's log while trying things out.

A2ACP-019.
"""

from __future__ import annotations

import logging
from email.message import EmailMessage
from typing import Final

from tacit.base.io.smtp import SmtpServer

_log: Final = logging.getLogger("tacit.relay.mail")


class LogMailer:
    """Development mode: the text goes to the log, the address does not."""

    async def send(self, to: str, subject: str, text: str) -> None:
        """Log it."""
        del to
        _log.warning("mail (not sent, development mode): %s: %s", subject, text)


class SmtpMailer:
    """By the operator's mail server."""

    def __init__(self, url: str) -> None:
        self._server = SmtpServer(url)
        self._sender = self._server.sender or f"relay@{self._server.host}"

    async def send(self, to: str, subject: str, text: str) -> None:
        """Hand the mail to the server."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self._sender, to, subject
        message.set_content(text)
        await self._server.send(message)
