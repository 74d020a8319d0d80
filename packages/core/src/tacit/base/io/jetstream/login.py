"""What a NATS client is told of who it is, and what it means when servers do not let it in.

Some of what goes wrong while connecting passes (a server starts), some does not: a wrong CA, credentials that
nobody knows. The second kind is told at once, with what to do about it.
"""

from __future__ import annotations

import base64
import re
import ssl
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused, TacitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.base.nats_access import NatsAccess, NatsLogin

NO_TLS: Final = "the server offers no TLS"
_NOT_LET_IN: Final = re.compile(r"authoriz|authentic", re.IGNORECASE)
_DENIED: Final = re.compile(r'permissions violation for (publish|subscription) to "([^"]+)"', re.IGNORECASE)
INBOXES: Final = "_INBOX.>"


def options_for(access: NatsAccess, fault: type[Exception]) -> dict[str, Any]:
    """The options of a client; what cannot be read later, when it connects again, is `fault`."""
    given: dict[str, Any] = {}
    if access.ca is not None:
        try:
            given["tls"] = ssl.create_default_context(cafile=str(access.ca))
        except (OSError, ssl.SSLError):
            raise Refused("bad_ca", "the file of --nats-ca holds no certificate (PEM)") from None
    if access.login is None:
        return given
    read = access.login

    def said(what: Callable[[NatsLogin], Any]) -> Any:
        try:
            return what(read())
        except (OSError, TacitError):
            raise fault("the credentials cannot be read") from None

    def signed(nonce: str) -> bytes:
        return said(lambda login: _signature(login, nonce))

    if read().sign is None:
        return given | {
            "user": lambda: said(lambda login: login.user),
            "password": lambda: said(lambda login: login.password),
        }
    return given | {
        "user_jwt_cb": lambda: said(lambda login: login.jwt.encode()),
        "signature_cb": signed,
    }


def _signature(login: NatsLogin, nonce: str) -> bytes:
    if login.sign is None:
        raise Refused("bad_credentials", "the credentials were of another kind before")
    return base64.b64encode(login.sign(nonce.encode()))


def lasting_fault(error: Exception, access: NatsAccess) -> Refused | None:
    """What will not pass by itself, as the operator is told; None for what may."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = str(error.verify_message).rstrip(".")
        return Refused(
            "untrusted_server",
            f"the certificate of a NATS server is not trusted ({why}): give the CA that signed it with "
            "--nats-ca, and the name that it was made for with --nats",
        )
    if isinstance(error, ssl.SSLError):
        return Refused("tls_failed", f"TLS with a NATS server fails ({error.reason or 'no reason given'})")
    if str(error) == NO_TLS:
        return Refused("no_tls", f"{NO_TLS}, and nothing is said to it without: set its tls {{ }}")
    if _NOT_LET_IN.search(str(error)):
        if access.login is None:
            return Refused("not_let_in", "the NATS servers ask for credentials: give --nats-creds FILE")
        return Refused(
            "not_let_in", "the NATS servers do not take these credentials: make new ones, or look at theirs"
        )
    return None


def denied_subject(error: Exception) -> str | None:
    """The subject, in small letters, under which a server does not let this client publish or listen."""
    found = _DENIED.search(str(error))
    if found is None:
        return None
    subject = found[2].lower()
    return INBOXES.lower() if subject.startswith("_inbox.") else subject


def not_permitted(subject: str) -> Refused:
    """What the operator is told."""
    return Refused(
        "not_permitted",
        f"the NATS user of this hub may not use {subject}: docs/nats.md lists what a hub needs",
    )
