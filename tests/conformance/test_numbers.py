"""Numbers that a row gives are the numbers that run: each beside the words of its row."""

from __future__ import annotations

import importlib
import tomllib

import pytest

from tools.places import ROOT

SPEC = ROOT / "spec"
DAY = 24 * 3600 * 1_000_000
NUMBERS = [
    ("A2ACP-017", "32 random bytes", "relay.login:CHALLENGE_BYTES", 32),
    ("A2ACP-017", "code 4003", "wire.codes:CLOSE_AUTH_FAILED", 4003),
    ("A2ACP-030", "a gap for 30 s", "a2acp.post.reception:HOLD", 30_000_000),
    ("A2ACP-044", "262144 bytes", "wire.envelope:MAX_BYTES", 262_144),
    ("A2ACP-208", "close code 4001", "wire.codes:CLOSE_SUPERSEDED", 4001),
    ("A2ACP-208", "pong due in 10 s", "a2acp.post.timing:PONG_SECONDS", 10.0),
    ("A2ACP-214", "per 60 s", "a2acp.post.sync:EVERY", 60_000_000),
    ("A2ACP-214", "the last 200 ids", "a2acp.post.sync:LAST", 200),
    ("A2ACP-222", "for 60 days", "seal.session:REMEMBERED", 60 * DAY),
    ("A2ACP-229", "5 in 24 h", "a2acp.post.reception:FLAG_AT", 5),
    ("A2ACP-229", "in 24 h", "a2acp.post.reception:WINDOW", DAY),
    ("A2ACP-229", "blocks at 20", "a2acp.post.reception:AUTO_BLOCK_AT", 20),
    ("A2ACP-261", "start 50", "a2acp.post.reception:START", 50),
    ("A2ACP-261", "below 20", "a2acp.post.reception:LOW", 20),
    ("A2ACP-261", "start 50", "relay.rate:START", 50),
    ("A2ACP-261", "below 20", "relay.rate:POOR", 20),
    ("C2A-013", "timeout [P: 30 s]", "c2a.io.socket:ANSWER_WITHIN", 30.0),
    ("C2A-097", "cut at 80 characters", "harness.prompt:NAME_CHARS", 80),
    ("C2A-099", "at most 1500 characters", "c2a.standing_rules:LONGEST", 1500),
    ("C2A-099", "at most 1500 characters", "harness.prompt:RULES_CHARS", 1500),
    ("C2A-140", "default 50", "attention.io.read_tools:USUAL", 50),
    ("C2A-140", "max 200", "attention.io.read_tools:MOST", 200),
    ("C2A-163", "at most 3", "harness.outcome:FAULTS", 3),
    ("C2A-219", "within 10 s", "harness.conduct:INTERRUPT_AFTER", 10_000_000),
    ("CCCS-020", "256 KiB", "ledger.envelope:MAX_EVENT_BYTES", 256 * 1024),
    ("CCCS-108", "1 to 1000", "ledger.cursor:MAX_LIMIT", 1000),
    ("CLOWL-006", "above 99999999999", "language.tables:MAX_TS", 99_999_999_999),
    ("CLOWL-006", "more than 300 s", "language.tables:CLOCK_TOLERANCE", 300),
    ("CLOWL-013", "128 characters", "language.tables:MAX_NAME", 128),
    ("CLOWL-023", "longer than 2000 characters", "language.tables:MAX_INLINE", 2000),
    ("CLOWL-033", "10 MiB", "language.io.resolvers:MAX_BYTES", 10 * 1024 * 1024),
    ("CLOWL-033", "10 s", "language.io.resolvers:MAX_SECONDS", 10.0),
    ("CLOWL-053", "at most 8", "language.tables:MAX_CHAIN", 8),
    ("CLOWL-056", "24 h", "language.capabilities:LIFETIME", 24 * 3600),
    ("CLOWL-065", "at most 80 characters", "language.answers:MAX_QUOTE", 80),
    ("CLOWL-081", "at most 200 tokens", "language.prompt:MAX_TOKENS", 200),
    ("CLOWL-086", "at most 2 regenerations", "language.semantic:MAX_REGENERATIONS", 2),
]


@pytest.mark.parametrize(("row", "words", "place", "value"), NUMBERS)
def test_a_number_is_the_one_that_its_row_gives(row: str, words: str, place: str, value: float) -> None:
    protocol = row.partition("-")[0].lower()
    rows = tomllib.loads((SPEC / f"{protocol}.toml").read_text(encoding="utf-8"))
    assert words in rows[row]["text"]
    module, _, name = place.partition(":")
    assert getattr(importlib.import_module(f"tacit.{module}"), name) == value
