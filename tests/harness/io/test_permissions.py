"""What people are asked in the room on behalf of an agent's own program."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tacit.base.io.system import SystemClock
from tacit.c2a.messages import read_delivered
from tacit.c2a.notifications import PermissionDecided
from tacit.harness.drivers.port import PermissionRequest, Permitted
from tacit.harness.effects import ModelTurn
from tacit.harness.io.context import tell_nobody
from tacit.harness.io.kept_patterns import KeptPatterns
from tacit.harness.io.permissions import Permissions
from tests.c2a_peer import delivery

KEY = "sk-live-0123456789"


class Hub:
    """Says yes to whatever it is asked, for good unless it is told otherwise."""

    def __init__(self) -> None:
        self.asked = []
        self.scope = "always"
        self.revoked = set()

    async def permission(self, asked):
        if asked.key.startswith("of:"):
            return {"state": "revoked" if asked.key.removeprefix("of:") in self.revoked else "granted"}
        self.asked.append(asked)
        return {"approvalId": f"a{len(self.asked)}", "state": "granted", "scope": self.scope, "by": "user"}


@pytest.mark.spec("C2A-207")
async def test_a_secret_in_a_command_is_not_shown_and_no_pattern_is_kept_of_it(tmp_path):
    hub = Hub()
    context = SimpleNamespace(session=hub, clock=SystemClock(), tell=tell_nobody)
    kept = KeptPatterns(tmp_path / "permissions.json")
    permissions = Permissions(
        context, kept, lambda work: work.close(), lambda *_: None, secrets=(KEY, "short")
    )
    turn = ModelTurn("e1.1", (read_delivered(delivery("e1")),))
    wanted = PermissionRequest("command", f"make deploy KEY={KEY}", f"with {KEY}", "/work")
    assert await permissions.ask(turn, wanted) == Permitted("once")
    assert KEY not in str(hub.asked)
    assert hub.asked[0].title == "make deploy KEY=[redacted]"
    assert kept.all() == []
    plain = PermissionRequest("command", "make check", directory="/work")
    assert await permissions.ask(turn, plain) == Permitted("pattern")
    assert await permissions.ask(turn, plain) == Permitted("pattern")
    assert len(hub.asked) == 2


@pytest.mark.spec("C2A-207")
async def test_what_a_person_takes_back_is_asked_for_again_and_told_once(tmp_path):
    hub, told = Hub(), []
    context = SimpleNamespace(
        session=hub, clock=SystemClock(), tell=lambda what, **more: told.append((what, more))
    )
    kept = KeptPatterns(tmp_path / "permissions.json")
    permissions = Permissions(context, kept, lambda work: work.close(), lambda *_: None)
    turn = ModelTurn("e1.1", (read_delivered(delivery("e1")),))
    wanted = PermissionRequest("command", "make check", directory="/srv/project")
    for _ in range(2):
        assert await permissions.ask(turn, wanted) == Permitted("pattern")
    assert len(hub.asked) == 1
    told.clear()
    permissions.heard(PermissionDecided("another", "revoked"))
    assert told == []
    permissions.heard(PermissionDecided("a1", "revoked"))
    assert told == [("permission_revoked", {"approval_id": "a1"})]
    assert kept.all() == []
    await permissions.ask(turn, wanted)
    assert len(hub.asked) == 2


@pytest.mark.spec("C2A-207")
async def test_what_was_taken_back_while_the_hub_was_away_holds_no_longer_and_nothing_that_came_of_it(
    tmp_path,
):
    hub, spawned = Hub(), []
    context = SimpleNamespace(session=hub, clock=SystemClock(), tell=tell_nobody)
    kept = KeptPatterns(tmp_path / "permissions.json")
    permissions = Permissions(context, kept, spawned.append, lambda *_: None)
    turn = ModelTurn("e1.1", (read_delivered(delivery("e1")),))
    check = PermissionRequest("command", "make check", directory="/srv/project")
    deploy = PermissionRequest("command", "make deploy", directory="/srv/project")
    assert await permissions.ask(turn, check) == Permitted("pattern")
    hub.scope = "turn"
    for _ in range(2):
        assert await permissions.ask(turn, deploy) == Permitted("turn")
    assert len(hub.asked) == 2
    # A person who is asked for more than this once sees what the yes would cover.
    assert [(one.pattern is not None, one.covers != "") for one in hub.asked] == [(True, True)] * 2
    for revoked, left in ((set(), 1), ({"a1"}, 0)):
        hub.revoked = revoked
        permissions.connected()
        await spawned.pop()
        assert len(kept.all()) == left
    await permissions.ask(turn, deploy)
    await permissions.ask(turn, check)
    assert len(hub.asked) == 4
