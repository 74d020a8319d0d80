import pytest

from tacit.base.callers import bounds_of
from tacit.base.moment import Moment
from tacit.relay.accounts import PendingRegistration
from tacit.relay.settings import MINUTE
from tacit.relay.short_lived import ShortLived

NOW = Moment(10**15)
pytestmark = pytest.mark.spec("A2ACP-019")


def registration(expires: int = NOW + 15 * MINUTE, *, confirmed: bool = False) -> PendingRegistration:
    return PendingRegistration("bob", b"", b"", Moment(expires), 0, confirmed=confirmed)


def flood(waiting, count, address):
    for number in range(count):
        waiting.put(f"m{number}", registration(), bounds_of(address(number)), NOW)


@pytest.fixture
def waiting() -> ShortLived[PendingRegistration]:
    return ShortLived()


@pytest.mark.parametrize(
    "address",
    [
        lambda number: f"6.6.6.{number % 31}",
        lambda number: f"2001:db8:6:{number:x}::1",
        lambda number: f"2001:db8:{number % 600:x}:{number:x}::1",
        lambda number: f"6.6.{number % 5000 // 250}.{number % 250}",
    ],
)
def test_very_many_registrations_of_others_shut_no_honest_person_out(waiting, address):
    waiting.put("honest", registration(), bounds_of("192.0.2.7"), NOW)
    flood(waiting, 10_300, address)
    waiting.put("late", registration(), bounds_of("192.0.2.8"), NOW)
    assert waiting.get("honest", NOW) is not None
    assert waiting.get("late", NOW) is not None
    assert waiting.get("m10299", NOW) is not None


def test_among_as_many_sources_as_places_the_oldest_abandoned_goes_and_a_proved_one_stays(waiting):
    waiting.put("proved", registration(confirmed=True), bounds_of("192.0.2.7"), NOW)
    waiting.put("abandoned", registration(), bounds_of("192.0.2.8"), NOW)
    flood(waiting, 9_999, lambda number: f"6.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert waiting.get("proved", NOW) is not None
    assert waiting.get("abandoned", NOW) is None
    assert waiting.get("m0", NOW) is not None


def test_a_source_with_too_many_loses_its_own_oldest_abandoned_and_never_the_new_one(waiting):
    for number in range(39):
        waiting.put(f"p{number}", registration(confirmed=True), bounds_of("192.0.2.7"), NOW)
    waiting.put("abandoned", registration(), bounds_of("192.0.2.7"), NOW)
    waiting.put("new", registration(confirmed=True), bounds_of("192.0.2.7"), NOW)
    assert [waiting.get(name, NOW) is not None for name in ("p0", "abandoned", "new")] == [True, False, True]
    waiting.put("newer", registration(), bounds_of("192.0.2.7"), NOW)
    assert [waiting.get(name, NOW) is not None for name in ("p0", "p1", "newer")] == [False, True, True]


def test_what_has_expired_makes_room_before_anything_else_goes(waiting):
    for number in range(40):
        expires = NOW + (1 if number < 20 else MINUTE)
        waiting.put(f"o{number}", registration(expires), bounds_of("192.0.2.7"), NOW)
    later = Moment(NOW + 2)
    for number in range(20):
        waiting.put(f"n{number}", registration(), bounds_of("192.0.2.7"), later)
    assert all(waiting.get(f"o{number}", later) is not None for number in range(20, 40))
    assert not waiting.of_account(1, later)


def test_what_is_dropped_leaves_nothing_of_its_source_behind(waiting):
    flood(waiting, 100, lambda number: f"2001:db8:{number % 3}:{number:x}::1")
    waiting.drop_items(lambda _: True)
    waiting.drop("m0")
    assert (waiting._items, waiting._sources) == ({}, {})
