"""What lasts no whole minute has no written form: it is left out wherever stretches are listed, and holds up nothing."""

from __future__ import annotations

import pytest

from tacit.base.moment import parse_rfc3339
from tests.agent.scheduling.desk import Desks, begun, desks, span

LUNCH = "lunch with ben today"
SLIVER = span("2026-03-23T12:20:10Z", "2026-03-23T12:20:40Z")


def at(both: Desks, clock: str) -> None:
    """It is later, for both."""
    both.anna.now = both.ben.now = parse_rfc3339(f"2026-03-23T{clock}Z")


@pytest.mark.spec("A2ACP-074")
@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("11:29:30", "11:29:59"),
        ("11:29:30", "11:30:20"),
        ("11:30:30", "11:31:20"),
        ("11:30:30", "11:31:00"),
        ("12:19:30", "12:21:30"),
    ],
)
@pytest.mark.parametrize("busy", [(), (SLIVER,)], ids=["free", "with a sliver"])
def test_a_wish_for_now_is_proposed_whatever_second_it_is(asked, answered, busy):
    both = desks(anna={"busy": busy}, ben={"busy": busy})
    at(both, asked)
    thread = begun(both, LUNCH)
    at(both, answered)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-041", "A2ACP-074")
def test_a_clash_is_told_without_stretches_of_no_whole_minute():
    most = span("2026-03-23T11:00:00Z", "2026-03-23T14:29:30Z")
    both = desks(ben={"busy": (most,)})
    at(both, "11:30:30")
    thread = begun(both, LUNCH)
    at(both, "11:31:20")
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    (offer,) = [one for one in both.ben.sent if one.fields.get("context", {}).get("conflict")]
    assert offer.fields["context"]["time_windows"]
    assert both.anna.state(thread) == "PROPOSED"
