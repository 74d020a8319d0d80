"""Sign-in links, whichever node of the ledger made them (CCCS-041, CCCS-042).

A link is held by the node that made it, and is spent there: so it signs in once, whatever nodes it is opened
at. Where there is one hub this is what `tacit.hub.people.sign_in_links` says.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tacit.hub.nodes.codec import EndLink, FindLink, LinkFound, LinkIds, ListLinks
from tacit.hub.people.credentials import digest

if TYPE_CHECKING:
    from tacit.hub.nodes.codec import Finding
    from tacit.hub.nodes.inquiries import Inquiries
    from tacit.hub.people.sign_in_links import SignInLink, SignInLinks


def _is_found(finding: Finding) -> bool:
    return isinstance(finding, LinkFound)


def _one(findings: list[Finding]) -> LinkFound | None:
    return next((one for one in findings if isinstance(one, LinkFound)), None)


def _told(link: SignInLink | None) -> LinkFound | None:
    return LinkFound(link.principal, link.group_id) if link is not None else None


class AllLinks:
    """The links of this hub, and of every other node of its ledger."""

    def __init__(self, links: SignInLinks) -> None:
        self._links = links
        self.inquiries: Inquiries | None = None
        """The way to the other nodes, where there are any."""

    def here(self, inquiry: FindLink | ListLinks | EndLink) -> Finding:
        """What this hub itself finds."""
        now = asyncio.get_running_loop().time()
        match inquiry:
            case FindLink(code_hash, spends):
                return _told(self._links.find(code_hash, now, spends=spends))
            case ListLinks(group_id, principal):
                return LinkIds(self._links.ids(group_id, principal, now))
            case EndLink(link_id):
                return _told(next(iter(self._links.drop(token_id=link_id)), None))

    def find_here(self, code: str, *, spends: bool) -> LinkFound | None:
        """Whom a code signs in that this hub has made."""
        return _one([self.here(FindLink(digest(code), spends))])

    async def find_elsewhere(self, code: str, *, spends: bool) -> LinkFound | None:
        """The same of another node's."""
        if self.inquiries is None:
            return None
        return _one(await self.inquiries.ask(FindLink(digest(code), spends), is_enough=_is_found))

    async def ids(self, group_id: str, principal: str) -> list[str]:
        """The public ids of somebody's links."""
        asked = ListLinks(group_id, principal)
        found = [self.here(asked), *(await self.inquiries.ask(asked) if self.inquiries is not None else ())]
        return [link_id for one in found if isinstance(one, LinkIds) for link_id in one.ids]

    async def end(self, link_id: str) -> LinkFound | None:
        """End a link; whom it would have signed in."""
        asked = EndLink(link_id)
        found = _one([self.here(asked)])
        if found is None and self.inquiries is not None:
            found = _one(await self.inquiries.ask(asked, is_enough=_is_found))
        return found
