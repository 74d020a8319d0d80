"""A submission: what somebody wants appended, before any rule has looked at it (CCCS-041, CCCS-042)."""

from __future__ import annotations

from typing import Any

import msgspec


class Submission(msgspec.Struct, frozen=True):
    """What somebody wants appended. `by` comes from the credential, never from the submitted text.

    `raw` is `data` as it will be stored: what is verified or forwarded is never encoded again.
    """

    group_id: str
    by: str
    kind: str
    data: dict[str, Any]
    raw: bytes
    scope_key: str = ""
