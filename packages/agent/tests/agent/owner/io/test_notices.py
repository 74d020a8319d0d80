"""What an owner reads of a notice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tacit.agent.features import NOTICES
from tacit.agent.kernel.records import Noticed
from tacit.agent.owner.io.notices import last_text, subject_of, text_of

REASON = "Cara's calendar refused the entry."


def keeping(read: Any) -> Any:
    """An agent, as far as its vault and its sentences."""
    return SimpleNamespace(vault=SimpleNamespace(value=read), sentences=NOTICES)


@pytest.mark.spec("A2ACP-169")
def test_what_could_not_be_carried_out_is_told_with_its_reason():
    notice = Noticed("thr_night", "action_failed", "val_why")
    assert (
        text_of(keeping({"val_why": {"reason": REASON}}.get), notice)
        == f"{NOTICES['action_failed']}. {REASON}"
    )
    assert subject_of(notice) is None


@pytest.mark.parametrize("kept", [None, "calendar", {"kind": "failed"}])
def test_a_notice_of_an_earlier_program_or_of_what_is_forgotten_has_its_sentence_alone(kept):
    notice = Noticed("thr_night", "action_failed", "calendar")
    assert text_of(keeping(lambda _: kept), notice) == NOTICES["action_failed"]


def test_any_other_notice_names_its_subject_and_looks_nothing_up():
    notice = Noticed("thr_night", "declined", "agent:cara@relay.example")
    assert text_of(keeping({notice.subject: {"reason": REASON}}.get), notice) == NOTICES["declined"]
    assert subject_of(notice) == notice.subject


def test_the_newest_notice_of_its_kind_is_the_one_that_is_shown():
    listed = [{"thread_id": "thr_a", "code": "action_failed", "text": text} for text in ("first", "second")]
    listed.append({"thread_id": "thr_b", "code": "action_failed", "text": "another"})
    assert last_text(keeping(None), listed, "thr_a", "action_failed") == "second"
    assert last_text(keeping(None), listed, "thr_a", "declined") == NOTICES["declined"]
