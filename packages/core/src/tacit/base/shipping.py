"""What became of a batch that was sent to a stream on other machines: the rule, without the network.

A publish is guarded by the sequence that its subject ends with, so that of all that were sent with one
guard at most one is ever taken. What the answers mean is not obvious (each of these was seen):

- A repeat of what was taken is answered `duplicate` or "wrong last sequence", depending on replicas: so
  after an attempt of which nobody can tell, "wrong last sequence" says nothing, and what follows the guard
  is looked at. If it carries our id it is ours.
- "Not there" is not "never": what the network held back may land after the leader denied it. So nobody
  hears "not written" before the subject has moved: the same batch again, under the same id and the same
  guard, or a fence, an empty message with that guard. Until then the fate is unknown.
- The guard of a batch is never renewed while its fate is unknown: with another guard it could be taken
  twice.

Knows nothing of time and sockets: who drives it says what was answered.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeAlias

import msgspec


class BatchStored(msgspec.Struct, frozen=True):
    """The answer to a publish: it stands under this sequence, since now or since an earlier attempt."""

    sequence: int


class Elsewhere(msgspec.Struct, frozen=True):
    """The answer to a publish: the subject does not end where the guard says."""


class Nobody(msgspec.Struct, frozen=True):
    """The answer to a publish: nobody is there who could have taken it."""


class Silence(msgspec.Struct, frozen=True):
    """No answer in time, or a broken connection: it may have been taken, or be on its way still."""


class Declined(msgspec.Struct, frozen=True):
    """The answer to a publish: the stream does not take it now, for a reason of its own."""

    code: int


class BatchFound(msgspec.Struct, frozen=True):
    """What follows the guard on the subject: its sequence and the id of its batch."""

    sequence: int
    batch_id: str


class NothingThere(msgspec.Struct, frozen=True):
    """Nothing follows the guard yet, as far as the leader says; or it says nothing."""


Answer: TypeAlias = BatchStored | Elsewhere | Nobody | Silence | Declined | BatchFound | NothingThere


class ShippingStep(Enum):
    """What to do next about a batch."""

    PUBLISH = "publish"
    LOOK = "look"
    FENCE = "fence"


class Fate(Enum):
    """What became of a batch."""

    KEPT = "kept"
    OVERTAKEN = "overtaken"
    NOT_WRITTEN = "not written"
    UNKNOWN = "unknown"


FENCE_SUFFIX: Final = ".fence"
FENCES: Final = 2
"""How many of the tries are fences, when the batch itself was sent in vain before."""


class Tracking(msgspec.Struct, frozen=True):
    """One batch on its way.

    `doubt`: an attempt may still be taken. `fencing`: the batch itself is not sent any more.
    """

    batch_id: str
    tries: int
    doubt: bool = False
    fencing: bool = False
    step: ShippingStep = ShippingStep.PUBLISH
    fate: Fate | None = None
    sequence: int = 0


def again(tracking: Tracking, tries: int) -> Tracking:
    """Take up a batch whose fate stayed unknown: callers have heard so, and now the subject is moved."""
    return Tracking(tracking.batch_id, tries, doubt=True, fencing=True, step=ShippingStep.FENCE)


def after(tracking: Tracking, answer: Answer) -> Tracking:
    """The next step, or the fate."""
    match tracking.step, answer:
        case ShippingStep.PUBLISH, BatchStored(sequence=sequence):
            return _end(tracking, Fate.KEPT, sequence)
        case ShippingStep.FENCE, BatchStored():
            return _end(tracking, Fate.NOT_WRITTEN)
        case ShippingStep.LOOK, BatchFound(sequence=sequence, batch_id=batch_id):
            if batch_id == tracking.batch_id:
                return _end(tracking, Fate.KEPT, sequence)
            fenced = batch_id == tracking.batch_id + FENCE_SUFFIX
            return _end(tracking, Fate.NOT_WRITTEN if fenced else Fate.OVERTAKEN)
        case ShippingStep.PUBLISH, Elsewhere() if not tracking.doubt:
            return _end(tracking, Fate.OVERTAKEN)
        case _, Elsewhere():
            return msgspec.structs.replace(tracking, step=ShippingStep.LOOK)
        case ShippingStep.PUBLISH, Declined() if not tracking.doubt:
            return _end(tracking, Fate.NOT_WRITTEN)
        case ShippingStep.PUBLISH, Declined():
            return _next(tracking, fencing=True)
        case ShippingStep.PUBLISH, Silence():
            return _next(msgspec.structs.replace(tracking, doubt=True))
        case _:
            return _next(tracking)


def _next(tracking: Tracking, *, fencing: bool = False) -> Tracking:
    """Try again, the last times with a fence; when the tries are used up nobody can tell."""
    left = tracking.tries - 1
    if left <= 0:
        return _end(tracking, Fate.UNKNOWN if tracking.doubt else Fate.NOT_WRITTEN)
    fencing = fencing or tracking.fencing or (tracking.doubt and left <= FENCES)
    return msgspec.structs.replace(
        tracking, tries=left, fencing=fencing, step=ShippingStep.FENCE if fencing else ShippingStep.PUBLISH
    )


def _end(tracking: Tracking, fate: Fate, sequence: int = 0) -> Tracking:
    return msgspec.structs.replace(tracking, fate=fate, sequence=sequence)
