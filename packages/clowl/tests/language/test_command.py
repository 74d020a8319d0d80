"""`tacit clowl`: what it prints, what it exits with, and that a long log needs little memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import jsonschema
import pytest
from click.testing import CliRunner

from tacit.language import encode
from tacit.language.commands import clowl as clowl_command
from tacit.language.commands.clowl import clowl
from tests.language.cast import VECTORS, message, value
from tests.language.test_trace import story

COMMAND = [sys.executable, "-c", "from tacit.language.commands.clowl import clowl; clowl()"]


def run(*arguments, data=b""):
    return CliRunner().invoke(clowl, list(arguments), input=data)


def log(*messages):
    return b"".join(encode(one) + b"\n" for one in messages)


@pytest.mark.spec("CLOWL-067")
def test_validate_exits_0_only_if_every_message_is_valid(tmp_path):
    good = tmp_path / "good.jsonl"
    good.write_bytes(log(*story()))
    found = run("validate", str(good))
    assert (found.exit_code, found.output) == (0, "7 messages, all valid\n")
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(log(*story()) + b'{"clowl":"0.2"\n' + json.dumps(value(ts="x", p="ASK")).encode() + b"\n")
    found = run("validate", str(good), str(bad))
    assert found.exit_code == 1
    assert found.output.splitlines() == [
        f"{bad}:8: E001 $ not JSON at character 14 (CLOWL-068)",
        f"{bad}:9: E001 $.ts must be an integer, seconds since 1970 (CLOWL-005)",
        f"{bad}:9: E001 $.p must be one of REQ, INF, ACK, ERR, DLGT, DONE, CNCL, QRY, PROG, CAPS (CLOWL-010)",
        "16 messages, 2 invalid",
    ]


@pytest.mark.spec("CLOWL-067")
def test_validate_writes_one_json_line_for_each_message():
    data = log(message()) + b"{}\n\n" + log(message("DONE"))
    found = run("validate", "--json", "--warnings", "-", data=data)
    assert found.exit_code == 1
    first, second, third = map(json.loads, found.output.splitlines())
    assert (first["line"], first["valid"]) == (1, True)
    assert first["warnings"][0]["row"] == "CLOWL-004"
    assert (second["line"], second["valid"], second["code"]) == (2, False, "E001")
    assert {"path": "$.clowl", "code": "E001", "reason": "is required", "row": "CLOWL-001"} in second[
        "faults"
    ]
    assert (third["line"], third["valid"]) == (4, True)
    quick = run("validate", "--json", data=log(message(), message()))
    assert [json.loads(line)["line"] for line in quick.output.splitlines()] == [1, 2]


@pytest.mark.spec("CLOWL-066")
def test_strict_refuses_what_lenient_forgives_and_repair_mends():
    data = log(message("DONE"))
    assert run("validate", data=data).exit_code == 0
    assert run("validate", "--mode", "strict", data=data).exit_code == 1
    spoilt = b"Sure: " + encode(message())
    assert run("validate", data=spoilt).exit_code == 1
    assert run("validate", "--repair", data=spoilt).exit_code == 0


def test_documents_arrays_and_fences_are_read_whole():
    pretty = json.dumps(value(), indent=2).encode()
    for data, count in (
        (pretty, 1),
        (b"```json\n" + pretty + b"\n```\n", 1),
        (json.dumps([value()] * 3).encode(), 3),
    ):
        found = run("validate", data=data)
        assert (found.exit_code, found.output.split()[0]) == (0, str(count))
    assert run("validate", data=b"").output == "no messages\n"


@pytest.mark.spec("CLOWL-072", "CLOWL-075")
def test_english_reads_every_line_aloud():
    found = run("english", data=log(message()) + b"{}\n")
    assert found.exit_code == 1
    assert found.output.splitlines()[0] == "oscar asks radar to do search."
    assert found.output.splitlines()[1].startswith("Invalid CLowl message: E001 ")
    assert "mid=m1" in run("english", "-v", data=log(message())).output
    told = json.loads(run("english", "--json", data=log(message())).output)
    assert told == {"file": "-", "line": 1, "valid": True, "english": "oscar asks radar to do search."}


@pytest.mark.spec("CLOWL-079")
@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("tree", "trace t1: 7 messages"), ("timeline", "2024-02-28T00:00:00Z oscar asks"),
        ("mermaid", "sequenceDiagram"), ("html", "<!doctype html>"), ("otlp", '{"resourceSpans"'), ("json", '{"traces"'),
    ],
)  # fmt: skip
def test_trace_in_every_form(form, start, tmp_path):
    data = log(*reversed(story()))
    found = run("trace", "--format", form, data=data)
    assert found.exit_code == 0
    assert found.output.startswith(start)
    assert "tok-3n" not in found.output
    out = tmp_path / "out"
    assert run("trace", "--format", form, "-o", str(out), data=data).output == ""
    assert out.read_text(encoding="utf-8").startswith(start)


def test_trace_can_be_narrowed_and_tells_of_lines_it_could_not_read():
    data = log(*story()) + b"nonsense\n" + log(message(tid="t9", mid="m9"))
    found = run("trace", "--tid", "t9", data=data)
    assert found.exit_code == 1
    assert "-:8: Invalid CLowl message: E001" in found.stderr
    assert found.stdout.startswith("trace t9: 1 message,")
    assert (
        len(json.loads(run("trace", "--json", "--cid", "c1", data=log(*story())).output)["conversations"])
        == 1
    )


@pytest.mark.spec("CLOWL-080", "CLOWL-081")
@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
def test_prompt_and_its_tokens():
    found = run("prompt", "--form", "full", "--tokens", "--json")
    told = json.loads(found.output)
    assert told["tokens"] <= 200
    assert '"clowl":"0.2"' in told["prompt"]
    assert run("prompt").output.startswith("You speak CLowl v0.2")
    assert "tokens" in run("prompt", "--tokens").stderr


@pytest.mark.spec("CLOWL-081")
def test_without_the_tokenizer_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    found = run("prompt", "--tokens")
    assert found.exit_code == 3
    assert "[tokens]" in found.stderr


@pytest.mark.spec("CLOWL-069")
def test_schema_is_a_json_schema():
    for mode in ("strict", "lenient"):
        jsonschema.Draft202012Validator.check_schema(json.loads(run("schema", "--mode", mode).output))


def test_wrong_usage_exits_2():
    assert run("validate", "/no/such/file").exit_code == 2
    assert run("dance").exit_code == 2
    assert run("trace", "--format", "poem").exit_code == 2


def test_every_command_explains_itself():
    for command in ("validate", "english", "trace", "prompt", "schema"):
        assert len(run(command, "--help").output.splitlines()) > 5


@pytest.mark.spec("CLOWL-067")
def test_a_long_log_is_validated_in_bounded_memory(tmp_path):
    path = tmp_path / "long.jsonl"
    block = log(*story()) * 1000
    with path.open("wb") as file:
        for _ in range(30):
            file.write(block)
    assert path.stat().st_size > 40_000_000

    def limited():
        resource.setrlimit(resource.RLIMIT_DATA, (100 * 2**20, 100 * 2**20))

    done = subprocess.run(
        [*COMMAND, "validate", str(path)], capture_output=True, check=False, preexec_fn=limited
    )
    assert done.stderr == b""
    assert done.stdout == b"210,000 messages, all valid\n"


def test_the_vectors_pass_through_the_command(tmp_path):
    vectors = [vector for path in VECTORS.glob("valid/*.json") for vector in json.loads(path.read_text())]
    lines = [
        vector["text"] for vector in vectors if "\n" not in vector["text"] and "strict" in vector["modes"]
    ]
    path = tmp_path / "log"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert run("validate", "--mode", "strict", str(path)).output == f"{len(lines)} messages, all valid\n"


@pytest.mark.spec("CLOWL-067")
@pytest.mark.parametrize(("short_by", "shown"), [(0, True), (1, False)])
def test_of_a_long_file_a_terminal_sees_how_much_is_read_and_nothing_is_left_of_that(
    tmp_path, monkeypatch, short_by, shown
):
    good = tmp_path / "good[1].jsonl"
    good.write_bytes(log(*story()))
    monkeypatch.setattr(clowl_command, "_LONG", good.stat().st_size + short_by)
    monkeypatch.setattr("tacit.base.commands.terminal.Terminal.is_watched", True)
    found = run("validate", str(good))
    assert (found.exit_code, found.stdout) == (0, "7 messages, all valid\n")
    finished = f"{good.name}: 100 %"
    assert found.stderr.endswith(f"{finished}\r{' ' * len(finished)}\r") is shown
    assert (good.name in found.stderr) is shown


@pytest.mark.spec("CLOWL-069")
def test_a_schema_is_one_line_for_programs_and_several_for_people():
    assert len(run("schema", "--json").output.splitlines()) == 1
    plain = run("schema").output
    assert plain.startswith("{\n  ")
    assert json.loads(plain) == json.loads(run("schema", "--json").output)
