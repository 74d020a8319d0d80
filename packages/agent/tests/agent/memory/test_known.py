"""What a counterpart knows of the owner, on one page."""

from __future__ import annotations

from tacit.a2acp.consent.tiers import DEFAULT, Override
from tacit.agent.memory.known import known_of

BEN = "agent:ben@relay.example"


def receipt(field: str, value: object, at: str) -> dict:
    return {
        "field": field,
        "value": value,
        "at": at,
        "basis": "user_approved",
        "via": "page",
        "thread_id": "thr_1",
    }


def test_receipts_are_one_line_a_field_and_what_can_be_called_off_stands_beside_them():
    found = known_of(
        BEN,
        [
            receipt("dietary", "vegan", "2026-03-02T00:00:00Z"),
            receipt("dietary", "no fish", "2026-03-01T00:00:00Z"),
            receipt("status", "active", "2026-03-04T00:00:00Z") | {"basis": "space", "thread_id": "spc_1"},
            receipt("budget_range", None, "2026-03-03T00:00:00Z"),
        ],
        DEFAULT.__class__(
            always_share=("timezone",), overrides={BEN: Override(promote_to_always_share=("dietary",))}
        ),
        ["thr_open"],
    )
    assert [(one["field"], one["value"], one["times"]) for one in found["told"]] == [
        ("budget_range", None, 1),
        ("dietary", "vegan", 2),
        ("status", "active", 1),
    ]
    assert (found["told"][1]["first"], found["told"][1]["last"]) == (
        "2026-03-01T00:00:00Z",
        "2026-03-02T00:00:00Z",
    )
    assert found["can_be_undone"] == [
        {"what": "always_share", "field": "dietary", "for": "them"},
        {"what": "always_share", "field": "timezone", "for": "everybody"},
        {"what": "open", "thread_id": "thr_open"},
        {"what": "space", "field": "status", "thread_id": "spc_1"},
    ]
