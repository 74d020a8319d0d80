"""The language-neutral vectors of CCCS against the ledger: taken, recognised, or refused by the named row."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused
from tacit.ledger.commands import Committed, Duplicate
from tacit.ledger.envelope import decode
from tests.ledger.world import World, digest, submission

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent / "vectors" / "cccs"
VECTORS = [
    pytest.param(vector, id=f"{path.stem}: {vector['name']}", marks=pytest.mark.spec(vector["row"]))
    for path in sorted(FOLDER.glob("*.json"))
    for vector in json.loads(path.read_text(encoding="utf-8")).get("vectors", [])
]


class Names:
    """What the placeholders of the vectors stand for in one world."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], str] = {
            ("$group", "main"): "g_main",
            ("$group", "other"): "g_other",
        }

    def resolve(self, value: Any) -> Any:
        if isinstance(value, dict):
            if len(value) == 1 and (pair := next(iter(value.items())))[0].startswith("$"):
                return self.known[pair]
            return {key: self.resolve(inner) for key, inner in value.items()}
        return [self.resolve(inner) for inner in value] if isinstance(value, list) else value


def prepare(world: World) -> Names:
    names = Names()
    for step in json.loads((FOLDER / "world.json").read_text(encoding="utf-8"))["steps"]:
        group = names.known["$group", step["group"]]
        if "blob" in step:
            path = world.blob(group, step["by"], step["content"].encode())
            names.known["$blob", step["blob"]] = path
            continue
        asked = submission(group, step["by"], step["kind"], names.resolve(step["data"]))
        outcome = world.store.append(asked, creates=step["kind"] == "group.create")
        assert isinstance(outcome, Committed)
        event = decode(outcome.event.raw)
        if "label" in step:
            names.known["$event", step["label"]] = event.id
        if event.kind == "group.create" and event.data.get("scopes"):
            names.known["$scope", step["group"]] = event.data["scopes"][0]["scope_key"]
    return names


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Names]:
    world = World(tmp_path_factory.mktemp("vectors") / "data")
    names = prepare(world)
    world.close()
    return world.folder, names


@pytest.fixture
def prepared(template: tuple[Path, Names], tmp_path: Path) -> Iterator[tuple[World, Names]]:
    shutil.copytree(template[0], tmp_path / "data")
    world = World(tmp_path / "data")
    yield world, template[1]
    world.close()


@pytest.mark.parametrize("vector", VECTORS)
def test_vector(prepared: tuple[World, Names], vector: dict[str, Any]) -> None:
    world, names = prepared
    before = ledgers(world)
    data = names.resolve(vector["data"])
    group = vector.get("group", "g_main")
    asked = submission(group, vector["by"], vector["kind"], data, names.resolve(vector.get("scope_key", "")))
    expect = vector["expect"]
    try:
        outcome: object = world.store.append(asked)
    except Refused as refused:
        outcome = refused
    if isinstance(outcome, Committed):
        assert expect == "appended"
        event = decode(outcome.event.raw)
        assert ledgers(world) == [digest([*raws(world, "g_main")]), before[1]]
        assert (event.kind, event.by, event.scope_key) == (vector["kind"], vector["by"], asked.scope_key)
        # What was sent is stored as it was sent; the hub only fills in.
        assert data.keys() <= event.data.keys()
        return
    assert ledgers(world) == before
    if isinstance(outcome, Duplicate):
        assert outcome.event.event_id == names.known["$event", expect["repeat"]]
        return
    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.row) == (expect["code"], expect["row"])
    assert expect.get("details", {}).items() <= outcome.details.items()
    assert outcome.message


def raws(world: World, group: str) -> list[bytes]:
    return [found.raw for found in world.page(group)]


def ledgers(world: World) -> list[str]:
    return [digest(raws(world, group)) for group in ("g_main", "g_other")]


def test_the_vectors_leave_a_sound_ledger(prepared: tuple[World, Names]) -> None:
    world, names = prepared
    for parameters in VECTORS:
        vector = parameters.values[0]
        if vector["expect"] == "appended":
            scope = names.resolve(vector.get("scope_key", ""))
            asked = submission("g_main", vector["by"], vector["kind"], names.resolve(vector["data"]), scope)
            try:
                world.store.append(asked)
            except Refused:
                continue  # an earlier vector removed its actor or took its name
    world.assert_rebuilds()
