"""Random and near-valid requests: taken, or refused with a documented error and nothing appended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.sync.client import connect

from fuzz.hub import KINDS, MEMBERS, REQUESTS, TOOLS, fuzz
from tacit.hub.doors.websocket import METHODS, OWN_METHODS
from tacit.ledger.codes import CODES
from tests.hub.beside import Beside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.hub.room import Room

SETTINGS = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["bob", "user", "@all", "attention", "dm", "svc:x", "\0"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4),
    max_leaves=12,
)
DATA = st.dictionaries(st.sampled_from(MEMBERS) | st.text(max_size=5), VALUES, max_size=6)


class Target:
    """A hub, a group, and one client that blocks."""

    def __init__(self, beside: Beside) -> None:
        self.beside = beside
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {beside.server.hub.owner_token}"
        self.url = beside.server.url
        self.group = self.session.post(f"{self.url}/v1/groups", json={"title": "t"}, timeout=60).json()[
            "group_id"
        ]
        self.session.post(f"{self.url}/v1/groups/{self.group}/actors", json={"actor_id": "bob"}, timeout=60)

    def total(self) -> int:
        store = self.beside.server.hub.store
        return sum(store.read(lambda reader: [group.last_seq for group in reader.groups()]))

    def judge(self, body: Any, before: int, *, refused: bool) -> None:
        if refused:
            assert body["code"] in CODES
            assert body["code"] != "internal"
            assert self.total() == before
        else:
            assert self.total() <= before + 1

    def post(self, path: str, raw: bytes) -> None:
        before = self.total()
        answer = self.session.post(self.url + path, data=raw, timeout=60)
        self.judge(answer.json(), before, refused=answer.status_code >= 400)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    beside = Beside(tmp_path_factory.mktemp("fuzz"))
    found = Target(beside)
    yield found
    assert found.session.get(f"{found.url}/healthz", timeout=60).json() == {"status": "ok"}
    found.session.close()
    beside.close()


@SETTINGS
@given(raw=st.binary(max_size=300), path=st.sampled_from(["events", "actors", "relay", "people"]))
def test_random_bytes_over_http(target: Target, raw: bytes, path: str) -> None:
    target.post(f"/v1/groups/{target.group}/{path}", raw)


@SETTINGS
@given(kind=st.sampled_from(KINDS) | st.text(max_size=10), data=DATA)
def test_near_valid_events_over_http(target: Target, kind: str, data: dict[str, Any]) -> None:
    body = json.dumps({"kind": kind, "data": data}).encode()
    target.post(f"/v1/groups/{target.group}/events", body)


@SETTINGS
@given(text=st.text(max_size=40), damage=st.binary(max_size=4), at=st.integers(0, 60))
def test_damaged_events_over_http(target: Target, text: str, damage: bytes, at: int) -> None:
    body = json.dumps({"kind": "chat.message", "data": {"text": text}}).encode()
    target.post(f"/v1/groups/{target.group}/events", body[:at] + damage + body[at:])


FRAMES = (
    st.binary(max_size=200)
    | st.text(max_size=200)
    | st.builds(
        lambda kind, data, method: json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": method,
                "params": {"group_id": "GROUP", "kind": kind, "data": data},
            }
        ),
        st.sampled_from(KINDS),
        DATA,
        st.sampled_from(["append", "append", "events", "search", "blob", "inbox", "typing", "window"]),
    )
    | st.builds(lambda call: json.dumps({"jsonrpc": "2.0", "id": 1, **call}), DATA)
)


def test_random_and_near_valid_frames(target: Target) -> None:
    headers = {"Authorization": f"Bearer {target.beside.server.hub.owner_token}"}
    with connect(target.url.replace("http", "ws") + "/v1/ws", additional_headers=headers) as socket:

        @SETTINGS
        @given(frame=FRAMES)
        def probe(frame: str | bytes) -> None:
            before = target.total()
            try:
                sent = frame.replace("GROUP", target.group) if isinstance(frame, str) else frame
                socket.send(sent)
            except UnicodeEncodeError:
                return
            socket.send('{"jsonrpc":"2.0","id":"mark","method":"capabilities"}')
            answers = []
            while not answers or answers[-1].get("id") != "mark":
                answers.append(json.loads(socket.recv(timeout=60)))
            if len(answers) == 1:  # the mark overtook the slower call
                answers.append(json.loads(socket.recv(timeout=60)))
            for body in answers:
                if body.get("id") != "mark":
                    target.judge(body.get("error", {}).get("data"), before, refused="error" in body)

        probe()


async def test_a_seeded_stretch_of_the_long_fuzzer(tmp_path: Path) -> None:
    counts = await fuzz(tmp_path, seed=20260113, rounds=25)
    assert counts["taken"] > 50
    assert counts["invalid_request"] > 100
    assert counts["mcp"] == 125
    assert counts["stranger"] == 25
    # Each method of the socket and each tool was asked something that nobody would, and none was forgotten.
    assert named(counts, "ws") == {*METHODS, *OWN_METHODS, "x"}
    assert named(counts, "mcp") == {*TOOLS, *REQUESTS}


def named(counts: dict[str, int], door: str) -> set[str]:
    return {key.removeprefix(f"{door}:") for key in counts if key.startswith(f"{door}:")}


@pytest.mark.parametrize(
    "query", ["\0", 'a"b', '"', "*", "a*", "NEAR(a b)", "AND", "text:x", "-x", "^a", "(", "é", "\u2028"]
)
async def test_a_search_takes_every_character_as_it_is(room: Room, query: str) -> None:
    group = await room.group()
    await room.say(group, "a b x AND text é")
    answer = await room.get(f"/v1/groups/{group}/search", params={"q": query})
    assert answer.status == (400 if query in {"\0", "\u2028"} else 200), answer.body
