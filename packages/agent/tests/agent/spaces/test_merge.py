"""The merge of replicas: any order, any repeat, any loss that is made up for, one document."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets import bodies, schemas
from tacit.a2acp.packets.shapes import MalformedPacket
from tacit.agent.spaces import compare, merge
from tacit.agent.spaces.fields import MOST_FIELDS
from tacit.agent.spaces.levels import FULL_WRITE, READ_ALL, WRITE_OWN, first_level, may_write
from tacit.agent.spaces.merge import Version, fault
from tacit.agent.spaces.state import Cell, Member
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment

ANNA, BEN, CARL = (f"agent:{name}@relay.test" for name in ("anna", "ben", "carl"))
CREATED = Moment(1_000_000 * SECOND)
NOW = Moment(CREATED + 24 * 3600 * SECOND)

versions = st.builds(
    Version, st.integers(1, 4), st.integers(0, 3).map(Moment), st.sampled_from([ANNA, BEN, CARL])
)
replicas = st.dictionaries(st.sampled_from("abc"), versions, max_size=3)
changes = st.lists(st.tuples(st.sampled_from("abc"), versions), max_size=8)


def joined(one, two):
    """Two replicas as one: whoever holds the first takes all of the second."""
    return _taken([*one.items(), *two.items()])


@pytest.mark.spec("A2ACP-198", "A2ACP-199")
@given(replicas, replicas, replicas)
def test_the_merge_is_a_join(one, two, three):
    assert joined(one, two) == joined(two, one)
    assert joined(joined(one, two), three) == joined(one, joined(two, three))
    assert joined(one, one) == one
    both = joined(one, two)
    assert set(both) == set(one) | set(two), "different fields are both there"


def _taken(order, *, level=FULL_WRITE):
    """A replica as the engine makes one: change by change, each judged by `fault`."""
    held: dict[str, dict[str, Cell]] = {}
    for name, new in order:
        cells = held.setdefault(name, {})
        if fault(cells.get(new.by), new, level=level, created=CREATED, now=NOW, room=True) is None:
            cells[new.by] = Cell(new.v, new.at, new.by)
    return {
        name: merge.version(merge.standing(cells.values(), lambda _: level)) for name, cells in held.items()
    }


@pytest.mark.spec("A2ACP-199", "A2ACP-200")
@settings(max_examples=150)
@given(changes, st.randoms(use_true_random=False), st.lists(st.integers(0, 7), max_size=6))
def test_any_order_any_repeat_and_any_loss_made_up_for_end_in_the_same_replica(order, random, lost):
    others = [*order, *order]
    random.shuffle(others)
    late = [order[place] for place in lost if place < len(order)]
    partial = [one for one in others if one not in late]
    assert _taken(order) == _taken(others) == _taken([*partial, *late])
    greatest: dict[str, Version] = {}
    for name, new in order:
        greatest[name] = max(new, greatest.get(name, new))
    assert _taken(order) == greatest


LEVELS = (READ_ALL, WRITE_OWN, FULL_WRITE)
writes = st.lists(
    st.builds(
        lambda author, v, at, early: Cell(v, Moment(at), author, since=Moment(at - early)),
        st.sampled_from([ANNA, BEN, CARL]), st.integers(1, 6), st.integers(3, 9), st.integers(0, 3),
    ),
    max_size=9,
)  # fmt: skip
"""Of honest members and of one that says what it likes about when it began."""


def _replica(order, levels) -> dict[str, Cell]:
    """One field, as a replica holds it after these writes; what none of its rules refuses is no violation."""
    cells: dict[str, Cell] = {}
    for new in order:
        why = fault(
            cells.get(new.by), merge.version(new), level=levels[new.by], created=CREATED, now=NOW, room=True
        )
        assert why in {None, merge.STALE} or levels[new.by] == READ_ALL
        if why is None:
            cells[new.by] = new
    return cells


@pytest.mark.spec("A2ACP-199", "A2ACP-202", "A2ACP-203")
@settings(max_examples=300)
@given(
    writes, st.randoms(use_true_random=False), st.tuples(*[st.sampled_from(LEVELS)] * 3), st.integers(0, 9)
)
def test_whoever_may_write_what_replicas_agree_after_any_order_and_any_restore(order, random, given, lost):
    levels = dict(zip((ANNA, BEN, CARL), given, strict=True))
    # One member writes a version once: two of one count and moment are one.
    order = list({(write.by, write.v, write.at): write for write in order}.values())
    others = [*order, *order]
    random.shuffle(others)
    restored = [*_replica(order[:lost], levels).values(), *others]
    ends = [_replica(one, levels) for one in (order, others, restored)]
    assert ends[0] == ends[1] == ends[2]
    stands = merge.standing(ends[0].values(), levels.__getitem__)
    if stands is None:
        assert all(levels[cell.by] != FULL_WRITE for cell in ends[0].values())
    else:
        owns = merge.owner(ends[0].values()) == stands.by
        assert levels[stands.by] == FULL_WRITE or (levels[stands.by] == WRITE_OWN and owns)


@pytest.mark.spec("A2ACP-199", "A2ACP-200")
def test_the_greatest_of_count_moment_and_author_stands_in_every_order():
    same = [
        ("a", Version(2, Moment(5), BEN)),
        ("a", Version(2, Moment(5), ANNA)),
        ("a", Version(1, Moment(9), CARL)),
        ("a", Version(2, Moment(4), CARL)),
    ]
    found = {tuple(_taken(order).items()) for order in itertools.permutations(same)}
    assert found == {(("a", Version(2, Moment(5), BEN)),)}


@pytest.mark.spec("A2ACP-200")
@pytest.mark.parametrize(
    ("new", "why"),
    [
        (Version(2**63, NOW, BEN), merge.TOO_HIGH),
        (Version(24 * 3600 + 601, NOW, BEN), merge.TOO_HIGH),
        (Version(24 * 3600 + 600, NOW, BEN), None),
        (Version(9, Moment(NOW + 601 * SECOND), BEN), merge.TOO_LATE),
        (Version(4, NOW, BEN), merge.STALE),
        (Version(5, Moment(0), BEN), merge.STALE),
        (Version(5, CREATED, ANNA), merge.STALE),
        (Version(6, Moment(0), BEN), None),
    ],
)
def test_a_huge_count_a_moment_to_come_and_a_rollback_are_not_taken(new, why):
    held = Cell(5, CREATED, ANNA, ANNA)
    assert fault(held, new, level=FULL_WRITE, created=CREATED, now=NOW, room=True) == why


@pytest.mark.spec("A2ACP-200")
def test_the_highest_count_that_is_taken_does_not_win_for_ever():
    highest = merge.highest_count(CREATED, NOW)
    held = Cell(highest, Moment(NOW + merge.SKEW), BEN, ANNA)
    later = Moment(NOW + SECOND)
    assert (
        fault(held, Version(highest + 1, NOW, ANNA), level=FULL_WRITE, created=CREATED, now=later, room=True)
        is None
    )


@pytest.mark.parametrize(
    ("digest", "hours", "due"),
    [("same", 1, False), ("same", 23, False), ("same", 24, True), ("same", -1, True), ("other", 1, True)],
)
@pytest.mark.spec("A2ACP-201")
def test_replicas_that_were_found_alike_are_compared_again_when_something_changed_or_a_day_has_passed(
    digest, hours, due
):
    alike = Member(FULL_WRITE, agreed="same", agreed_at=NOW)
    assert compare.is_due(alike, digest, Moment(NOW + hours * 3600 * SECOND)) is due
    assert compare.is_due(Member(FULL_WRITE), digest, NOW)


@pytest.mark.spec("A2ACP-202", "A2ACP-203")
@pytest.mark.parametrize(
    ("level", "owner", "may"),
    [
        (READ_ALL, None, False),
        (READ_ALL, BEN, False),
        (WRITE_OWN, None, True),
        (WRITE_OWN, BEN, True),
        (WRITE_OWN, ANNA, False),
        (FULL_WRITE, ANNA, True),
        ("owner", BEN, False),
    ],
)
def test_a_level_says_what_its_member_may_write(level, owner, may):
    assert may_write(level, owner=owner, author=BEN) is may
    first = [Cell(1, CREATED, owner)] if owner not in {None, BEN} else []
    ours = Cell(2, NOW, BEN)
    stands = merge.standing([*first, ours], lambda author: level if author == BEN else FULL_WRITE)
    assert (stands == ours) is may


@pytest.mark.spec("A2ACP-203")
def test_the_second_member_gets_full_write_and_the_third_its_own_fields():
    assert [first_level(members) for members in (2, 3, 9)] == [FULL_WRITE, WRITE_OWN, WRITE_OWN]


@pytest.mark.spec("A2ACP-200")
def test_only_what_is_missing_is_found_and_what_a_former_self_wrote():
    held = {
        "a": Cell(2, Moment(5), ANNA, ANNA),
        "b": Cell(1, Moment(5), ANNA, ANNA),
        "c": Cell(7, Moment(5), BEN, BEN),
        "d": Cell(3, Moment(5), ANNA, ANNA, deleted=True),
    }
    theirs = {
        "a": Version(2, Moment(5), ANNA),
        "b": Version(4, Moment(9), ANNA),
        "e": Version(1, Moment(1), ANNA),
    }
    assert compare.lacking(held.items(), theirs, ANNA) == ["d"]
    assert compare.lost(held, theirs) == ["b", "e"]
    said = compare.field_versions(held.items(), BEN)
    assert list(said) == ["c"], "a comparison names nothing of a third's"
    told = msgspec.convert(said, dict[str, bodies.PacketFieldVersion])
    assert compare.read_versions(told, BEN) == {"c": Version(7, Moment(5), BEN)}


KNOWN = {"v": 1, "at": "2026-03-23T09:00:00Z", "by": BEN}


@pytest.mark.parametrize("said", [[], {"a": 1}, {"a": {**KNOWN, "v": True}}, {"a": {**KNOWN, "at": "x"}}])
def test_misshapen_versions_do_not_arrive(said):
    update = {"space_id": "spc_abcd", "changes": [], "field_versions": {"a": KNOWN}}
    schemas.check_in("space_update", update)
    with pytest.raises(MalformedPacket):
        schemas.check_in("space_update", {**update, "field_versions": said})


@pytest.mark.parametrize("paths", [[""], [f"a{number}" for number in range(MOST_FIELDS + 1)]])
def test_versions_of_what_names_no_field_or_of_too_many_are_none(paths):
    known = msgspec.convert(KNOWN, bodies.PacketFieldVersion)
    assert compare.read_versions(dict.fromkeys(paths, known), BEN) is None


@pytest.mark.spec("A2ACP-201")
def test_a_few_comparisons_in_a_row_are_answered_and_a_flood_is_not():
    answered: tuple[Moment, ...] = ()
    for _ in range(compare.ANSWERED):
        assert compare.may_answer(answered, NOW)
        answered = compare.after_answer(answered, NOW)
    assert not compare.may_answer(answered, NOW)
    assert compare.may_answer(answered, Moment(NOW + compare.WITHIN))


def test_what_is_no_link_is_refused():
    from tacit.agent.spaces import links

    for text in ("", "javascript:alert(1)", "no link", "https://a b", "x" * 3000):
        with pytest.raises(Refused):
            links.checked(text)
    tools = {"drive": {"prefix": "file:///a/"}, "deeper": {"prefix": "file:///a/b/"}}
    assert links.opener("file:///a/b/c.md", tools) == "deeper"
    assert links.opener("file:///a/../etc/passwd", tools) is None
    assert links.opener("file:///a/%2e%2e/etc/passwd", tools) is None
    assert links.opener("https://elsewhere/", tools) is None
