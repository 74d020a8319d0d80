import contextlib

import pytest

from tacit.base.io import sqlite
from tacit.base.moment import SECOND, Moment
from tacit.relay.io.budgets import Budgets, DailyAllowance, forget_old
from tacit.relay.io.schema import SCHEMA
from tacit.relay.packet_checks import RateLimited
from tacit.relay.settings import DAY, HOUR, MINUTE

NOON = Moment(20_000 * DAY + 12 * HOUR)


@pytest.fixture
def file(tmp_path):
    with contextlib.closing(sqlite.connect(tmp_path / "relay.sqlite")) as connection:
        SCHEMA.migrate(connection, tmp_path / "relay.sqlite")
        yield connection


@pytest.fixture
def budgets():
    return Budgets(bytes(32))


def test_each_allowance_is_counted_in_number_and_bytes_and_a_refusal_counts_nothing(file, budgets):
    narrow, wide = DailyAllowance("narrow", 2, 100), DailyAllowance("wide", 3)
    budgets.spend(file, [narrow, wide], NOON, 60)
    with pytest.raises(RateLimited):
        budgets.spend(file, [wide, narrow], NOON, 60)
    budgets.spend(file, [narrow, wide], NOON, 40)
    with pytest.raises(RateLimited):
        budgets.spend(file, [narrow, wide], NOON, 0)
    budgets.spend(file, [wide], NOON)
    assert budgets.wait(file, [wide], NOON) > 0
    assert budgets.wait(file, [DailyAllowance("other", 1)], NOON) == 0


def test_one_that_is_larger_than_an_allowance_has_its_turn_when_nothing_else_was_spent(file, budgets):
    budgets.spend(file, [DailyAllowance("a", 5, 100)], NOON, 1000)
    assert budgets.wait(file, [DailyAllowance("a", 5, 100)], NOON, 1) > 0


def test_whoever_waits_as_long_as_it_is_told_comes_in_and_a_moment_before_it_does_not(file, budgets):
    allowance = [DailyAllowance("a", 3)]
    for hours in (0, 0, 5):
        budgets.spend(file, allowance, Moment(NOON + hours * HOUR))
    now = Moment(NOON + 6 * HOUR)
    wait = budgets.wait(file, allowance, now)
    assert 18 * HOUR <= wait * SECOND <= 19 * HOUR + SECOND
    assert budgets.wait(file, allowance, Moment(now + (wait - 2) * SECOND)) > 0
    assert budgets.wait(file, allowance, Moment(now + wait * SECOND)) == 0


def test_nobody_gets_more_than_the_allowance_in_any_day(file, budgets):
    allowance, spent_at = [DailyAllowance("a", 4)], []
    for minutes in range(0, 3 * 24 * 60, 7):
        now = Moment(NOON + minutes * MINUTE)
        with contextlib.suppress(RateLimited):
            budgets.spend(file, allowance, now)
            spent_at.append(now)
    assert len(spent_at) > 8
    assert all(later - earlier >= DAY for earlier, later in zip(spent_at, spent_at[4:], strict=False))


def test_a_wait_is_longer_than_the_minute_for_which_an_agent_holds_all_its_packets(file, budgets):
    budgets.spend(file, [DailyAllowance("a", 1)], NOON)
    assert budgets.wait(file, [DailyAllowance("a", 1)], Moment(NOON + 25 * HOUR - 1)) > 60


def test_the_file_names_nobody_and_forgets_within_two_days(file, budgets, tmp_path):
    budgets.spend(file, [DailyAllowance("agent:mallory@bank.example", 1)], NOON)
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"mallory" not in stored
    forget_old(file, Moment(NOON + 23 * HOUR))
    assert file.execute("SELECT count(*) FROM spent").get == 1
    forget_old(file, Moment(NOON + 26 * HOUR))
    assert file.execute("SELECT count(*) FROM spent").get == 0
