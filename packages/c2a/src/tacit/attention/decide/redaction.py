"""Redaction: secrets do not reach prompts, digests, knocks or tool results (C2A-204).

The ledger keeps the original; a copy shows `[redacted:<type>]`. Patterns only: what looks like a key,
token, password or private key. Knows nothing of who reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_VALUE: Final = r"(?P<value>\"[^\"\n]{4,}\"|'[^'\n]{4,}'|[^\s,;\"'`<>]{6,})"
PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "private_key",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?"
            r"(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
    ),
    ("jwt", re.compile(r"\beyJ[\w-]{8,600}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    ("aws_key", re.compile(r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b")),
    ("github_token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})")),
    ("gitlab_token", re.compile(r"\bglpat-[\w-]{20,}")),
    ("slack_token", re.compile(r"\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}")),
    ("slack_webhook", re.compile(r"https://hooks\.slack\.com/(?:services|workflows)/[\w/]{20,}")),
    ("stripe_key", re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    ("google_key", re.compile(r"\bAIza[\w-]{35}")),
    ("model_key", re.compile(r"\bsk-(?:ant-|proj-|or-)?[\w-]{20,}")),
    (
        "package_token",
        re.compile(r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|dop_v1_[a-f0-9]{40,}|hf_[A-Za-z0-9]{30,})"),
    ),
    ("bot_token", re.compile(r"\b\d{8,10}:AA[\w-]{33}\b|\b[MN][A-Za-z\d]{23,25}\.[\w-]{6}\.[\w-]{27,}")),
    (
        "url_password",
        re.compile(
            r"(?P<keep>\b[a-z][a-z0-9+.-]{1,15}://[^\s/:@]{1,64}:)[^\s/@]{3,}(?P<rest>@)", re.IGNORECASE
        ),
    ),
    (
        "bearer_token",
        re.compile(r"(?P<keep>\b(?:bearer|basic|token)\s+)[A-Za-z0-9+/_.~=-]{20,}", re.IGNORECASE),
    ),
    (
        "password",
        re.compile(
            r"(?P<keep>\b[\w.-]{0,40}(?:passwords?|passwd|passphrase|pwd)[\"']?\s*(?:[:=]|\bis\b)\s*)"
            + _VALUE,
            re.IGNORECASE,
        ),
    ),
    (
        "secret",
        re.compile(
            r"(?P<keep>\b[\w.-]{0,40}(?:secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|"
            r"client[_-]?secret|private[_-]?key)[\"']?\s*[:=]\s*)" + _VALUE,
            re.IGNORECASE,
        ),
    ),
)
_HINT: Final = re.compile(
    r"PRIVATE KEY|eyJ|A[KSBC][IC]A|gh[pousr]_|github_pat|glpat|xox|xapp|hooks\.slack|[rs]k[-_]|AIza|npm_|"
    r"pypi-|dop_v1|hf_|"
    r":AA|[MN][A-Za-z\d]{23}|://|bearer|basic|token|pass|pwd|secret|key|\d[ -]?\d{4}",
    re.IGNORECASE,
)
_CARD: Final = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")


def redacted(text: str) -> str:
    """The text with every secret replaced by a mark of its type."""
    if _HINT.search(text) is None:
        return text
    for name, pattern in PATTERNS:
        text = pattern.sub(_mark(name), text)
    return _CARD.sub(_card, text)


def _mark(name: str) -> Callable[[re.Match[str]], str]:
    def replacement(match: re.Match[str]) -> str:
        groups = match.groupdict()
        value = groups.get("value") or ""
        if value.startswith("[redacted:"):
            return match.group()
        return f"{groups.get('keep') or ''}[redacted:{name}]{groups.get('rest') or ''}"

    return replacement


def _card(match: re.Match[str]) -> str:
    """A payment card's number has a check digit; other long numbers stay."""
    digits = [int(sign) for sign in match.group() if sign.isdigit()]
    doubled = [
        digit if place % 2 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits), 1)
    ]
    return "[redacted:card]" if sum(doubled) % 10 == 0 and len(set(digits)) > 1 else match.group()
