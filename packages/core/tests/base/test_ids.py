from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base import ids

MS = st.integers(0, 2**48 - 1)
RANDOM = st.integers(0, 2**74 - 1)


@pytest.mark.spec("CCCS-016")
@given(MS, RANDOM)
def test_an_id_is_a_uuid_version_7_that_keeps_its_time_and_randomness(ms: int, random: int) -> None:
    made = uuid.UUID(bytes=ids.compose(ms, random))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == ms
    assert ((made.int >> 64 & 0xFFF) << 62 | made.int & (1 << 62) - 1) == random


@given(st.binary(min_size=16, max_size=16))
def test_text_and_bytes_of_an_id_are_two_forms_of_one(raw: bytes) -> None:
    assert ids.text(raw) == str(uuid.UUID(bytes=raw))
    assert ids.raw(ids.text(raw)) == raw


@given(st.text(alphabet="0123456789abcdefABCDEF- \t\ng{}", min_size=30, max_size=40) | st.text())
def test_whatever_is_read_as_an_id_is_written_back_the_same(text: str) -> None:
    raw = ids.raw(text)
    assert raw is None or (len(raw) == 16 and ids.text(raw) == text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user",
        "019bb6cc490076c5a5224a58b7f163d9",
        "019BB6CC-4900-76C5-A522-4A58B7F163D9",
        "{19bb6cc-4900-76c5-a522-4a58b7f163d}",
        "019bb6cc-4900-76c5-a522-4a58b7f163d ",
        "019bb6 c-4900-76c5-a522-4a58b7f163  ",
        "019bb6  -4900-76c5-a522-4a58b7f163d9",
        "019bb6cc-4900-76c5-a522-4a58b7f1-3d9",
    ],
)
def test_what_does_not_look_like_an_id_is_none(text: str) -> None:
    assert ids.raw(text) is None


@pytest.mark.spec("CCCS-015", "CCCS-016")
@given(st.lists(st.tuples(st.integers(0, 50), RANDOM), min_size=2, max_size=200))
def test_ids_rise_whatever_the_clock_does(draws: list[tuple[int, int]]) -> None:
    source = ids.Uuid7()
    made = [source.next(ms, random) for ms, random in draws]
    assert made == sorted(set(made))


@given(st.lists(st.tuples(st.integers(0, 50), RANDOM), max_size=50))
def test_both_forms_of_an_id_are_made_alike(draws: list[tuple[int, int]]) -> None:
    source = ids.Uuid7()
    for ms, random in draws:
        made, text = source.pair(ms, random)
        assert text == ids.text(made)
        assert uuid.UUID(bytes=made).version == 7


@pytest.mark.spec("CCCS-016")
@pytest.mark.parametrize(("random", "step"), [(0, 1), (5, 6), (0xFFFF, 0x10000), (0x10000, 1)])
def test_within_one_millisecond_the_next_id_is_a_random_step_away(random: int, step: int) -> None:
    source = ids.Uuid7()
    first, second = source.next(5, 0), source.next(5, random)
    assert int.from_bytes(second[8:], "big") - int.from_bytes(first[8:], "big") == step


def test_ids_rise_when_the_random_part_overflows_within_one_millisecond() -> None:
    source = ids.Uuid7()
    first = source.next(5, 2**74 - 1)
    source._counting = (0b11 << 62) - 2
    second = source.next(5, 0xFFFF)
    third = source.next(5, 0)
    assert first < second < third
    assert int.from_bytes(second[:6], "big") == 6
