"""Credentials that are read again while requests come in: nobody is turned away, nothing comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tacit.base.moment import Moment
from tacit.hub.people.credentials import Issued, Registry, StoredCredentials, digest
from tests.hub.test_sign_in_links import Seeded

if TYPE_CHECKING:
    from collections.abc import Iterable

NOW = Moment(1)


class Ledger:
    """What a reader finds; it looks when it is asked, and answers when it is let."""

    def __init__(self) -> None:
        self.issued: list[Issued] = []
        self.looked = asyncio.Event()
        self.answers = asyncio.Event()

    async def read(self) -> StoredCredentials:
        found = StoredCredentials({digest(one.token): one.credential for one in self.issued}, {})
        self.looked.set()
        await self.answers.wait()
        return found


def registry_of(ledger: Ledger, names: Iterable[str]) -> tuple[Registry, list[Issued]]:
    registry = Registry(Seeded())
    made = [registry.prepare(name, "g_a") for name in names]
    ledger.issued = list(made)
    for one in made:
        registry.admit(one, NOW)
    return registry, made


@pytest.mark.spec("CCCS-041")
async def test_while_credentials_are_read_again_every_token_is_known() -> None:
    registry, (ann, ben) = registry_of(ledger := Ledger(), ["ann", "ben"])
    ledger.issued = [ben]  # another node has revoked one
    loading = asyncio.create_task(registry.load(ledger.read))
    await ledger.looked.wait()
    assert registry.find(ann.token) is not None
    assert registry.find(ben.token) is not None
    ledger.answers.set()
    assert await loading == {ann.credential.token_id}
    assert registry.find(ann.token) is None
    assert registry.find(ben.token) is not None


@pytest.mark.spec("CCCS-042")
@pytest.mark.parametrize("by", ["token", "actor"])
async def test_what_was_revoked_after_the_reader_looked_stays_revoked(by: str) -> None:
    registry, (ann, ben) = registry_of(ledger := Ledger(), ["ann", "ben"])
    loading = asyncio.create_task(registry.load(ledger.read))
    await ledger.looked.wait()
    gone = {"token_id": ann.credential.token_id} if by == "token" else {"actor": ("g_a", "ann")}
    assert registry.drop(**gone) == [ann.credential.token_id]  # type: ignore[arg-type]
    ledger.answers.set()
    await loading
    assert registry.find(ann.token) is None
    assert registry.find(ben.token) is not None


async def test_what_was_issued_after_the_reader_looked_is_let_in() -> None:
    registry, _ = registry_of(ledger := Ledger(), ["ann"])
    loading = asyncio.create_task(registry.load(ledger.read))
    await ledger.looked.wait()
    registry.admit(new := registry.prepare("cyd", "g_a", is_browser=True), NOW)
    ledger.answers.set()
    assert await loading == frozenset()
    assert registry.find(new.token) == new.credential
    assert registry.used(new.credential.token_id) == NOW


async def test_the_reader_that_looks_last_is_right_though_the_first_is_slow() -> None:
    registry, (ann,) = registry_of(ledger := Ledger(), ["ann"])
    first = asyncio.create_task(registry.load(ledger.read))
    await ledger.looked.wait()
    second_ledger = Ledger()
    second_ledger.answers.set()
    second = asyncio.create_task(registry.load(second_ledger.read))
    await asyncio.sleep(0)
    ledger.answers.set()
    assert (await first, await second) == (frozenset(), {ann.credential.token_id})
    assert registry.ids() == frozenset()


async def test_what_could_not_be_read_changes_nothing() -> None:
    registry, (ann,) = registry_of(Ledger(), ["ann"])

    async def fails() -> StoredCredentials:
        raise OSError

    with pytest.raises(OSError):
        await registry.load(fails)
    assert registry.find(ann.token) is not None
    registry.drop(token_id=ann.credential.token_id)
    assert registry.ids() == frozenset()
