"""The five kinds of error, and nothing else is raised on purpose.

`Refused` is the caller's fault, `PeerFault` the other side's, `Unavailable` is nobody's and passes,
`Corrupt` means stop and act on the hint, `Bug` is ours. Texts and details carry no user content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class TacitError(Exception):
    """Whatever Tacit raises on purpose."""


class Refused(TacitError):
    """The caller broke a rule; nothing was appended. Carries the wire code and the row that refused."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        row: str = "",
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.row = row
        self.details: dict[str, object] = dict(details or {})
        if row:
            self.details.setdefault("row", row)


class PeerFault(TacitError):
    """The other side broke the protocol; the connection, not the process, is at fault."""


class Unavailable(TacitError):
    """Not now: starting, stopping, unreachable or unable to write. Trying again is safe.

    But for what is `unknown`: whether it happened nobody can tell, so look before asking again.
    """

    def __init__(self, *words: str, unknown: bool = False) -> None:
        super().__init__(*words)
        self.unknown = unknown


class WrittenByNewer(Unavailable):
    """A newer Tacit wrote what is to be read: nothing is damaged, and nothing was changed.

    `what` names it, `written` is its format, and `known` the newest format that this version reads.
    """

    def __init__(self, what: str, written: int, known: int) -> None:
        super().__init__(
            f"A newer version of Tacit wrote {what}: it has format {written}, and this version reads formats "
            f"up to {known}. Use that version or a newer one; nothing was changed."
        )
        self.what = what
        self.written = written
        self.known = known


OUTCOME_UNKNOWN: Final = "outcome_unknown"
"""The reason in an answer that says so."""


class Corrupt(TacitError):
    """What is stored cannot be trusted. Stop; `hint` says what a person should do.

    `damaged` names the parts that are hurt, where those alone are and the rest can be used.
    """

    def __init__(self, message: str, *, hint: str, damaged: tuple[str, ...] = ()) -> None:
        super().__init__(f"{message} ({hint})")
        self.message = message
        self.hint = hint
        self.damaged = damaged


class Bug(TacitError):
    """A promise of our own did not hold."""
