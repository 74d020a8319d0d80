"""What was seen of the clock outlasts the process, and its owner is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.base.io.time_service import FILE, TimeService, kept_doubt
from tests.two_clocks import DAY, LEAPS, START, TwoClocks

if TYPE_CHECKING:
    from pathlib import Path

FAR = {name: by for name, by in LEAPS.items() if abs(by) > DAY}


def watch_of(folder: Path, clock: TwoClocks, newest: int | None = None) -> TimeService:
    service = TimeService(clock.both, boot=lambda: "")
    service.remember_in(folder, lambda: newest)
    return service


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
@pytest.mark.parametrize("restarts", [False, True], ids=["at once", "with a restart"])
def test_a_leap_is_told_once_and_doubted_until_the_owner_trusts_it(
    tmp_path: Path, by: int, *, restarts: bool
) -> None:
    clock = TwoClocks()
    watch = watch_of(tmp_path, clock)
    assert watch.confirmed() == START
    clock.leap(by)
    watch = watch_of(tmp_path, clock) if restarts else watch
    assert watch.confirmed() <= START
    assert watch.said() is None
    assert watch.news()
    assert not watch.news()
    watch = watch_of(tmp_path, clock)
    assert not watch.news()
    assert watch.doubt() == kept_doubt(tmp_path) != ""
    other = watch_of(tmp_path, clock)
    other.trust()
    # Another process of the same folder hears of it.
    assert watch.confirmed() == clock.wall
    assert not watch.doubt()
    assert not kept_doubt(tmp_path)
    # The next leap is news again.
    clock.leap(91 * DAY)
    assert watch.news()


def test_a_folder_without_a_look_at_the_clock_goes_by_the_newest_in_its_data(tmp_path: Path) -> None:
    clock = TwoClocks()
    assert watch_of(tmp_path, clock, START - 91 * DAY).confirmed() == START - 91 * DAY
    (tmp_path / FILE).unlink()
    assert watch_of(tmp_path, clock).confirmed() == START


def test_a_file_that_cannot_be_read_is_no_word_for_the_clock(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"{")
    assert watch_of(tmp_path, TwoClocks(), START - 91 * DAY).doubt()


def test_a_process_that_runs_for_long_and_ends_has_kept_how_far_it_came(tmp_path: Path) -> None:
    clock = TwoClocks()
    watch = watch_of(tmp_path, clock)
    for _ in range(100 * 6):
        clock.watch(DAY // 6)
        watch.look()
    assert watch_of(tmp_path, clock).confirmed() == clock.wall
