"""A driver as a personal agent's mind: a prompt as a turn, an outcome as an answer (A2ACP-064, A2ACP-085).

The rule owned here: a thought is a turn that is forgotten. It has no tools and no folder of a person's; what
is ours stands where the agent keeps system text, the rest is in the user role, and the answer's form is said
in words too, since not every agent can hold its model to a schema. What came of it is an answer, or
`ModelAway` with how long to wait, and whether waiting helps at all.

Pure. Drivers are run by `io/minds.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.language_model import ModelAway, ModelReply
from tacit.harness.drivers.failures import sentence
from tacit.harness.drivers.port import FailureKind, StandingInstructions, TurnRequest, cut
from tacit.harness.prices import priced

if TYPE_CHECKING:
    from tacit.base.language_model import Prompt
    from tacit.harness.drivers.port import Price, TurnOutcome

LONGEST_ANSWER: Final = 256 * 1024
"""Bytes of an answer that are handed on: the largest thought is a few kilobytes."""
_FORM: Final = "Answer with one JSON object by this JSON Schema, no words around it, no code fence:\n"


def thought(prompt: Prompt, turn_id: str) -> TurnRequest:
    """The turn for a prompt."""
    form = _FORM + msgspec.json.encode(prompt.schema).decode()
    rules = f"{prompt.standing}\n\n{form}" if prompt.standing else form
    return TurnRequest(
        turn_id,
        StandingInstructions(rules),
        prompt.words,
        time_limit=prompt.longest,
        forget=True,
        schema=prompt.schema,
    )


def reply(outcome: TurnOutcome, *, model: str, price: Price | None, prompt_bytes: int) -> ModelReply:
    """What a model answered; raises `ModelAway` when it did not."""
    if (failure := outcome.failure) is not None:
        lasting = failure.kind is FailureKind.PERMANENT
        raise ModelAway(sentence(failure), retry_after=failure.retry_after, lasting=lasting)
    if not outcome.text.strip():
        raise ModelAway("the model said nothing")
    if len(outcome.text.encode()) > LONGEST_ANSWER:
        # Its beginning is no JSON, and tokens were paid for it: it is a bad answer, and counts as one.
        outcome = replace(outcome, text=cut(outcome.text, LONGEST_ANSWER))
    known = priced(outcome, price, prompt_bytes)
    return ModelReply(known.text, model, known.usage.input, known.usage.output, known.cost_usd)
