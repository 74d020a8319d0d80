"""How an ACP agent says that its turn is over, and what that means."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from acp.schema import PromptResponse

from tacit.harness.drivers.io.acp import Acp, _outcome
from tacit.harness.drivers.io.turns import LiveTurn
from tacit.harness.drivers.port import TokenUsage
from tests.harness.drivers.rigs import RecordingWatch, turn


@pytest.mark.spec("C2A-163")
@pytest.mark.parametrize(
    ("reason", "said", "text", "failure"),
    [
        ("end_turn", "done", "done", None),
        ("cancelled", "half", "", ("cancelled", "cancelled")),
        ("refusal", "no", "", ("permanent", "model_refused")),
        ("max_tokens", "", "", ("permanent", "context_full")),
        # What was said before the end came is an answer.
        ("max_tokens", "half", "half", None),
    ],
)
async def test_the_reason_for_which_a_turn_stopped_is_its_outcome(reason, said, text, failure):
    live = LiveTurn(turn(), RecordingWatch())
    counts = {"inputTokens": 9, "outputTokens": 2, "cachedReadTokens": 4, "totalTokens": 11}
    result = PromptResponse.model_validate({"stopReason": reason, "usage": counts})
    found = _outcome(live, result, said, "s1")
    assert (found.text, found.session_id) == (text, "s1")
    assert (found.failure and (found.failure.kind.value, found.failure.code)) == failure
    assert live.usage == TokenUsage(9, 2, 4)


@pytest.mark.parametrize(
    ("written", "told"), [("fatal: no model", "fatal: no model"), ("", "no such model [redacted]")]
)
async def test_the_cause_is_what_the_agent_wrote_else_what_it_answered_without_a_key(written, told):
    async def last_words():
        return written

    options = SimpleNamespace(key="sk-live-0123456789")
    acp = SimpleNamespace(last_words=last_words, _options=options)
    assert await Acp._cause(acp, ValueError(f"no such model {options.key}")) == told
