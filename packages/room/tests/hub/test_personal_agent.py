"""The owner's agent beside a hub: who may ask it what, who hears of it, and what is back after a kill.

A real relay, a real hub, and the agent in a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tacit.a2acp.post.io.store import AgentStore
from tacit.agent import Agent
from tacit.agent.shell.commands import keys
from tacit.agent.shell.io import door
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.io import agent_socket
from tacit.hub.config import AgentBeside, Limits
from tacit.hub.doors.routes import OPERATIONS
from tests.agent.arrangements import registered
from tests.days import weekday
from tests.hub.room import Failed, Room, Socket, running
from tests.hub.test_crew import tokens
from tests.relay_support import Relay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PATIENCE = 60.0
NAMES = [one.name for one in OPERATIONS if one.name.startswith("agent_")]
GIVEN: dict[str, dict[str, Any]] = {
    "agent_answer": {"question_id": "qst_1", "confirm": True},
    "agent_thread": {"thread_id": "thr_1"},
    "agent_why": {"thread_id": "thr_1"},
    "agent_group": {"thread_id": "thr_1"},
    "agent_transfer": {"thread_id": "thr_1", "to": "ben@example.org"},
    "agent_stop": {"thread_id": "thr_1"},
    "agent_resume": {"thread_id": "thr_1"},
    "agent_change": {"thread_id": "thr_1", "text": "lunch"},
    "agent_ask": {"text": f"dinner with ben on {weekday(3)} evening"},
    "agent_contact": {"who": "ben@example.org", "decision": "block"},
    "agent_add": {"uri": "tacit:agent:eve@example.org"},
    "agent_find": {"account": "eve@example.org"},
    "agent_setup": {"save": True},
    "agent_profile": {"changes": {"dietary": "MARKER-STRANGER"}},
    "agent_permissions": {"field": "dietary", "level": "always_share"},
    "agent_memory_edit": {"who": "ben", "key": "dietary", "value": "MARKER-STRANGER"},
    "agent_memory_forget": {"who": "ben"},
    "agent_known": {"who": "ben"},
}
MARKER = "MARKER-eats-no-meat"
PLACE = "MARKER-central-Reading"


async def asked_over_http(room: Room, name: str, token: str | None, **more: Any) -> Any:
    operation = next(one for one in OPERATIONS if one.name == name)
    given = GIVEN.get(name, {})
    kept = {"params": given} if operation.method == "GET" else {"json": given}
    return await room.call(operation.method, operation.path, token=token, **kept, **more)


@contextlib.asynccontextmanager
async def relayed(folder: Path) -> AsyncIterator[Relay]:
    """A relay that knows Anna and Ben, who know each other."""
    async with Relay(folder / "relay") as relay:
        for name, friend in (("anna", "ben"), ("ben", "anna")):
            await registered(relay, folder / name, name, friend)
        yield relay


async def state(room: Room, *wanted: str) -> dict[str, Any]:
    """How the agent is, once it is so."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await room.ok("GET", "/v1/agent")
            if found["state"] in wanted:
                return found
            await asyncio.sleep(0.05)


async def dinner(room: Room) -> dict[str, Any]:
    """Anna's profile and wish, typed in the room; the question that comes of it."""
    changes = {"timezone": "Europe/London", "dietary": MARKER, "general_location_area": PLACE}
    await room.ok("POST", "/v1/agent/profile", json={"changes": changes})
    await room.ok("POST", "/v1/agent/ask", json={"text": f"dinner with ben on {weekday(3)} evening"})
    return await question(room)


async def question(room: Room) -> dict[str, Any]:
    """The one question that is open, once it is."""
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await room.get("/v1/agent/pending")
            if answer.status == 200 and answer.body["questions"]:
                (found,) = answer.body["questions"]
                return found
            await asyncio.sleep(0.05)


def test_each_command_that_a_page_needs_is_one_operation() -> None:
    assert set(NAMES) == {
        "agent_status",
        *(f"agent_{operation.command}" for operation in AGENT_OPERATIONS.values() if operation.hub),
    }
    assert {
        "agent_pending", "agent_answer", "agent_threads", "agent_thread", "agent_ask", "agent_contacts",
        "agent_permissions", "agent_disclosures", "agent_why", "agent_stop", "agent_resume", "agent_notices",
        "agent_hints", "agent_profile", "agent_me",
    } <= set(NAMES)  # fmt: skip


@pytest.mark.spec("A2ACP-274")
async def test_nobody_but_the_owner_is_told_anything_and_all_are_told_the_same_with_and_without_an_agent(
    tmp_path: Path,
) -> None:
    heard: list[dict[tuple[str, str], Any]] = []
    async with relayed(tmp_path):
        for beside in (None, AgentBeside(tmp_path / "anna")):
            said: dict[tuple[str, str], Any] = {}
            limits = Limits(failed_sign_ins_per_second=10_000)
            async with running(tmp_path / f"hub{beside is not None}", agent=beside, limits=limits) as room:
                if beside is not None:
                    await state(room, "running")
                group = await room.group()
                for kind, token in (await tokens(room, group)).items():
                    for name in NAMES:
                        answer = await asked_over_http(room, name, token)
                        assert answer.status in {401, 403}, (kind, name, answer.body)
                        assert answer.code == "permission_denied"
                        said[kind, name] = (answer.status, answer.body)
                    if token is None or kind == "nobody's":
                        continue
                    async with room.socket(token) as socket:
                        for name in NAMES:
                            with pytest.raises(Failed) as refused:
                                await socket.call(name, **GIVEN.get(name, {}))
                            assert refused.value.code == "permission_denied", (kind, name)
                            said[kind, f"rpc {name}"] = refused.value.body
            heard.append(said)
    assert heard[0] == heard[1]


async def test_under_local_trust_only_the_owners_own_token_reaches_the_agent(tmp_path: Path) -> None:
    async with (
        relayed(tmp_path),
        running(tmp_path / "hub", local_trust=True, agent=AgentBeside(tmp_path / "anna")) as room,
    ):
        await state(room, "running")
        for name in NAMES:
            answer = await asked_over_http(room, name, None, headers={"X-Tacit-By": "user"})
            assert (answer.status, answer.code) == (403, "permission_denied"), name
        async with room.socket(None) as trusting, room.socket() as owner:
            for name in NAMES:
                with pytest.raises(Failed) as refused:
                    await trusting.call(name, **GIVEN.get(name, {}))
                assert refused.value.code == "permission_denied"
            await dinner(room)
            assert (await owner.note("agent"))["params"]
            assert trusting.notes.empty()


async def test_an_owner_whose_hub_runs_no_agent_is_told_how_to_have_one(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        nothing = {"enabled": False, "state": "off", "reason": "", "process_id": None}
        assert (await room.ok("GET", "/v1/agent")) == nothing
        for name in NAMES:
            if name != "agent_status":
                answer = await asked_over_http(room, name, room.owner)
                assert (answer.status, answer.body["details"]["reason"]) == (400, "agent_off"), name


@pytest.mark.spec("A2ACP-128", "A2ACP-129", "A2ACP-274")
async def test_the_owner_arranges_by_the_room_and_no_ledger_and_no_log_holds_a_word_of_it(
    tmp_path: Path,
) -> None:
    async with (
        relayed(tmp_path) as relay,
        running(tmp_path / "hub", agent=AgentBeside(tmp_path / "anna")) as room,
    ):
        await state(room, "running")
        group = await room.group()
        guest = (await room.ok("POST", f"/v1/groups/{group}/people", json={"principal": "usr:cy"}))["token"]
        async with room.socket() as owner, room.socket(guest) as other:
            await other.call("follow", group_id=group)
            asked = await dinner(room)
            assert {"field", "reason"} <= set(asked["fields"][0])
            note = await owner.note("agent")
            while note["params"].get("question_id") != asked["question_id"]:
                note = await owner.note("agent")
            assert note["params"]["open"] is True
            shared = {one["field"]: None for one in asked["fields"]}
            answered = {"question_id": asked["question_id"], "share": shared}
            done = await owner.call("agent_answer", **answered, via="message:forged")
            assert done["thread_id"] == asked["thread_id"]
            while note["params"].get("open") is not False:
                note = await owner.note("agent")
                assert MARKER not in str(note)
            assert note["params"]["via"] == "room"
            with pytest.raises(Failed) as late:
                await owner.call("agent_answer", **answered)
            assert late.value.body["details"]["reason"] == "stale_question"
            assert not any(one["method"] == "agent" for one in _drained(other))
        told = await room.ok("GET", "/v1/agent/disclosures")
        assert {one["via"] for one in told["disclosures"] if one["question_id"]} == {"room"}
        assert MARKER in str(told)
        (line,) = (await room.ok("GET", "/v1/agent/contacts"))["contacts"]
        assert line["address"] == f"agent:ben@{relay.domain}"
        assert (await room.ok("GET", "/v1/agent/me"))["address"] == f"agent:anna@{relay.domain}"
        (thread,) = (await room.ok("GET", "/v1/agent/threads"))["threads"]
        assert (await room.ok("GET", "/v1/agent/thread", params={"thread_id": thread["thread_id"]}))["turns"]
    written = [path for path in (tmp_path / "hub").rglob("*") if path.is_file()]
    assert b"ben" not in (tmp_path / "hub" / "agent.log").read_bytes()
    for path in written:
        held = path.read_bytes()
        for word in (MARKER, PLACE, "dinner with ben", asked["question_id"], asked["thread_id"]):
            assert word.encode() not in held, (path, word)


def _drained(socket: Any) -> list[dict[str, Any]]:
    found = []
    while not socket.notes.empty():
        found.append(socket.notes.get_nowait())
    return found


async def test_a_refusal_of_the_agents_keeps_its_code_as_the_reason(tmp_path: Path) -> None:
    async with relayed(tmp_path), running(tmp_path / "hub", agent=AgentBeside(tmp_path / "anna")) as room:
        await state(room, "running")
        cases = [
            ("agent_ask", {"text": "dinner with nobody I know"}, "who"),
            ("agent_thread", {"thread_id": "thr_none"}, "unknown_thread"),
            ("agent_answer", {"question_id": "qst_none", "confirm": True}, "stale_question"),
            ("agent_profile", {"changes": {"timezone": "Nowhere/Nowhere"}}, "bad_timezone"),
            ("agent_permissions", {"field": "dietary", "level": "sometimes"}, "bad_command"),
        ]
        async with room.socket() as owner:
            for name, given, code in cases:
                with pytest.raises(Failed) as refused:
                    await owner.call(name, **given)
                assert refused.value.code == "invalid_request"
                assert refused.value.body["details"]["reason"] == code, name


@pytest.mark.spec("A2ACP-131", "A2ACP-274")
async def test_of_two_places_that_answer_in_the_same_moment_one_is_first_and_the_other_is_told(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "anna"
    async with relayed(tmp_path), running(tmp_path / "hub", agent=AgentBeside(folder)) as room:
        await state(room, "running")
        asked = await dinner(room)
        one = {"question_id": asked["question_id"]}
        async with room.socket() as owner:
            # Put aside in the room it is not answered, and stays for every place.
            await owner.call("agent_answer", **one, dismiss=True)
            assert await question(room) == asked
            shared = {"share": {each["field"]: None for each in asked["fields"]}}
            ended = await asyncio.gather(
                owner.call("agent_answer", **one, decline_all=True),
                agent_socket.asked(folder, "answer", {**one, **shared, "via": "terminal"}),
                return_exceptions=True,
            )
        (refused,) = [found for found in ended if isinstance(found, Exception)]
        reason = refused.body["details"]["reason"] if isinstance(refused, Failed) else refused.code
        assert reason == "stale_question"
        told = (await room.ok("GET", "/v1/agent/disclosures"))["disclosures"]
        shared_by = {found["via"] for found in told if found["question_id"] == asked["question_id"]}
        assert shared_by == (set() if isinstance(ended[1], Exception) else {"terminal"})


async def test_an_agent_that_is_killed_comes_back_with_its_question_and_asks_it_once(tmp_path: Path) -> None:
    async with relayed(tmp_path), running(tmp_path / "hub", agent=AgentBeside(tmp_path / "anna")) as room:
        await state(room, "running")
        async with room.socket() as owner:
            asked = await dinner(room)
            first = room.server.hub.agent.process_id
            assert first is not None
            os.kill(first, signal.SIGKILL)
            heard = []
            async with asyncio.timeout(PATIENCE):
                while not (
                    {"change": "agent", "state": "running"} in heard and heard[-1]["change"] == "everything"
                ):
                    heard.append((await owner.note("agent"))["params"])
            assert any(one.get("state") == "away" for one in heard)
        assert room.server.hub.agent.process_id not in {None, first}
        assert await question(room) == asked


async def test_an_agent_that_runs_already_is_used_and_the_hubs_own_begins_when_it_has_gone(
    tmp_path: Path,
) -> None:
    async with relayed(tmp_path), contextlib.AsyncExitStack() as other:
        anna = await other.enter_async_context(Agent(tmp_path / "anna"))
        await other.enter_async_context(door.served(anna, anna.folder))
        async with running(tmp_path / "hub", agent=AgentBeside(tmp_path / "anna")) as room:
            await state(room, "elsewhere")
            assert room.server.hub.agent.process_id is None
            await anna.profile({"dietary": MARKER})
            told = await room.ok("POST", "/v1/agent/profile", json={})
            assert told["profile"]["dietary"] == MARKER
            await other.aclose()
            await state(room, "running")
            assert room.server.hub.agent.process_id is not None
            told = await room.ok("POST", "/v1/agent/profile", json={})
            assert told["profile"]["dietary"] == MARKER


async def test_a_folder_that_is_held_by_a_process_that_cannot_be_asked_is_said_to_be_in_use(
    tmp_path: Path,
) -> None:
    async with relayed(tmp_path), contextlib.AsyncExitStack() as held:
        await held.enter_async_context(Agent(tmp_path / "anna"))
        async with running(tmp_path / "hub", agent=AgentBeside(tmp_path / "anna")) as room:
            found = await state(room, "away")
            assert "is in use by tacit agent" in found["reason"]
            answer = await room.get("/v1/agent/pending")
            assert (answer.status, answer.code) == (503, "daemon_unavailable")
            assert "is in use" in answer.body["message"]
            await held.aclose()
            await state(room, "running")


async def test_the_agent_ends_with_its_hub(tmp_path: Path) -> None:
    async with relayed(tmp_path):
        async with running(tmp_path / "hub", agent=AgentBeside(tmp_path / "anna")) as room:
            await state(room, "running")
            process_id = room.server.hub.agent.process_id
        assert process_id is not None
        with pytest.raises(ProcessLookupError):
            os.kill(process_id, 0)
        assert not (tmp_path / "anna" / "agent.sock").exists()


class HubProcess:
    """`tacit up --agent` in a process of its own, which can be killed."""

    def __init__(self, folder: Path, agent: Path, *options: object, port: int = 0) -> None:
        self.folder = folder
        self.port = port
        self._words = ("up", "--data", folder, "--agent", agent, "--no-crew", "--writer", "thread", *options)

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tacit", "--json", *map(str, self._words), "--port", str(self.port),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)
        if line:
            self.url = json.loads(line)["url"]
            self.port = int(self.url.rpartition(":")[2])

    async def ended(self, number: int | None = None) -> str:
        """What it wrote to standard error, once it has ended."""
        if number is not None:
            self.process.send_signal(number)
        _out, said = await asyncio.wait_for(self.process.communicate(), PATIENCE)
        return said.decode()

    @contextlib.asynccontextmanager
    async def owner(self) -> AsyncIterator[Socket]:
        """The owner's page, as far as its connection goes."""
        token = (self.folder / "owner.token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self.url + "/v1/ws", headers=headers) as ws,
            Socket(ws) as socket,
        ):
            yield socket


async def doctor(hub: HubProcess) -> list[dict[str, Any]]:
    """What `tacit doctor` finds."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tacit", "--url", hub.url, "--data", str(hub.folder), "--json", "doctor",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    return json.loads(out)


async def asked_by(socket: Socket) -> dict[str, Any]:
    """The one question that is open, once the agent is there to say it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(Failed):
                if found := (await socket.call("agent_pending"))["questions"]:
                    (one,) = found
                    return one
            await asyncio.sleep(0.05)


async def test_a_hub_that_is_killed_with_a_question_open_shows_it_once_after_its_restart_and_tells_of_it_again(
    tmp_path: Path,
) -> None:
    async with relayed(tmp_path):
        hub = HubProcess(tmp_path / "hub", tmp_path / "anna")
        await hub.start()
        async with hub.owner() as owner:
            async with asyncio.timeout(PATIENCE):
                while (await owner.call("agent_status"))["state"] != "running":
                    await asyncio.sleep(0.05)
            await owner.call("agent_profile", changes={"timezone": "Europe/London", "dietary": MARKER})
            await owner.call("agent_ask", text=f"dinner with ben on {weekday(3)} evening")
            asked = await asked_by(owner)
            said = await hub.ended(signal.SIGKILL)
            assert MARKER not in said
            await asyncio.wait_for(owner.closed, PATIENCE)
        await hub.start()
        try:
            async with hub.owner() as owner:
                assert await asked_by(owner) == asked
                # Answered at its socket it may be before the hub follows it.
                async with asyncio.timeout(PATIENCE):
                    while (await owner.call("agent_status"))["state"] != "running":
                        await asyncio.sleep(0.05)
                shared = {one["field"]: None for one in asked["fields"]}
                await owner.call("agent_answer", question_id=asked["question_id"], share=shared)
                note = await owner.note("agent")
                while note["params"].get("open") is not False:
                    note = await owner.note("agent")
                assert note["params"]["question_id"] == asked["question_id"]
                notices = (await owner.call("agent_notices"))["notices"]
                assert [one for one in notices if one["code"] == "reminder"] == []
        finally:
            said = await hub.ended(signal.SIGTERM)
        assert MARKER not in said
        assert not (tmp_path / "anna" / "agent.sock").exists()


async def test_a_folder_without_an_agent_and_a_locked_one_are_refused_before_the_hub_opens(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty").mkdir()
    hub = HubProcess(tmp_path / "hub", tmp_path / "empty")
    await hub.start()
    assert "there is no agent in" in await hub.ended()
    assert hub.process.returncode == 1
    async with relayed(tmp_path):
        store = AgentStore(tmp_path / "anna")
        keys.keep_by_passphrase(store, "correct horse")
        store.close()
        locked = HubProcess(tmp_path / "hub", tmp_path / "anna")
        await locked.start()
        assert (
            "is locked: give --agent-passphrase-file FILE or TACIT_AGENT_PASSPHRASE" in await locked.ended()
        )
        assert locked.process.returncode == 1
        assert not (tmp_path / "hub").exists()
        wrong, right = tmp_path / "wrong", tmp_path / "right"
        wrong.write_text("battery staple\n")
        right.write_text("correct horse\n")
        for file, state_wanted in ((wrong, "away"), (right, "running")):
            hub = HubProcess(tmp_path / "hub", tmp_path / "anna", "--agent-passphrase-file", file)
            await hub.start()
            async with hub.owner() as owner, asyncio.timeout(PATIENCE):
                while (status := await owner.call("agent_status"))["state"] != state_wanted:
                    await asyncio.sleep(0.05)
            assert ("wrong_passphrase" in status["reason"]) is (file == wrong)
            (health,) = [one for one in await doctor(hub) if one["what"] == "agent"]
            assert health["ok"] is (file == right)
            assert ("wrong_passphrase" in health["found"]) is (file == wrong)
            said = await hub.ended(signal.SIGTERM)
            assert "battery staple" not in said
