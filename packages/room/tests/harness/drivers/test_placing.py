"""Files of a turn on the agent's disk: there while the turn runs, and never where a link leads."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tacit.base.errors import Unavailable
from tacit.harness.drivers.catalogue import private_options
from tacit.harness.drivers.io.placing import FOLDER, handed
from tacit.harness.drivers.options import DriverOptions
from tacit.harness.drivers.port import StandingInstructions, TurnFile, TurnRequest

SECRET = TurnFile("salary.txt", "text/plain", b"four hundred")


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def options(tmp_path, work):
    return DriverOptions(str(tmp_path / "ada" / "driver"), directory=str(work))


def request(turn_id, *files):
    return TurnRequest(turn_id, StandingInstructions("rules"), "prompt", files=files)


def files_in(work):
    return [path.name for path in work.rglob("*") if path.is_file() and path.name != ".gitignore"]


def test_they_are_gone_when_the_turn_is_over(work, options):
    with handed(request("e1.1", SECRET), options, pictures=False) as place:
        assert [path.endswith("1-salary.txt") for _, path in place.given.paths] == [True]
        assert files_in(work) == ["1-salary.txt"]
    assert files_in(work) == []


@pytest.mark.spec("C2A-203")
def test_what_a_killed_process_left_of_a_private_turn_is_gone_before_the_next_one(work, options, tmp_path):
    with ExitStack() as killed:
        private = private_options(options, "ada+user")
        killed.enter_context(handed(request("e1.1", SECRET), private, pictures=False))
        other = DriverOptions(str(tmp_path / "kit" / "driver"), directory=str(work))
        killed.enter_context(
            handed(request("e2.1", TurnFile("b", "text/plain", b"b")), other, pictures=False)
        )
        assert sorted(files_in(work)) == ["1-b", "1-salary.txt"]
        with handed(request("e3.1"), options, pictures=False):
            assert files_in(work) == ["1-b"], "another agent's are its own"


@pytest.mark.parametrize("depth", [0, 1])
def test_no_link_is_followed(work, options, tmp_path, depth):
    outside = tmp_path / "outside"
    outside.mkdir()
    with handed(request("e1.1", SECRET), options, pictures=False) as place:
        own = place.given.paths[0][1].split("/")[-3]
    link = work / FOLDER / own if depth else work / FOLDER
    if not depth:
        (work / FOLDER / ".gitignore").unlink()
        (work / FOLDER).rmdir()
    link.symlink_to(outside)
    with (
        pytest.raises(Unavailable, match="leads elsewhere"),
        handed(request("e1.2", SECRET), options, pictures=False),
    ):
        pass
    assert list(outside.rglob("*")) == []


def test_the_list_of_what_version_control_leaves_alone_is_no_way_out(work, options, tmp_path):
    (tmp_path / "profile").write_text("mine")
    (work / FOLDER).mkdir()
    (work / FOLDER / ".gitignore").symlink_to(tmp_path / "profile")
    with pytest.raises(Unavailable), handed(request("e1.1", SECRET), options, pictures=False):
        pass
    assert (tmp_path / "profile").read_text() == "mine"
    assert files_in(work) == []
