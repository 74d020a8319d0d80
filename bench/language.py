"""CLowl: how fast Tacit reads and writes messages, beside the reference package `clowl` 0.2.0.

    python bench/language.py [--messages N] [--turns N] [--lines N] [--json FILE]

The reference is installed into `bench/.clowl` (once) and runs in a process of its own on the same bytes, with the
same interpreter: another build of the same version may be half as fast. Both sides take each message as the bytes that a socket or a log delivers. They are
measured in turn, several times; the table shows medians, the ratio being the median of the ratios of each turn.
Read the ratios, not the microseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
ENVIRONMENT = HERE / ".clowl"
VECTORS = HERE.parent / "tests" / "conformance" / "vectors" / "clowl"
ROUNDS = 15

REFERENCE = """
import json, sys, time
from clowl import CLowlMessage

def best(work, items):
    total = 0.0
    for at in range(0, len(items), 50):
        part = items[at : at + 50]
        fastest = float("inf")
        for _ in range(int(sys.argv[2])):
            start = time.perf_counter()
            for item in part:
                work(item)
            fastest = min(fastest, time.perf_counter() - start)
        total += fastest
    return total / len(items) * 1e6

def valid(line):
    return CLowlMessage.from_json(line).validate()

def caught(text):
    try:
        return bool(CLowlMessage.from_json(text).validate())
    except Exception:
        return True

lines = open(sys.argv[1], "rb").read().splitlines()
messages = [CLowlMessage.from_json(line) for line in lines]
invalid = json.load(open(sys.argv[3]))
print(json.dumps({
    "parse": best(valid, lines),
    "encode": best(CLowlMessage.to_json, messages),
    "encode_compact": best(lambda message: message.to_json(None), messages),
    "caught": sum(caught(bytes.fromhex(text)) for text in invalid),
}))
"""


def corpus(count):
    from tacit.language import Author, Context

    class Clock:
        moment = 1_709_078_400_000_000

        def now(self):
            self.moment += 250_000
            return self.moment

    class Entropy:
        source = random.Random(7)

        def draw(self, count):
            return self.source.randbytes(count)

    clock, entropy = Clock(), Entropy()
    oscar, radar, muse = (Author(name, clock, entropy) for name in ("oscar", "radar", "muse"))
    ref = Context(ref="research/mcp-vs-a2a.md", hash="0" * 60 + "beef")
    messages = [radar.caps(["search:web", "search:repo", "analyze:trend"])]
    while len(messages) < count:
        request = oscar.req("radar", "search:web", {"q": "mcp vs a2a", "limit": 10}, ctx=ref)
        passed = radar.dlgt("muse", "analyze", "transfer", {"target": "content angle"}, parent=request)
        messages += [
            request,
            radar.ack(request, {"eta": "2m"}),
            radar.prog(request, pct=40, note="halfway there"),
            passed,
            muse.ack(passed),
            oscar.qry("muse", "status", parent=passed),
            muse.inf("oscar", "status", {"state": "running"}, parent=messages[-1]),
            muse.done(passed, {"angle": "interoperability", "score": 0.92}, to="oscar", det=True),
            muse.err(passed, "E003", "The context could not be read"),
            oscar.cncl(request, {"reason": "no longer needed"}),
        ]
    return messages[:count]


def best(work, items):
    """Microseconds an item: the best of many short rounds, since other work on the machine disturbs long ones."""
    total = 0.0
    for at in range(0, len(items), 50):
        part = items[at : at + 50]
        fastest = float("inf")
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for item in part:
                work(item)
            fastest = min(fastest, time.perf_counter() - start)
        total += fastest
    return total / len(items) * 1e6


def best_whole(work, count):
    fastest = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest / count * 1e6


def reference_path():
    """Where the reference package is, beside our own environment."""
    if not (ENVIRONMENT / "clowl").exists():
        install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(ENVIRONMENT), "clowl==0.2.0"]
        subprocess.run(install, check=True)
    return str(ENVIRONMENT)


def reference(lines, invalid):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "corpus.jsonl")
        path.write_bytes(b"\n".join(lines) + b"\n")
        wrong = pathlib.Path(folder, "invalid.json")
        wrong.write_text(json.dumps([text.hex() for text in invalid]))
        done = subprocess.run(
            [sys.executable, "-c", REFERENCE, path, str(ROUNDS), wrong],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": reference_path()},
        )
    return json.loads(done.stdout)


def invalid_texts():
    found = []
    for path in sorted(VECTORS.glob("invalid/*.json")):
        for vector in json.loads(path.read_text()):
            if vector.get("mode") != "strict":
                found.append(bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode())
    return found


def rich(line):
    """The same message with what real data has: an object within, a web address, spaces after the colons."""
    value = json.loads(line)
    value["body"]["d"]["source"] = {"url": "https://example.org/a2a", "pages": [3, 4], "language": "en"}
    return json.dumps(value).encode()


def measure(count, turns):
    from tacit.language import Invalid, encode, parse, parse_lines

    messages = corpus(count)
    lines = [encode(message) for message in messages]
    spaced = [json.dumps(json.loads(line)).encode() for line in lines]
    nested = [rich(line) for line in lines]
    log, spaced_log = (b"\n".join(texts) + b"\n" for texts in (lines, spaced))
    invalid = invalid_texts()

    def caught(text):
        try:
            parse(text)
        except Invalid:
            return True
        return False

    assert len(parse_lines(log)) == len(parse_lines(spaced_log)) == count
    table = {}
    for _ in range(turns):
        theirs, theirs_spaced, theirs_nested = (
            reference(texts, invalid) for texts in (lines, spaced, nested)
        )
        mine = best(encode, messages)
        for name, ours, other in [
            ("parse and validate, one by one", best(parse, lines), theirs["parse"]),
            ("the same, spaced JSON", best(parse, spaced), theirs_spaced["parse"]),
            ("the same, spaced, nested, an address", best(parse, nested), theirs_nested["parse"]),
            ("the same, a log", best_whole(lambda: parse_lines(log), count), theirs["parse"]),
            (
                "the same, a spaced log",
                best_whole(lambda: parse_lines(spaced_log), count),
                theirs_spaced["parse"],
            ),
            ("encode", mine, theirs["encode"]),
            ("encode, reference without indent", mine, theirs["encode_compact"]),
        ]:
            table.setdefault(name, []).append((ours, other, other / ours))
    rows = [(name, *map(statistics.median, zip(*found, strict=True))) for name, found in table.items()]
    return rows, (sum(map(caught, invalid)), theirs["caught"], len(invalid))


def validate_log(lines):
    """`tacit clowl validate` on a long log: messages a second and peak memory of the process."""
    from tacit.language import encode

    block = b"".join(encode(message) + b"\n" for message in corpus(1000))
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        for _ in range(lines // 1000):
            file.write(block)
        file.flush()
        command = "from tacit.language.commands.clowl import clowl; clowl()"
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", command, "validate", file.name], check=True, capture_output=True
        )
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "lines": lines,
        "seconds": round(seconds, 2),
        "per_second": round(lines / seconds),
        "peak_mib": round(max(peak, before) / 1024, 1),
        "says": done.stdout.decode().strip().splitlines()[-1:],
    }


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--messages", type=int, default=1000)
    options.add_argument("--turns", type=int, default=7, help="how often each side is measured")
    options.add_argument("--lines", type=int, default=1_000_000, help="lines of the log; 0 to leave it out")
    options.add_argument("--json", type=pathlib.Path, help="write the numbers to this file")
    chosen = options.parse_args()
    rows, (ours, theirs, of) = measure(chosen.messages, chosen.turns)
    print(f"{'':36}{'tacit':>10}{'clowl 0.2.0':>14}{'ratio':>8}")
    for name, mine, reference_time, ratio in rows:
        print(f"{name:36}{mine:8.2f} µs{reference_time:11.2f} µs{ratio:7.2f}x")
    print(f"invalid vectors caught: tacit {ours} of {of}, clowl 0.2.0 {theirs} of {of}")
    result = {
        "rows": [
            {
                "name": name,
                "tacit_us": round(mine, 3),
                "reference_us": round(ref, 3),
                "ratio": round(ratio, 2),
            }
            for name, mine, ref, ratio in rows
        ],
        "turns": chosen.turns,
        "caught": {"tacit": ours, "reference": theirs, "of": of},
    }
    if chosen.lines:
        result["log"] = validate_log(chosen.lines)
        print("tacit clowl validate:", json.dumps(result["log"]))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
