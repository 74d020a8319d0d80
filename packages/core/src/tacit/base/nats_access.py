"""How NATS servers are reached: their addresses, whom to trust, and who one is there. Values alone.

What is secret stands in no address: those are seen in lists of processes, and end up in logs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

SCHEMES: Final = frozenset({"nats", "tls"})


@dataclass(frozen=True, slots=True)
class NatsLogin:
    """Who one is: a token of the operator's with a key that signs, or a user with a password."""

    user: str = ""
    password: str = field(default="", repr=False)
    jwt: str = field(default="", repr=False)
    sign: Callable[[bytes], bytes] | None = None


@dataclass(frozen=True, slots=True)
class NatsAccess:
    """The servers, the CA that signed for them, and how to learn who one is, anew for each connection."""

    servers: tuple[str, ...]
    ca: Path | None = None
    login: Callable[[], NatsLogin] | None = None

    @property
    def is_encrypted(self) -> bool:
        """Must every connection be? Said once it holds for all: servers tell of others."""
        return self.ca is not None or any(urlsplit(one).scheme == "tls" for one in self.servers)


def to_servers(urls: Iterable[str]) -> NatsAccess:
    """Access without a login, or `Refused` for what is no address of a server."""
    servers = tuple(urls)
    for one in servers:
        try:
            parts = urlsplit(one)
            named = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
        except ValueError:
            named = False
            parts = urlsplit("")
        if not named or parts.path not in {"", "/"}:
            raise Refused("invalid_request", "a NATS server is nats://HOST:PORT, or tls://HOST:PORT")
        if parts.username is not None or parts.password is not None:
            raise Refused(
                "invalid_request",
                "a password in a server's address is seen by everybody on this machine: "
                "write user:password into a file, and give that with --nats-creds",
            )
    return NatsAccess(servers)
