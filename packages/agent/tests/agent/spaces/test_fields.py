"""Names and values of fields, lists and their items, and what an owner is told of."""

from __future__ import annotations

import itertools

import pytest

from tacit.agent.spaces.fields import LARGEST_VALUE, checked_path, document, is_path, is_value, written
from tacit.agent.spaces.notify import is_meaningful
from tacit.base.errors import Refused

ME, BEN = "agent:anna@relay.test", "agent:ben@relay.test"


@pytest.mark.spec("A2ACP-200")
@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "a/",
        "/a",
        "a//b",
        "x" * 10_240,
        "a/" * 7 + "b",
        "a\nb",
        "a\u202eb",
        "a/ b",
        "e\u0301",
        7,
        None,
    ],
)
def test_what_names_no_field_is_refused(path):
    assert not is_path(path)


def test_an_item_of_a_list_without_an_id_is_no_field():
    assert not is_path("tasks/")
    assert is_path("tasks/itm_1")


@pytest.mark.spec("A2ACP-200")
@pytest.mark.parametrize("value", [None, [], [1], "x" * (LARGEST_VALUE + 1), {1, 2}])
def test_what_no_field_may_hold(value):
    assert not is_value(value)


@pytest.mark.spec("A2ACP-197", "A2ACP-200")
def test_a_list_becomes_its_items_each_with_an_id_and_is_a_list_again_in_the_document():
    ids = (f"itm_{number}" for number in itertools.count(1))
    found = list(
        written("decisions", ["one", {"id": "d7", "text": "two"}, {"text": "three"}], lambda: next(ids))
    )
    assert found == [
        ("decisions/itm_1", "one"),
        ("decisions/d7", {"id": "d7", "text": "two"}),
        ("decisions/itm_2", {"text": "three"}),
    ]
    assert document([("tasks/itm_2", "b"), ("tasks/itm_1", "a"), ("status", "active"), ("a/b", 1)]) == {
        "tasks": ["a", "b"],
        "status": "active",
        "a": {"b": 1},
    }


def test_a_field_with_a_value_and_others_below_it_loses_neither():
    assert document([("a", 1), ("a/b", 2)]) == {"a": {"": 1, "b": 2}}


def test_a_name_in_another_form_is_the_same_name():
    assert checked_path(" cafe\u0301 ") == "caf\xe9"
    with pytest.raises(Refused):
        checked_path("x" * 10_240)


@pytest.mark.spec("A2ACP-205")
@pytest.mark.parametrize(
    ("notify", "path", "value", "before_by", "told"),
    [
        ("all", "notes", "x", "", True),
        ("none", "status", "done", ME, False),
        ("mentions_me", "notes", "x", "", False),
        ("mentions_me", "notes", "x", BEN, False),
        ("mentions_me", "notes", "x", ME, True),
        ("mentions_me", "status", "done", "", True),
        ("mentions_me", "tasks/t1/status", "done", "", True),
        ("mentions_me", "decisions/d1", {"text": "x"}, "", True),
        ("mentions_me", "tasks/t1", {"task": "x", "assigned_to": "anna"}, "", True),
        ("mentions_me", "tasks/t1", {"task": "x", "assigned_to": ME}, "", True),
        ("mentions_me", "tasks/t1", {"task": "x", "assigned_to": "ben"}, "", False),
    ],
)
def test_an_owner_is_told_of_what_concerns_it(notify, path, value, before_by, told):
    assert is_meaningful(notify, ME, path, value, before_by) is told


@pytest.mark.spec("A2ACP-205")
def test_an_item_that_was_assigned_to_the_owner_and_no_longer_is_concerns_it_too():
    was = {"task": "x", "assigned_to": "anna"}
    assert is_meaningful("mentions_me", ME, "tasks/t1", {"task": "x", "assigned_to": "ben"}, BEN, was)
