"""Fuzz the language: whatever arrives is taken, or refused with a documented error; nothing else comes out.

    python fuzz/language.py [--examples 20000] [--seed 0]

Starts from the vectors and edits them: cut, doubled, replaced, and sprinkled with what parsers stumble over.
Every way in is tried on each text, and the ways have to agree. Hypothesis shrinks what it finds.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tacit.language import (  # noqa: E402
    Invalid,
    Lifecycle,
    Runtime,
    encode,
    english_of,
    parse,
    parse_lines,
    read,
    read_repaired,
    read_value,
    reconstruct,
    to_value,
)
from tacit.language.legacy import read_v01  # noqa: E402
from tacit.language.semantic import Handles, complete  # noqa: E402
from tacit.language.trace_data import chronicle_value  # noqa: E402
from tacit.language.trace_html import page  # noqa: E402
from tacit.language.trace_text import chronicle_lines, mermaid  # noqa: E402
from tests.language.cast import author, text_of, vectors  # noqa: E402

TEXTS = [text_of(vector) for kind in ("valid", "invalid") for vector in vectors(kind)]
FRAGMENTS = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"NaN", b"-0", b"1e999",
    b"\\u003a", b"\\ud800",
    b"\xff", b"\xef\xbb\xbf", b"\xc2\x85", b"\x7f", b"\n", b"```", b"'", b"//", b"/*",
    b'"mid":"m9",', b'"p":"ERR",',
    b'"to":["a"],', b'"ctx":{},', b'"pid":"m1",', b"18446744073709551616", b"0.2", b"*", b" ",
]  # fmt: skip
EDITS = st.lists(
    st.tuples(
        st.integers(0, 600),
        st.sampled_from(["insert", "cut", "replace", "double"]),
        st.sampled_from(FRAGMENTS) | st.binary(max_size=3),
        st.integers(1, 12),
    ),
    max_size=5,
)


def edited(text, edits, *, fenced=False):
    if fenced:
        return b"```json\n" + edited(text, edits) + b"\n```"
    for position, kind, fragment, length in edits:
        at = position % (len(text) + 1)
        if kind == "insert":
            text = text[:at] + fragment + text[at:]
        elif kind == "cut":
            text = text[:at] + text[at + length :]
        elif kind == "replace":
            text = text[:at] + fragment + text[at + len(fragment) :]
        else:
            text = text[: at + length] + text[at:]
    return text


def outcome(data, strict):
    try:
        return encode(parse(data, strict=strict))
    except Invalid as invalid:
        return invalid.faults


def check_one(data):
    for strict in (True, False):
        reading = read(data, strict=strict)
        expected = encode(reading.message) if reading.message else reading.faults
        assert outcome(data, strict) == expected
        assert len(english_of(reading, verbose=True).splitlines()) == 1
        found = parse_lines(data + b"\n", strict=strict)
        assert found is None or [encode(one) for one in found] == [expected]
        if reading.message is not None:
            again = read_value(to_value(reading.message), strict=strict)
            assert again.message is not None
            assert encode(again.message) == encode(reading.message)
    read_repaired(data)
    read_v01(data, received=1)
    complete(data, author("radar"), Handles(), repair=True)
    runtime = Runtime(author("radar"), ["search", "analyze"])
    for answer in runtime.receive(data, peer="oscar").answers:
        assert not read(encode(answer), strict=True).faults
        runtime.send(answer)


def check_heap(datas):
    messages = [reading.message for reading in map(read, datas) if reading.message]
    found = reconstruct(messages)
    assert [one.mid for one in reconstruct(reversed(found.timeline)).timeline] == [
        one.mid for one in found.timeline
    ]
    json.dumps(chronicle_value(found))
    page(found)
    list(chronicle_lines(found))
    for tree in found.traces.values():
        list(mermaid(tree))
    lifecycle = Lifecycle()
    for message in messages:
        lifecycle.apply(message, deadline=5)
    lifecycle.expire(10)
    lifecycle.obligations()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--examples", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    bounded = settings(
        max_examples=chosen.examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )

    @seed(chosen.seed)
    @bounded
    @given(st.sampled_from(TEXTS), EDITS, st.booleans())
    def one(text, edits, fenced):
        check_one(edited(text, edits, fenced=fenced))

    @seed(chosen.seed)
    @settings(bounded, max_examples=max(1, chosen.examples // 20))
    @given(st.lists(st.tuples(st.sampled_from(TEXTS), EDITS), max_size=12))
    def heap(parts):
        check_heap([edited(text, edits) for text, edits in parts])

    one()
    heap()
    print(f"{chosen.examples} texts and {max(1, chosen.examples // 20)} heaps: nothing but documented errors")


if __name__ == "__main__":
    main()
