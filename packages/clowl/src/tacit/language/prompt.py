"""The system prompt for v0.2, written from the tables that the validator uses.

Rows: CLOWL-080, CLOWL-081, CLOWL-084. Two forms: `semantic`, where the model writes meaning only and the
runtime adds the rest (CLOWL-083), and `full`, for agents without a runtime of ours. Each stays within 200
tokens; a test measures both with a real tokenizer.
"""

from __future__ import annotations

from typing import Final, Literal

from tacit.language.tables import DELEGATION_MODES, ERROR_CODES, PERFORMATIVES, VERSION

Form = Literal["semantic", "full"]

MAX_TOKENS: Final = 200
_RULES: Final = "Output RAW JSON only: no markdown, no other text. Natural language only for humans."
_TO: Final = '"to":"AGENT"'
_BODY: Final = '"body":{"t":"ANY_TASK","d":{}},"ctx":{"ref":"PATH"}'


def prompt(form: Form = "semantic") -> str:
    """The text to put into a model's system prompt."""
    if form == "semantic":
        shape = f'{{"p":"P",{_TO},{_BODY},"re":"HANDLE"}}'
        note = 'to may be an array or "*". re is the handle you answer; ctx and re are optional.'
    else:
        shape = (
            f'{{"clowl":"{VERSION}","mid":"NEW","ts":UNIX_SECONDS,"tid":"TRACE","pid":"PARENT",'
            f'"p":"P","from":"YOU",{_TO},"cid":"THREAD",{_BODY}}}'
        )
        note = 'to may be an array or "*". tid, pid, ctx optional; replies copy tid, cid.'
    return "\n".join((f"You speak CLowl v{VERSION} to agents:", shape, note, *_tables(), _RULES))


def _tables() -> tuple[str, ...]:
    codes = sorted(ERROR_CODES)
    performatives = " ".join(f"{code}={row.name.lower()}" for code, row in PERFORMATIVES.items())
    return (
        f"P: {performatives}",
        f"DLGT d: delegation_mode {'|'.join(DELEGATION_MODES)}",
        f"ERR d: code {codes[0]}-{codes[-1]}, msg, retry bool",
        "CAPS d: supports [tasks], clowl",
        "Keep d flat; long text goes by ctx.",
    )
