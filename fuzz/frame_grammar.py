"""A grammar of frames, for both ends: what a relay hears of an agent, and what an agent hears of its relay.

A sentence of the grammar is a plain description. Who says it (`fuzz/relay.py`) fills in keys, addresses and signatures,
so that most of it passes the first checks and reaches what stands behind them: an envelope with one wrong field but a
good signature, prekeys of which one is twisted, numbers at every edge, answers to what was never asked.
"""

from __future__ import annotations

from hypothesis import strategies as st

EDGES = [0, 1, 2, 255, 256, 2**31 - 1, 2**31, 2**32, 2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64, -1, -(2**63)]
NUMBERS = st.integers(0, 8) | st.sampled_from(EDGES)
NAMES = st.sampled_from(
    ["$me", "$peer", "$nobody", "$abroad", "agent:", "agent:bob", "agent:Bob@x", "", "é", "\0", "@"]
)
WORDS = st.sampled_from(
    ["", "x", "A" * 22, "A" * 300, "\x1b[2J", "\u202e", "\ud7ff", "null", "pkt_abcd", "q_" + "A" * 22]
)

# An agent's end of the line: what a relay hears.

HEADER = st.dictionaries(
    st.sampled_from(["protocol", "packet_id", "queue_tag", "from", "to", "timestamp", "flags", "extra", "body"]),
    NAMES
    | WORDS
    | NUMBERS
    | st.none()
    | st.sampled_from(
        [
            "a2acp/0.2", "a2acp/9.9", "a2acp/0.02", "2026-03-21T14:30:00Z", "2026-13-41T99:99:99Z", "9999-12-31T23:59:59Z",
            "pkt_" + "a" * 64, "pkt_" + "a" * 65, ["replace_queue"], ["replace_queue", "replace_queue"], [1], {"a": {}},
        ]
    ),
    max_size=2,
)  # fmt: skip
AGENT_PACKET = st.fixed_dictionaries(
    {
        "say": st.just("packet"),
        "to": NAMES,
        "header": HEADER,
        "size": st.sampled_from([0, 1, 255, 256, 1024, 65_536, 262_144]),
        "signed_by": st.sampled_from(["me", "me", "me", "peer", "nobody"]),
        "delivery": NUMBERS,
        "twice": st.booleans(),
    }
)
PREKEYS = st.fixed_dictionaries(
    {
        "say": st.just("prekeys"),
        "signed": st.booleans(),
        "last_resort": st.booleans(),
        "one_time": st.integers(0, 4),
        "ids": st.lists(NUMBERS, min_size=6, max_size=6),
        "twist": st.sampled_from(["", "", "key", "sig", "kind", "id", "lacks", "other owner"]),
        "reset": st.booleans(),
    }
)
NUMBERED = st.fixed_dictionaries({"say": st.just("received"), "deliveries": st.lists(NUMBERS, max_size=5)})
REPORT = st.fixed_dictionaries({"say": st.just("report"), "sender": NAMES})
LOGIN = st.fixed_dictionaries(
    {
        "say": st.just("auth"),
        "address": NAMES,
        "challenge": WORDS,
        "signed_by": st.sampled_from(["me", "peer"]),
    }
)

# A relay's end: what an agent hears.

RELAY_PACKET = st.fixed_dictionaries(
    {
        "say": st.just("packet"),
        "which": st.integers(0, 9),
        "twist": st.sampled_from(
            ["", "", "repeat", "letter", "sig", "own", "header", "nothing", "other signer", "no envelope"]
        ),
        "at": st.integers(0, 4_000),
        "delivery": NUMBERS,
    }
)
IDS = st.sampled_from(["$waiting", "$said", "$unknown", "", "\0"])
ACCEPTED = st.fixed_dictionaries({"say": st.just("accepted"), "packet_ids": st.lists(IDS, max_size=4)})
ERROR = st.fixed_dictionaries(
    {
        "say": st.just("error"),
        "code": WORDS
        | st.sampled_from(
            ["rate_limited", "unavailable", "bad_signature", "unknown_recipient", "expired", "too_large"]
        ),
        "packet_id": IDS | st.none(),
        "retry_after": NUMBERS | st.none(),
        "to": NAMES | st.none(),
    }
)
OVERFLOW = st.fixed_dictionaries(
    {
        "say": st.just("queue_overflow"),
        "queue_tag": WORDS | st.just("$tag"),
        "limit": NUMBERS,
        "packet_id": IDS | st.none(),
        "refused": NUMBERS,
        "delivery": NUMBERS,
    }
)
STOCK = st.fixed_dictionaries({"say": st.just("prekeys_ok"), "one_time": NUMBERS})
NOTICE = st.fixed_dictionaries({"say": st.just("notice"), "kind": WORDS, "at": WORDS | st.none()})
WELCOME = st.fixed_dictionaries(
    {
        "say": st.just("auth_ok"),
        "address": NAMES,
        "queued": NUMBERS,
        "heartbeat": NUMBERS,
        "one_time_prekeys": NUMBERS,
        "signed_prekey": NUMBERS,
    }
)
CHALLENGE = st.fixed_dictionaries(
    {"say": st.just("challenge"), "challenge": WORDS, "relay": NAMES | st.just("$relay")}
)
SUPERSEDED = st.just({"say": "superseded"})

OF_A_RELAY = st.one_of(
    RELAY_PACKET, RELAY_PACKET, ACCEPTED, ERROR, OVERFLOW, STOCK, NOTICE, WELCOME, CHALLENGE, NUMBERED, REPORT
)
"""What a relay says, and what only an agent should; `superseded` ends a connection and is tried apart."""
OF_AN_AGENT = st.one_of(
    AGENT_PACKET, AGENT_PACKET, PREKEYS, NUMBERED, REPORT, LOGIN, STOCK, NOTICE, WELCOME, CHALLENGE, SUPERSEDED
)  # fmt: skip
"""What an agent says, and what only a relay should."""
EITHER_AT_LOGIN = st.one_of(CHALLENGE, WELCOME, ERROR, NOTICE, STOCK, RELAY_PACKET, SUPERSEDED)
