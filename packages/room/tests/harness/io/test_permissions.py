"""What people are asked in the room on behalf of an agent's own program."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from tacit.base.errors import Unavailable
from tacit.base.io.time_service import TimeService
from tacit.c2a.messages import read_delivered
from tacit.c2a.notifications import PermissionDecided
from tacit.harness.drivers.port import NotPermitted, PermissionRequest, Permitted
from tacit.harness.effects import ModelTurn
from tacit.harness.io.kept_patterns import KeptPattern, KeptPatterns
from tacit.harness.io.permissions import Permissions
from tacit.harness.io.store import HarnessStore
from tacit.harness.permission import Pattern
from tests.c2a_peer import delivery

KEY = "sk-live-0123456789"
CHECK = PermissionRequest("command", "make check", directory="/srv/project")
DEPLOY = PermissionRequest("command", "make deploy", directory="/srv/project")


class Hub:
    """Says yes to whatever it is asked, for good unless it is told otherwise; or waits for a person."""

    def __init__(self) -> None:
        self.asked = []
        self.taken_back = []
        self.scope = "always"
        self.state = "granted"
        self.asker = "user"
        self.revoked = set()
        self.is_away = False

    async def permission(self, asked):
        if self.is_away:
            raise Unavailable("the hub is away")
        if asked.key.startswith("of:"):
            return {"state": "revoked" if asked.key.removeprefix("of:") in self.revoked else "granted"}
        if asked.key.startswith("by:"):
            return {"asker": self.asker}
        if asked.withdrawn:
            self.taken_back.append(asked.key)
            return {"state": "lapsed"}
        if asked not in self.asked:
            self.asked.append(asked)
        answer = {"approvalId": f"a{1 + self.asked.index(asked)}", "state": self.state, "asker": self.asker}
        return answer if self.state == "asked" else {**answer, "scope": self.scope, "by": "user"}

    async def log(self, *_said):
        return None


class Room:
    """One agent's permissions over a real store, in a harness that can be ended and begun anew."""

    def __init__(self, folder, secrets=()) -> None:
        self.folder, self.secrets = folder, secrets
        self.hub, self.told, self.answered, self.waiting = Hub(), [], [], []
        self.tasks = set()
        self.has_work = True
        self.kept = KeptPatterns(folder / "permissions.json")
        self.begin()

    def begin(self) -> None:
        self.store = HarnessStore(self.folder / "harness.db")

        async def write(work):
            self.store.write(work)

        context = SimpleNamespace(
            session=self.hub,
            store=self.store,
            write=write,
            clock=TimeService(),
            tell=lambda what, **more: self.told.append((what, more)),
        )
        self.permissions = Permissions(context, self.kept, self.spawn, self, secrets=self.secrets)
        self.held = self.permissions.restore()

    def spawn(self, work) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def end(self) -> None:
        self.permissions.close()
        while self.tasks:
            await asyncio.wait(self.tasks)
        self.store.close()

    async def waits(self, turn_id, message):
        self.waiting.append((turn_id, message))

    async def permitted(self, event_ids, note):
        self.answered.append((tuple(event_ids), note))

    def goes_on(self, event_ids):
        return bool(event_ids) and self.has_work

    def worktree(self, turn):
        return "bea" if turn.slot == 0 else ""

    def ask(self, wanted, turn="e1.1", event="e1", beside=()):
        return self.permissions.ask(
            ModelTurn(turn, (read_delivered(delivery(event)),)), wanted, (event, *beside)
        )

    async def until(self, condition):
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0)

    async def is_asked(self, wanted, **more):
        """A program that waits, once the hub has named its question."""
        before = len(self.hub.asked)
        asking = asyncio.ensure_future(self.ask(wanted, **more))
        await self.until(lambda: len(self.hub.asked) > before and self.are_named)
        return asking

    @property
    def are_named(self):
        """Has the hub given every question its id?"""
        return all(one.kept.approval_id for one in self.permissions._open.values())


@pytest.fixture
async def room(tmp_path):
    opened = Room(tmp_path, (KEY, "short"))
    yield opened
    await opened.end()


@pytest.mark.spec("C2A-207")
async def test_a_secret_in_a_command_is_not_shown_and_no_pattern_is_kept_of_it(room):
    wanted = PermissionRequest("command", f"make deploy KEY={KEY}", f"with {KEY}", "/work")
    assert await room.ask(wanted) == Permitted("once")
    assert KEY not in str(room.hub.asked)
    assert room.hub.asked[0].title == "make deploy KEY=[redacted]"
    assert room.hub.asked[0].worktree == "bea"
    assert room.kept.all() == []
    assert await room.ask(CHECK) == Permitted("pattern")
    assert await room.ask(CHECK) == Permitted("pattern")
    assert len(room.hub.asked) == 2
    # A person who is asked for more than this once sees what the yes would cover.
    assert (room.hub.asked[1].pattern is not None, room.hub.asked[1].covers != "") == (True, True)


@pytest.mark.spec("C2A-207")
@pytest.mark.parametrize("scope", ["turn", "always"])
async def test_a_grant_is_for_whoever_asked_and_for_nobody_else(room, scope):
    room.hub.scope, room.hub.asker = scope, "usr:ann"
    assert isinstance(await room.ask(CHECK), Permitted)
    assert isinstance(await room.ask(CHECK), Permitted)
    assert len(room.hub.asked) == 1
    room.hub.asker = "gus"
    assert isinstance(await room.ask(CHECK, beside=("e2",)), Permitted)
    assert len(room.hub.asked) == 2, "another asker has a card of their own"
    assert room.hub.asked[1].beside == ("e2",)


@pytest.mark.spec("C2A-207")
async def test_a_grant_that_names_nobody_is_the_owners(room):
    pattern = {"kind": "command", "value": "make check", "directory": "/srv/project", "more": False}
    row = '[{"approval_id": "a0", "pattern": %s, "by": "user", "at": "then"}]'
    (room.folder / "permissions.json").write_text(
        row % str(pattern).replace("'", '"').replace("False", "false")
    )
    assert await room.ask(CHECK) == Permitted("pattern")
    assert room.hub.asked == []
    room.hub.asker = "gus"
    await room.ask(CHECK)
    assert len(room.hub.asked) == 1


@pytest.mark.spec("C2A-207")
async def test_what_a_person_takes_back_is_asked_for_again_and_told_once(room):
    for _ in range(2):
        assert await room.ask(CHECK) == Permitted("pattern")
    assert len(room.hub.asked) == 1
    room.told.clear()
    room.permissions.heard(PermissionDecided("another", "revoked"))
    assert room.told == []
    room.permissions.heard(PermissionDecided("a1", "revoked"))
    assert room.told == [("permission_revoked", {"approval_id": "a1"})]
    assert room.kept.all() == []
    await room.ask(CHECK)
    assert len(room.hub.asked) == 2


@pytest.mark.spec("C2A-207")
async def test_what_was_taken_back_while_the_hub_was_away_holds_no_longer_and_nothing_that_came_of_it(room):
    assert await room.ask(CHECK) == Permitted("pattern")
    room.hub.scope = "turn"
    for _ in range(2):
        assert await room.ask(DEPLOY) == Permitted("turn")
    assert len(room.hub.asked) == 2
    for revoked, left in ((set(), 1), ({"a1"}, 0)):
        room.hub.revoked = revoked
        room.permissions.connected()
        await room.until(lambda: not room.tasks)
        assert len(room.kept.all()) == left
    await room.ask(DEPLOY)
    await room.ask(CHECK)
    assert len(room.hub.asked) == 4


@pytest.mark.spec("C2A-207")
@pytest.mark.parametrize(
    ("state", "meant"),
    [("granted", Permitted("once")), ("denied", NotPermitted("a person said no:\n| not now"))],
)
async def test_a_request_outlives_its_program_and_the_answer_finds_the_same_wish(room, state, meant):
    room.hub.state = "asked"
    asking = await room.is_asked(CHECK)
    asking.cancel()  # the turn made room for another, or the process ended
    await asyncio.wait({asking})
    await room.end()
    room.begin()
    assert room.held == {"e1": "waits for permission to run a command"}
    await room.permissions.follow_all()
    await room.until(lambda: room.are_named)
    room.permissions.heard(PermissionDecided("a1", state, "once", "user", "not now"))
    await room.until(lambda: room.answered)
    [(events, note)] = room.answered
    assert (events, "granted now" in note) == (("e1",), state == "granted")
    await room.end()
    room.begin()  # and once more, with the answer there and nobody who has heard it
    assert room.held == {}
    again = PermissionRequest("command", "make check", "said otherwise", "/srv/project")
    assert await room.ask(again, turn="e1.2") == meant
    assert len(room.hub.asked) == 1, "one card for one wish"
    assert room.store.permissions_asked() == []
    other = await room.is_asked(CHECK, turn="e1.2")
    assert len(room.hub.asked) == 2, "an answer is for once"
    other.cancel()


@pytest.mark.spec("C2A-207")
async def test_what_was_called_off_is_taken_back_even_while_the_hub_is_away(room):
    room.hub.state = "asked"
    asking = await room.is_asked(CHECK)
    room.hub.is_away, room.has_work = True, False
    asking.cancel()
    await asyncio.wait({asking})
    await room.until(lambda: [one.state for one in room.store.permissions_asked()] == ["withdrawn"])
    await room.end()
    room.hub.is_away = False
    room.begin()
    await room.permissions.follow_all()
    await room.until(lambda: room.hub.taken_back == [room.hub.asked[0].key])
    await room.until(lambda: room.store.permissions_asked() == [])


@pytest.mark.spec("C2A-207")
async def test_what_it_is_for_was_settled_and_nobody_has_to_answer_any_more(room):
    room.hub.state = "asked"
    asking = await room.is_asked(CHECK)
    asking.cancel()
    await asyncio.wait({asking})
    room.permissions.settled("another")
    assert room.hub.taken_back == []
    room.permissions.settled("e1")
    await room.until(lambda: room.hub.taken_back)
    await room.until(lambda: room.store.permissions_asked() == [])


async def test_an_answer_that_overtakes_the_name_of_its_question_is_heard(room):
    room.hub.state = "asked"
    asking = asyncio.ensure_future(room.ask(CHECK))
    await room.until(lambda: room.permissions._open)
    room.hub.state = "granted"
    room.permissions.heard(PermissionDecided("a1", "granted", "once", "user"))
    assert await asking == Permitted("pattern")


def test_a_file_of_patterns_that_cannot_be_read_is_set_aside_and_not_written_over(tmp_path):
    path = tmp_path / "permissions.json"
    path.write_text('[{"approval_id": "a1", "pattern"')
    kept = KeptPatterns(path)
    assert kept.all() == []
    kept.keep(KeptPattern("a2", Pattern("edit", "/srv"), "user", "2026-01-13T10:00:00Z"))
    assert [one.approval_id for one in kept.all()] == ["a2"]
    assert (tmp_path / "permissions.unreadable").read_text().startswith('[{"approval_id": "a1"')
