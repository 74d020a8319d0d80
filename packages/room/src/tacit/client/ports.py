"""What the parts of a client need of it: the hub's operations, its address, and what is followed.

So that a part knows no more of the client than this, and nobody stands in a circle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aiohttp

    from tacit.client.looking import Looking
    from tacit.ledger.envelope import Event


class Operations(Protocol):
    """The hub's operations, called by name."""

    async def call(self, method: str, params: dict[str, Any], *, repeatable: bool = True) -> Any:
        """Any operation of the hub. `repeatable`: the hub would recognise, or not mind, a repeat."""
        ...


class HubEndpoint(Protocol):
    """Where the hub is, and as whom it is called."""

    url: str

    @property
    def token(self) -> str | None:
        """The credential."""
        ...

    def session(self) -> aiohttp.ClientSession:
        """The HTTP session behind everything."""
        ...


class FollowableHub(HubEndpoint, Protocol):
    """A hub whose groups can be followed."""

    looking: Looking

    async def capabilities(self) -> dict[str, Any]:
        """What the hub can do (CCCS-109)."""
        ...

    def known(self, values: Sequence[dict[str, Any]]) -> list[Event]:
        """Events of an envelope version that we know (CCCS-014)."""
        ...
