"""What the simulation of many agents (`bench.sizing`) adds up: nothing is lost, and what sleeps is not applied."""

from array import array
from random import Random

import pytest

from bench import sizing_model as model
from bench.sizing_costs import of_words, parts
from bench.sizing_model import Costs, Load, Population

COSTS = Costs(
    measured="",
    machine="",
    replicas=3,
    idle=0.0,
    append_event=100.0,
    append_message=200.0,
    append_commit=1000.0,
    writer_event=50.0,
    writer_message=100.0,
    writer_commit=500.0,
    commit_seconds=0.002,
    applied_event=400.0,
    noted_message=90.0,
    brought_up_event=300.0,
    forwarded=150.0,
    here_said=70.0,
    here_heard=50.0,
    hot_group=5000.0,
    server_message=100.0,
    event_bytes=500.0,
    cache_bytes=900.0,
    join_seconds=1e-5,
    read_seconds=1e-4,
    subject_bytes=300.0,
    lease_bytes=300.0,
    session_bytes=40_000.0,
    agent_events=5.0,
    agent_messages=4.0,
    stream_rate=3000.0,
)


def one_group(connected: int, questions_an_hour: float = 3600.0) -> Population:
    return Population(
        array("l", [max(2, connected)]), array("l", [connected]), array("d", [questions_an_hour])
    )


def sums_up(loads: list[Load], messages: float) -> bool:
    """Of every message each node has written, applied or noted it, and only one of these."""
    return all(
        one.written + one.applied + one.noted == pytest.approx(messages, rel=1e-9, abs=1e-9) for one in loads
    )


def test_of_a_group_that_nobody_reads_every_other_node_only_notes_what_is_new(monkeypatch):
    monkeypatch.setattr(model, "READS_A_QUESTION", 0.0)
    day = model.placed(one_group(0), 4, Random(1), COSTS)
    assert day.messages > 1
    assert sum(one.applied for one in day.nodes) == 0
    assert sorted(one.noted for one in day.nodes) == pytest.approx([0.0, *[day.messages] * 3])
    assert sum(one.awake for one in day.nodes) == 1  # where it is written


def test_where_somebody_is_connected_all_is_applied():
    day = model.placed(one_group(500), 4, Random(1), COSTS)
    assert [one.awake for one in day.nodes] == [1] * 4
    assert sum(one.applied for one in day.nodes) == pytest.approx(3 * day.messages)
    assert max(one.noted for one in day.nodes) == pytest.approx(0, abs=1e-6)
    assert sum(one.agents for one in day.nodes) == 500


def test_a_read_without_a_connection_has_the_group_awake_there_for_a_while(monkeypatch):
    asleep = model.placed(one_group(0, 1.0), 50, Random(2), COSTS)
    monkeypatch.setattr(model, "AWAKE_SECONDS", 3600.0 * 24)
    awake = model.placed(one_group(0, 1.0), 50, Random(2), COSTS)
    assert sum(one.awake for one in asleep.nodes) <= 2 < sum(one.awake for one in awake.nodes)


def test_every_message_is_written_applied_or_noted_once_at_each_node_also_after_a_death():
    population = model.populated(4_000, Random(3))
    day = model.placed(population, 5, Random(4), COSTS)
    assert sums_up(day.nodes, day.messages)
    left = model.after_death(day, Random(5))
    assert len(left) == 4
    assert sums_up(left, day.messages)
    for figure in ("agents", "written", "events", "commands"):
        whole = sum(getattr(one, figure) for one in day.nodes)
        assert sum(getattr(one, figure) for one in left) == pytest.approx(whole)
    assert all(after.written > before.written for after, before in zip(left, day.nodes[1:], strict=True))
    assert sum(one.written for one in day.nodes) == pytest.approx(day.messages)


def test_the_death_of_a_node_costs_those_that_are_left():
    day = model.placed(model.populated(4_000, Random(3)), 3, Random(4), COSTS)

    def whole(loads: list[Load]) -> float:
        return sum(model.processor(load, COSTS)[0] for load in loads)

    assert whole(model.after_death(day, Random(5))) > whole(day.nodes[1:])


def test_the_same_seed_gives_the_same_day_and_another_seed_another():
    def of(seed: int) -> list[Load]:
        return model.placed(model.populated(2_000, Random(seed)), 3, Random(seed), COSTS).nodes

    assert of(6) == of(6)
    assert of(6) != of(7)


def test_ledgers_are_the_whole_cut_into_parts():
    population = model.populated(3_000, Random(8))
    total = len(population.sizes)
    days = [model.placed(population, 3, Random(n), COSTS, only=range(n, total, 4)) for n in range(4)]
    assert sum(day.groups for day in days) == total
    assert sum(load.agents for day in days for load in day.nodes) == sum(population.connected)


def test_a_population_has_as_many_agents_as_it_was_asked_for_and_heavy_tails():
    population = model.populated(50_000, Random(9))
    assert population.agents == 50_000
    sizes = sorted(population.sizes)
    assert sizes[len(sizes) // 2] < sum(sizes) / len(sizes) < sizes[-1] / 10
    assert sum(population.connected) == pytest.approx(25_000, rel=0.03)
    asked = 50_000 * model.QUESTIONS_A_DAY * max(model.hours())
    assert sum(population.rates) == pytest.approx(asked, rel=0.25)


def test_the_day_has_a_night():
    assert sum(model.hours()) == pytest.approx(1)
    assert max(model.hours()) > 2 * min(model.hours())


@pytest.mark.parametrize("mean", [0.1, 3.0, 200.0])
def test_what_happens_by_itself_happens_as_often_as_it_should(mean):
    dice = Random(10)
    assert sum(model.some(mean, dice) for _ in range(4_000)) / 4_000 == pytest.approx(mean, rel=0.15)


@pytest.mark.parametrize(
    ("load", "cores", "thread"),
    [
        (Load(), 0.0, 0.0),
        (Load(applied=1000.0), 0.4, 0.4),
        (Load(noted=1000.0), 0.09, 0.09),
        (Load(forwarded=1000.0), 0.15, 0.0),
        (Load(heard=1000.0), 0.05, 0.0),
        # 500 messages a second: one commit under way takes 2 ms, so that the next has two.
        (Load(written=500.0, events=500.0), 0.05 + 0.1 + 0.25, 0.025 + 0.05 + 0.125),
        # Of 3,000 groups a hundred a second in their turn, however many agents are connected; and of 100 in which one works.
        (Load(present=3000.0, agents=9000.0, signs=100.0), 200 * 70 / 1e6, 0.0),
    ],
)
def test_each_sort_of_work_costs_what_one_of_it_does(load, cores, thread):
    assert model.processor(load, COSTS) == (pytest.approx(cores), pytest.approx(thread))
    assert sum(model.by_cause(load, COSTS).values()) == pytest.approx(cores)


def test_a_node_fits_with_headroom_in_its_cores_its_writers_one_and_its_memory():
    most = model.HEADROOM / COSTS.applied_event * 1e6
    assert model.fits([Load(applied=most * 0.99)], COSTS)
    assert not model.fits([Load(), Load(applied=most * 1.01)], COSTS)
    heard = model.HEADROOM * model.CORES / COSTS.here_heard * 1e6
    assert model.fits([Load(heard=heard * 0.99)], COSTS)
    assert not model.fits([Load(heard=heard * 1.01)], COSTS)
    agents = model.HEADROOM * model.MEMORY / COSTS.session_bytes
    assert model.fits([Load(agents=agents * 0.99)], COSTS)
    assert not model.fits([Load(agents=agents * 1.01)], COSTS)


def test_commands_share_a_message_only_while_one_is_under_way():
    assert model.shared(0.0, 0.002) == 1
    assert model.shared(1000.0, 0.002) == pytest.approx(3)


def test_after_a_rolling_update_nothing_is_lost_and_who_was_last_has_nothing():
    found = model.rolled([1.0, 1.0, 1.0, 1.0])
    assert sum(found) == pytest.approx(4)
    assert found[-1] == 0
    assert found[0] == max(found)
    assert model.rolled([2.0]) == [2.0]


def test_costs_of_events_messages_and_commits_are_told_apart():
    event, message, commit = 100.0, 200.0, 1000.0
    lone, many = event + message + commit, event + message + commit / 64
    hot = event + (message + commit) / 128
    assert parts(lone, many, hot, 64, 128) == pytest.approx((event, message, commit))
    assert min(parts(10.0, 50.0, 70.0, 64, 128)) >= 0


def test_each_node_hears_what_all_others_say_of_who_is_connected():
    day = model.placed(model.populated(2_000, Random(11)), 4, Random(12), COSTS)
    words = [model.said(load) for load in day.nodes]
    assert [load.heard for load in day.nodes] == pytest.approx([sum(words) - own for own in words])
    left = model.after_death(day, Random(13))
    signs = sum(load.signs for load in day.nodes)
    assert signs > 0
    assert sum(load.signs for load in left) == pytest.approx(signs)
    assert sum(load.heard for load in left) == pytest.approx(
        3 * sum(map(model.said, left)) - sum(map(model.said, left))
    )


def test_what_a_word_costs_is_measured_with_what_nodes_say():
    found = of_words()
    assert 0 < found["here_said"] < 10_000
    assert 0 < found["here_heard"] < 10_000
