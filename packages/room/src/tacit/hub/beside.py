"""What may be installed beside the room: the post with its seals, and the personal agent.

The room's one way to them. All of it is imported when it is used; what is not there is said, and the room
does without.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from tacit.base.errors import Refused
from tacit.base.install_hint import install_hint

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tacit.base.nats_access import NatsLogin
    from tacit.base.ports import Entropy
    from tacit.base.tool_results import Surface


class SealedFileWriter(Protocol):
    """The writing end of a sealed file."""

    @property
    def header(self) -> bytes:
        """What the file begins with."""
        ...

    def seal(self, piece: bytes, *, last: bool = False) -> bytes:
        """A piece as it is written."""
        ...


class SealedFileReader(Protocol):
    """The reading end of a sealed file."""

    def open(self, sealed: bytes, *, last: bool) -> bytes:
        """A piece's content; refuses what is not as it was written."""
        ...


class PersonalAgentCaller(Protocol):
    """The way to the personal agent: its commands by name."""

    async def ask(self, command: str, arguments: dict[str, Any]) -> Any:
        """Have it carry out a command; `Refused`, or `Unavailable` when none runs."""
        ...


@contextmanager
def _of(what: str, extra: str) -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("tacit."):
            raise
        hint = f"{what} is not installed here; add it with: {install_hint('room', extra)}"
        raise Refused("not_installed", hint) from error


def login_in(text: str) -> NatsLogin:
    """Who a hub is at NATS servers, by a file of credentials."""
    with _of("the post, whose library signs,", "post"):
        from tacit.seal import nats_login
    return nats_login.login_in(text)


def sealer(passphrase: str, entropy: Entropy) -> SealedFileWriter:
    """Seals a new file under a passphrase."""
    with _of("the post, whose library seals,", "post"):
        from tacit.seal import sealed_stream
    return sealed_stream.Sealer(passphrase, entropy)


def opener(header: bytes, passphrase: str) -> SealedFileReader:
    """Opens a sealed file; `Refused` when the header is none."""
    with _of("the post, whose library opens seals,", "post"):
        from tacit.seal import sealed_stream
    return sealed_stream.Opener(header, passphrase)


def agent_in(folder: Path) -> Path | None:
    """The file of the agent that a folder holds, if it holds one."""
    with _of("the personal agent", "agent"):
        from tacit.a2acp.post.io.schema import FILE
    path = folder / FILE
    return path if path.exists() else None


def key_protection(path: Path) -> str | None:
    """How the keys in an agent's file are kept; None: plain."""
    with _of("the personal agent", "agent"):
        from tacit.a2acp.post.io.schema import protection_method
    return protection_method(path)


def agent_surface() -> Surface[Any]:
    """The agent's tools as MCP serves them."""
    with _of("the personal agent", "agent"):
        from tacit.agent.shell.mcp import door
    return door.SURFACE
