"""What is remembered of one counterpart, as values: dates, confidence, contradictions, habits, trust."""

from __future__ import annotations

import pytest

from tacit.agent.memory import patterns, relationship
from tacit.agent.memory.relationship import HIGH, LOW, MEDIUM, OWNER, Change, Episode, Known, Relationship
from tacit.base.moment import DAY, Moment, parse_rfc3339

NOW = parse_rfc3339("2026-03-20T12:00:00Z")


def told(key: str, value: object, days_ago: int = 0) -> tuple[str, object, Moment]:
    return key, value, Moment(NOW - days_ago * DAY)


def episodes(*requested: str) -> list[Episode]:
    """One thread for each text, with the fields that it names."""
    return [
        Episode(f"thr_{number}", NOW, "scheduling", "COMPLETED", requested=tuple(names.split()))
        for number, names in enumerate(requested)
    ]


@pytest.mark.spec("A2ACP-189", "A2ACP-190")
def test_each_value_has_its_own_date_and_confidence():
    found, _ = relationship.learned(
        Relationship(),
        [told("dietary", "no fish", 100), told("transport_mode", "usually drives", 2)],
        "thr_1",
    )
    assert {key: (one.at, relationship.confidence(one, NOW)) for key, one in found.cache.items()} == {
        "dietary": (Moment(NOW - 100 * DAY), LOW),
        "transport_mode": (Moment(NOW - 2 * DAY), MEDIUM),
    }
    again, _ = relationship.learned(found, [told("dietary", "No  fish")], "thr_2")
    assert relationship.confidence(again.cache["dietary"], NOW) == HIGH
    assert again.cache["dietary"].times == 2
    same_thread, _ = relationship.learned(again, [told("dietary", "no fish")], "thr_2")
    assert same_thread.cache["dietary"].times == 2


@pytest.mark.spec("A2ACP-192")
@pytest.mark.parametrize(("days", "used"), [(0, True), (89, True), (90, True), (91, False), (400, False)])
def test_a_value_is_used_for_ninety_days_and_then_asked_for_again(days, used):
    found = Relationship(cache={"transport_mode": Known("usually drives", Moment(NOW - days * DAY), times=9)})
    assert (list(relationship.usable(found, NOW)) == ["transport_mode"]) is used
    assert (relationship.to_verify(found, NOW) == ("transport_mode",)) is not used
    assert relationship.to_verify(found, Moment(NOW + 1)) == (() if days < 90 else ("transport_mode",))


@pytest.mark.spec("A2ACP-193")
def test_a_contradiction_takes_the_old_value_s_place_and_is_noted_with_its_date():
    before, none = relationship.learned(Relationship(), [told("dietary", "no fish", 9)], "thr_1")
    after, contradicted = relationship.learned(before, [told("dietary", "vegan", 1)], "thr_2")
    assert none == ()
    assert contradicted == ("dietary",)
    assert after.cache["dietary"].value == "vegan"
    assert after.cache["dietary"].times == 1
    assert after.changes == (relationship.Change("dietary", "no fish", "vegan", Moment(NOW - DAY)),)
    # What was said before that is no news.
    late, nothing = relationship.learned(after, [told("dietary", "no fish", 5)], "thr_3")
    assert (late, nothing) == (after, ())


@pytest.mark.spec("A2ACP-194")
def test_the_owner_s_word_stands_over_what_was_told_before_and_what_is_forgotten_is_not_learned_again():
    before, _ = relationship.learned(Relationship(), [told("dietary", "no fish", 3)], "thr_1")
    mine = relationship.corrected(before, "dietary", "eats all", NOW)
    assert (mine.cache["dietary"].source, mine.changes[0].source) == (OWNER, OWNER)
    assert relationship.learned(mine, [told("dietary", "no fish", 1)], "thr_1")[0] == mine
    gone = relationship.without(mine, "dietary", NOW)
    assert (gone.cache, gone.changes) == ({}, ())
    assert relationship.learned(gone, [told("dietary", "no fish", 1)], "thr_1")[0] == gone
    later = ("dietary", "no fish", Moment(NOW + 1))
    assert relationship.learned(gone, [later], "thr_2")[0].cache["dietary"].value == "no fish"
    everything = relationship.without(Relationship(), relationship.EVERYTHING, NOW)
    assert relationship.learned(everything, [told("dietary", "no fish")], "thr_2")[0].cache == {}


def test_nobody_fills_the_memory_by_talking():
    found = Relationship()
    for number in range(200):
        found, _ = relationship.learned(found, [told("dietary", f"diet {number}", 0)], f"thr_{number}")
        found = relationship.with_episode(found, Episode(f"thr_{number}", NOW, "", "COMPLETED"))
        found, _ = relationship.learned(found, [told(f"key{number}", number)], f"thr_{number}")
    assert len(found.cache) == relationship.MOST_VALUES
    assert len(found.changes) == relationship.MOST_CHANGES
    assert len(found.episodes) == relationship.MOST_EPISODES
    long, _ = relationship.learned(Relationship(), [told("dietary", "x" * 600), told("dietary", "")], "thr_1")
    assert long.cache == {}


@pytest.mark.spec("A2ACP-188")
@pytest.mark.parametrize(
    ("threads", "usual"),
    [
        (("dietary",), ()),
        (("dietary", "dietary"), ("dietary",)),
        (("dietary", "", "dietary", ""), ("dietary",)),
        (("dietary", "", "dietary", "", ""), ()),
        (("dietary", "dietary", "", "", "", ""), ()),
        (("dietary", "dietary", "dietary", "", "", ""), ("dietary",)),
        (("dietary",) * 6 + ("",) * 4, ()),
        (("a b", "b", "b c", "c"), ("b", "c")),
    ],
)
def test_usual_is_what_half_of_the_last_six_threads_had_and_two_at_least(threads, usual):
    assert patterns.usually_requests(episodes(*threads)) == usual


@pytest.mark.spec("A2ACP-190")
@pytest.mark.parametrize(
    ("completed", "flagged", "level"),
    [(0, False, "new"), (2, False, "new"), (3, False, "familiar"), (9, False, "familiar"),
     (10, False, "established"), (10, True, "familiar"), (2, True, "new")],
)  # fmt: skip
def test_trust_comes_from_what_was_brought_to_its_end_and_from_nothing_else(completed, flagged, level):
    assert patterns.trust_level(completed, flagged=flagged) == level
    signals = patterns.trust_signals(completed, 0, 3, flagged=flagged)
    assert signals[:3] == [
        f"{completed} successful threads", "0 declined resolutions", "user promoted to always_share 3 fields",
    ]  # fmt: skip
    assert ("flagged for malformed packets" in signals) is flagged


@pytest.mark.spec("A2ACP-187")
def test_habits_are_read_from_the_last_threads():
    minute = 60 * 1_000_000
    done = [
        Episode("thr_1", NOW, "scheduling", "COMPLETED", ("dietary",), ("budget_range",), (), (30 * minute,),
                {"time": "flexible", "date": "not_flexible"}, 1),
        Episode("thr_2", NOW, "scheduling", "COMPLETED", ("dietary",), ("budget_range",), (), (40 * minute,),
                {"time": "flexible", "date": "somewhat_flexible"}, 1),
        Episode("thr_3", NOW, "scheduling", "DECLINED", (), (), (), (), {}, 4),
    ]  # fmt: skip
    assert patterns.usually_shares(done) == ("dietary",)
    assert patterns.usually_declines(done) == ("budget_range",)
    assert patterns.response_time(done) == "PT35M"
    assert patterns.flexibility(done) == {"time": "high", "date": "medium"}
    assert patterns.resolution_style(done) == "quick_decision"
    assert patterns.resolution_style([]) is None
    assert patterns.response_time([Episode("t", NOW, "", "", waited=(90 * minute,))]) == "PT1H30M"
    assert patterns.response_time([Episode("t", NOW, "", "", waited=(20_000_000,))]) == "PT20S"


@pytest.mark.spec("A2ACP-187")
def test_how_far_somebody_bends_is_what_they_said_most_often_of_equals_the_latest():
    def bends(*said: str) -> dict[str, str]:
        return patterns.flexibility(
            [Episode("t", NOW, "scheduling", "COMPLETED", flexibility={"time": one}) for one in said]
        )

    flexible, somewhat, firm = patterns._LEVELS
    assert bends() == {}
    assert bends(firm, flexible, flexible, firm, flexible) == {"time": "high"}
    assert bends(flexible, flexible, firm, firm) == {"time": "low"}
    assert bends(somewhat, flexible, somewhat, firm, firm, firm) == {"time": "low"}


@pytest.mark.spec("A2ACP-187")
def test_the_values_of_a_key_are_those_it_has_and_had_and_of_no_other():
    known = Relationship(
        cache={"diet": Known("vegan", NOW), "city": Known("Paris", NOW)},
        changes=(Change("diet", "vegetarian", "vegan", NOW), Change("city", "Rome", "Paris", NOW)),
    )
    assert relationship.values_of(known, "diet") == ("vegan", "vegetarian", "vegan")
    assert relationship.values_of(known, "") == (
        "vegan", "Paris", "vegetarian", "vegan", "Rome", "Paris",
    )  # fmt: skip
