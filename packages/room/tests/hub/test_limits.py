"""A limit holds for all nodes together: each allows its share, and never less than one request at a time."""

from __future__ import annotations

import pytest

from tacit.base.errors import Refused
from tacit.hub.bounds.quotas import RateLimit


def allowed(limit: RateLimit, at: float) -> int:
    for count in range(1_000):
        try:
            limit.take("ann", at)
        except Refused:
            return count
    raise AssertionError("there is no limit")


@pytest.mark.parametrize(("nodes", "at_once", "a_second"), [(1, 40, 20), (2, 20, 10), (4, 10, 5)])
def test_each_node_allows_its_share(nodes: int, at_once: int, a_second: int) -> None:
    limit = RateLimit(20.0, 40.0, "requests")
    limit.nodes = lambda: nodes
    assert allowed(limit, 0.0) == at_once
    assert allowed(limit, 1.0) == a_second
    with pytest.raises(Refused) as refused:
        limit.take("ann", 1.0)
    assert (refused.value.code, refused.value.details["per_second"]) == ("rate_limited", a_second)


def test_a_share_that_is_less_than_one_request_is_one() -> None:
    limit = RateLimit(1.0, 4.0, "requests")
    limit.nodes = lambda: 50
    assert allowed(limit, 0.0) == 1
    assert allowed(limit, 3.9) == 0
    assert allowed(limit, 4.0) == 1


def test_a_node_that_comes_takes_its_share_of_what_is_saved_up() -> None:
    limit, nodes = RateLimit(20.0, 40.0, "requests"), [1]
    limit.nodes = lambda: nodes[0]
    limit.take("ann", 0.0)
    nodes[0] = 4
    assert allowed(limit, 0.0) == 10
