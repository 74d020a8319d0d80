"""What can go wrong with a call, told apart by what the caller may do next.

`Refused`: the hub said no and nothing was appended; asking again gives the same answer. `Unavailable`: it did
not happen; trying again is safe. `OutcomeUnknown`: the connection broke after the request was sent and before
its answer came; it may have happened, so look before asking again, or send with a `client_id`.
"""

from __future__ import annotations

from tacit.base.errors import Refused, Unavailable
from tacit.c2a.retry import OutcomeUnknown

__all__ = ["OutcomeUnknown", "Refused", "Unavailable"]
