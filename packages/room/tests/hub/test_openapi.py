"""The OpenAPI description against the running hub: schemathesis, every operation, bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from tacit.hub.doors.routes import OPERATIONS
from tests.hub.beside import Beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.hub.room import Room

EXAMPLES = 6
MANY = 60
load_all_checks()
# A schema says what a request looks like, not whether it makes sense: `kind` is one of many, cursors exclude
# one another, a position exists or not. And members or parameters that we do not know are ignored (CCCS-013).
LEFT_OUT = {"positive_data_acceptance", "negative_data_rejection"}


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    hub = Beside(tmp_path_factory.mktemp("openapi"))
    yield hub
    hub.close()


@pytest.fixture(scope="module")
def known(beside: Beside) -> dict[str, str]:
    """Things that exist, so that paths lead somewhere now and then."""
    import requests

    headers = {"Authorization": f"Bearer {beside.server.hub.owner_token}"}
    url = beside.server.url
    group = requests.post(f"{url}/v1/groups", json={"title": "t"}, headers=headers, timeout=60).json()[
        "group_id"
    ]
    base = f"{url}/v1/groups/{group}"
    requests.post(f"{base}/actors", json={"actor_id": "bob"}, headers=headers, timeout=60)
    body = {"kind": "chat.message", "data": {"text": "hello"}}
    event = requests.post(f"{base}/events", json=body, headers=headers, timeout=60).json()["id"]
    blob = requests.post(f"{base}/blobs", data=b"x", headers=headers, timeout=60).json()["path"]
    spoken = {
        "clowl": "0.2",
        "mid": "m1",
        "ts": 1_700_000_000,
        "p": "INF",
        "from": "user",
        "to": "*",
        "cid": "c1",
    }
    spoken |= {"tid": "t1", "body": {"t": "news", "d": {}}}
    requests.post(f"{base}/clowl", json={"message": spoken}, headers=headers, timeout=60)
    return {
        "group_id": group,
        "actor_id": "bob",
        "event_id": event,
        "path": blob,
        "token_id": "tok_none",
        "tid": "t1",
    }


def places() -> list[str]:
    return [operation.name for operation in OPERATIONS] + ["upload_blob", "fetch_blob", "healthz"]


def cases() -> list[Any]:
    """Every operation with data as described, and with data that breaks the description where there is any."""
    modes = {name: [GenerationMode.POSITIVE, GenerationMode.NEGATIVE] for name in places()}
    modes["healthz"] = [GenerationMode.POSITIVE]
    return [pytest.param(name, mode, id=f"{name}-{mode.value}") for name in modes for mode in modes[name]]


@pytest.mark.parametrize(("name", "mode"), cases())
@pytest.mark.filterwarnings("default")
def test_every_operation_answers_as_it_is_described(
    beside: Beside, known: dict[str, str], name: str, mode: GenerationMode
) -> None:
    answers_as_described(beside, known, name, mode, EXAMPLES)


@pytest.mark.soak
@pytest.mark.parametrize(("name", "mode"), cases())
@pytest.mark.filterwarnings("default")
def test_the_same_with_many_requests(
    beside: Beside, known: dict[str, str], name: str, mode: GenerationMode
) -> None:
    answers_as_described(beside, known, name, mode, MANY)


def answers_as_described(
    beside: Beside, known: dict[str, str], name: str, mode: GenerationMode, examples: int
) -> None:
    schema = schemathesis.openapi.from_url(f"{beside.server.url}/v1/openapi.json")
    operation = schema.find_operation_by_id(name)
    headers = {"Authorization": f"Bearer {beside.server.hub.owner_token}"}
    checks = [check for check in CHECKS.get_all() if check.__name__ not in LEFT_OUT]
    lead = iter(range(10**9))

    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    def probe(case: Any) -> None:
        if next(lead) % 2:
            for part in case.path_parameters or {}:
                case.path_parameters[part] = known[part]
        case.call_and_validate(headers=headers, checks=checks, timeout=60)

    probe()


def test_the_description_names_every_operation_once(beside: Beside) -> None:
    import requests

    found = requests.get(f"{beside.server.url}/v1/openapi.json", timeout=60).json()
    names = [one["operationId"] for path in found["paths"].values() for one in path.values()]
    assert sorted(names) == sorted(places())
    assert found["openapi"].startswith("3.1")


async def test_the_description_is_readable_without_a_token(room: Room) -> None:
    assert (await room.get("/v1/openapi.json", token=None)).status == 200
