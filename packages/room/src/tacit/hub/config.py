"""What an operator may set, and which combinations are refused (bind, TLS, local trust)."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from tacit.base.callers import SocketLimits, check_networks
from tacit.base.errors import Refused
from tacit.hub.bounds.quotas import QuotaLimits
from tacit.ledger.admission import AdmissionSettings

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base.stream_plan import StreamPlan


_STREAM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ORIGIN: Final = re.compile(r"https?://[^/?#@\s]+")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one caller can ask for."""

    body_bytes: int = 1024 * 1024
    """Bytes of one request."""
    blob_bytes: int = 64 * 1024 * 1024
    """Bytes of one file."""
    body_seconds: float = 30.0
    """To send a body; a large one gets more as it comes."""
    read_seconds: float = 20.0
    """For one read, the waiting for its turn included."""
    reads_waiting: int = 1024
    """How many reads of one credential may wait for their turn."""
    in_flight: int = 1024
    """Requests of one connection that are worked on at once."""
    requests_per_second: float = 20_000.0
    """Requests of one credential in a second, at all nodes together."""
    burst: float = 40_000.0
    """Requests of one credential at once."""
    failed_sign_ins_per_second: float = 5.0
    """Failed sign-ins of one source in a second."""
    sign_in_seconds: float = 10.0
    """For a WebSocket: from its coming to a valid token."""
    follower_bytes: int = 1024 * 1024
    """What may wait to be read on one connection; more, and it is cut and told where to resume."""
    page_bytes: int = 256 * 1024
    """How much of a ledger is read at once for whoever follows it; the next when that is on the wire."""
    heartbeat_seconds: float = 30.0
    """Between two signs of life."""
    subscriptions: int = 256
    """To one group, on one connection."""
    sockets: SocketLimits = SocketLimits()
    quotas: QuotaLimits = QuotaLimits()


Writer: TypeAlias = Literal["thread", "process"]


def default_readers() -> int:
    """How many processes read when nobody says: two where there is a second core, else none."""
    return 2 if len(os.sched_getaffinity(0)) > 1 else 0


def default_writer() -> Writer:
    """Where the writer stands when nobody says: on a core of its own if there is one, else in a thread."""
    return "process" if len(os.sched_getaffinity(0)) > 1 else "thread"


@dataclass(frozen=True, slots=True)
class AgentBeside:
    """The owner's personal agent, which the hub runs: its folder, and what its program is told."""

    folder: Path
    passphrase_file: Path | None = None
    trust: Path | None = None


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """Backups that a hub takes by itself."""

    folder: Path
    every_seconds: int = 24 * 3600
    keep: int = 7
    passphrase: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class HubConfig:
    """One hub."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 7433
    socket: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    insecure_public: bool = False
    local_trust: bool = False
    allow_origins: tuple[str, ...] = ()
    allow_services: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)
    settings: AdmissionSettings = field(default_factory=AdmissionSettings)
    writer: Writer = "thread"
    """Where the writer stands: behind a thread of the hub, or in a process of its own."""
    readers: int = 0
    """How many processes read for callers; 0: threads of the hub do."""
    crew: bool = False
    """Does the hub run agents for its owner? Whoever has the owner's token can then start programs here."""
    agent_folders: tuple[Path, ...] = ()
    """Where agents of this machine that are not of the crew have their state."""
    agent: AgentBeside | None = None
    """The owner's personal agent, run beside the hub and shown to the owner's token alone."""
    public_url: str = ""
    """Where people find the hub when something in front of it has another name."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose word about a caller is taken."""
    least_free_bytes: int = 64 * 1024 * 1024
    """With less room on the disk than this the hub says that it is not ready."""
    backups: BackupPlan | None = None
    """Backups that the hub takes by itself."""
    stream: StreamPlan | None = None
    """Where the ledger is, if not in the data folder: that one is then a cache."""

    @property
    def is_loopback(self) -> bool:
        """Does the hub listen to this machine alone?"""
        return is_loopback(self.host)

    def check(self) -> None:
        """Refuse a set-up that would be unsafe without anybody having said so."""
        if (self.tls_cert is None) != (self.tls_key is None):
            raise Refused("invalid_request", "--tls-cert and --tls-key stand together")
        if not self.is_loopback and self.tls_cert is None and not self.insecure_public:
            raise Refused(
                "invalid_request",
                f"{self.host} can be reached by others: give --tls-cert and --tls-key, or say "
                "--insecure-public if something in front of the hub encrypts",
            )
        self._check_stream()
        if self.public_url and not _ORIGIN.fullmatch(self.public_url):
            raise Refused("invalid_request", "--public-url is https://NAME, without a path")
        if self.local_trust and (self.public_url or self.trusted_proxies):
            raise Refused("invalid_request", "--local-trust is for this machine alone, not behind a proxy")
        check_networks(self.trusted_proxies, "--trust-proxy")
        if self.local_trust and self.crew:
            raise Refused(
                "invalid_request",
                "--local-trust takes callers at their word: such a hub runs no crew, or anybody could start "
                "programs with it",
            )
        if self.local_trust and not self.is_loopback:
            raise Refused(
                "invalid_request", "--local-trust takes callers at their word and is for loopback only"
            )

    def _check_stream(self) -> None:
        if self.stream is None:
            return
        if not _STREAM.fullmatch(self.stream.stream):
            raise Refused("invalid_request", "a stream's name has letters, digits, - and _ alone")
        if self.backups is not None:
            raise Refused(
                "invalid_request", "with --nats the folder is a cache: back up the stream (docs/nats.md)"
            )


def is_loopback(host: str) -> bool:
    """Is this an address of the machine itself?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
