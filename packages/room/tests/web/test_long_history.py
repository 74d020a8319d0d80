"""Twenty thousand messages, and a hundred thousand in `make soak`: opened, scrolled, dragged, jumped through, without the page growing."""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.web.stage import HubProcess, fill

if TYPE_CHECKING:
    from tests.web.conftest import Visits


@pytest.fixture(
    scope="module",
    params=[20_000, pytest.param(100_000, marks=(pytest.mark.soak, pytest.mark.timeout(1800)))],
)
def count(request: pytest.FixtureRequest) -> int:
    """How many messages the room has."""
    return request.param


@pytest.fixture(scope="module")
def group(hub: HubProcess, tmp_path_factory: pytest.TempPathFactory, count: int) -> str:
    """The long room; filled once for all test processes of a run."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"long-ledger-{count}"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "group").exists():
            made = HubProcess(shared)
            made.start()
            name = made.group("Long")
            made.stop()
            fill(shared, name, count)
            (shared / "group").write_text(name)
    hub.stop()
    shutil.rmtree(hub.folder / "data")
    shutil.copytree(shared / "data", hub.folder / "data")
    hub.start()
    return (shared / "group").read_text()


def shown(page) -> list[int]:
    """The numbers of the messages in the window, from top to bottom."""
    return page.evaluate(
        """() => {
        const box = document.querySelector(".main .history").getBoundingClientRect();
        return [...document.querySelectorAll(".main .row")]
            .filter((row) => { const r = row.getBoundingClientRect(); return r.bottom > box.top && r.top < box.bottom; })
            .map((row) => Number(/message number (\\d+)/.exec(row.textContent)?.[1]))
            .filter(Number.isFinite);
    }"""
    )


def settle(page) -> None:
    """Wait until the wheel's motion has ended, the window is full of messages, and no gap is left."""
    page.evaluate(
        """async () => {
        const box = document.querySelector(".main .history");
        const frame = () => new Promise(requestAnimationFrame);
        for (let same = 0, last = NaN; same < 4; ) {
            await frame();
            same = box.scrollTop === last ? same + 1 : 0;
            last = box.scrollTop;
        }
    }"""
    )
    page.wait_for_function(
        """() => {
        const box = document.querySelector(".main .history").getBoundingClientRect();
        const rows = [...document.querySelectorAll(".main .row")].map((row) => row.getBoundingClientRect());
        return rows.length > 0 && Math.min(...rows.map((r) => r.top)) <= box.top + 60 && Math.max(...rows.map((r) => r.bottom)) >= box.bottom - 60;
    }"""
    )


def wheel(page, by: int) -> None:
    """Turn the wheel, and wait until the history has moved and come to rest."""
    before = page.evaluate("document.querySelector('.main .history').scrollTop")
    page.mouse.wheel(0, by)
    page.wait_for_function("top => document.querySelector('.main .history').scrollTop !== top", arg=before)
    settle(page)


def test_the_newest_is_shown_first_and_few_rows_are_elements(visit: Visits, group: str, count: int) -> None:
    page = visit(group)
    expect(page.get_by_text(f"message number {count - 1} ")).to_be_in_viewport()
    assert page.locator(".main .row").count() < 80


def test_scrolling_back_meets_every_message_once_in_order(visit: Visits, group: str, count: int) -> None:
    page = visit(group)
    settle(page)
    page.locator(".main .history").hover()
    seen: list[int] = shown(page)
    for _ in range(30):
        wheel(page, -550)
        now = shown(page)
        assert now == list(range(now[0], now[-1] + 1))
        assert now[-1] >= seen[0] - 1, "something between was skipped"
        seen = now
    assert seen[0] < count - 200
    assert page.locator(".main .row").count() < 80


def test_the_scrollbar_reaches_any_part_of_the_history(visit: Visits, group: str, count: int) -> None:
    page = visit(group)
    settle(page)
    for share in (0.5, 0.1, 0.85):
        page.evaluate(
            "share => { const h = document.querySelector('.main .history'); h.scrollTop = h.scrollHeight * share; }",
            share,
        )
        page.wait_for_timeout(150)
        settle(page)
        middle = shown(page)
        assert middle == list(range(middle[0], middle[-1] + 1))
        assert abs(middle[0] / count - share) < 0.08
    page.evaluate("document.querySelector('.main .history').scrollTop = 0")
    expect(page.get_by_text("The room “Long” was opened")).to_be_visible()
    page.get_by_role("button", name="To the newest").click()
    expect(page.get_by_text(f"message number {count - 1} ")).to_be_in_viewport()


def test_a_link_to_a_position_opens_there_and_reading_goes_on_both_ways(
    visit: Visits, hub: HubProcess, group: str, count: int
) -> None:
    page = visit(group)
    page.goto(f"{hub.url}/#/g/{group}/talk/{count // 2 + 2}")
    expect(page.locator(".main article.selected")).to_contain_text(f"message number {count // 2} ")
    settle(page)
    page.locator(".main .history").hover()
    for step in (900, 900, -900, -900, -900):
        wheel(page, step)
        now = shown(page)
        assert now == list(range(now[0], now[-1] + 1))


def test_what_the_reader_looks_at_stays_in_place_when_messages_arrive(
    visit: Visits, hub: HubProcess, group: str
) -> None:
    page = visit(group)
    settle(page)
    page.locator(".main .history").hover()
    wheel(page, -3000)
    where = "[...document.querySelectorAll('.main .row')].map((r) => [r.dataset.seq, Math.round(r.getBoundingClientRect().top)]).find(([, top]) => top > 200)"
    before = page.evaluate(where)
    for number in range(5):
        hub.say(group, f"a late arrival {number}")
    expect(page.get_by_role("link", name="Long")).to_be_visible()
    page.wait_for_timeout(200)
    after = page.evaluate(
        f"[...document.querySelectorAll('.main .row')].map((r) => [r.dataset.seq, Math.round(r.getBoundingClientRect().top)]).find(([seq]) => seq === '{before[0]}')"
    )
    assert abs(after[1] - before[1]) <= 1
