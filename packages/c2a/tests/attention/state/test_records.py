"""Records: every kind comes back from the ledger as it was."""

from __future__ import annotations

import msgspec
import pytest

from tacit.attention.state import records
from tacit.ledger import envelope
from tacit.ledger.kinds import HOUSE
from tests.attention.world import START


@pytest.mark.spec("C2A-214")
def test_every_record_has_a_kind_of_the_house_and_comes_back_from_json() -> None:
    samples: list[records.Record] = [
        records.DeliveryRecord(event_id="e", session="s", policy="may_respond", mode="notify", directedness="ambient", reason="ambient"),
        records.ClaimRecord(target="event:e", session="s", action="take", expires_at=4),
        records.DispositionRecord(event_id="e", session="s", disposition="failed", error={"code": "x"}),
        records.EditRecord(supersedes="e", text="t"), records.DeleteRecord(event_id="e"),
        records.MembershipRecord(session="s", conversation="c", action="leave"),
        records.ProgressRecord(session="s", token="t", progress=0.5), records.DigestRecord(session="s", scope="c", policy="must_not_respond", text="t"),
        records.ApprovalRecord(approval_id="a", session="s", state="asked", what="w"), records.AuditRecord(what="w", details={"a": 1}),
        records.AcceptedRecord(session="s", event_ids=["e"], for_=["s"]), records.RulesRecord(values={"similarity": 0.8}),
        records.SessionRecord(session="s", version="2026-06-24", modes=["notify"]), records.UsageRecord(session="s", tokens_in=3),
        records.EphemeralRecord(session="s", key="k", where="channel:main", sha256="0", length=3),
        records.WorkRecord(event_id="e", session="s", state="failed", code="down", message="m", retry_at=7),
        records.WithdrawalRecord(notice_id="n", actor_id="user", event_id="e", by="s"),
        records.TurnRecord(session="s", event_id="e", files=["a.py"], cost_usd=0.5),
    ]  # fmt: skip
    assert {records.kind_of(one) for one in samples} == set(records.KINDS)
    for one in samples:
        kind = records.kind_of(one)
        assert kind.startswith(HOUSE)
        made = envelope.Event(
            v=1,
            id="x",
            ts="2026-06-02T19:10:00Z",
            seq=1,
            kind=kind,
            group_id="g",
            scope_key="",
            by="system",
            data=records.data_of(one),
        )
        assert records.record_of(envelope.decode(msgspec.json.encode(made))) == one
    assert records.moment_of(made) == START
