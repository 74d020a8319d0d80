"""How a relay that cannot start says so: one line and an exit code."""

import pytest
from click.testing import CliRunner

from tacit.a2acp.commands.relay import relay


def start(*options) -> tuple[int, str]:
    result = CliRunner().invoke(relay, ["--port", "1", *map(str, options)])
    assert isinstance(result.exception, SystemExit), result.exception
    (line,) = result.stderr.splitlines()
    return result.exit_code, line.partition(":")[0]


@pytest.mark.parametrize("below", ["", "below"])
def test_a_folder_that_cannot_be_one(tmp_path, below):
    (tmp_path / "file").write_text("x")
    assert start("--data", tmp_path / "file" / below) == (3, "unavailable")


@pytest.mark.parametrize("content", [b"zz", "\u00e9".encode(), b"", b"00" * 31])
def test_a_key_file_that_is_none(tmp_path, content):
    (tmp_path / "relay.key").write_bytes(content)
    assert start("--data", tmp_path) == (3, "corrupt")
    assert (tmp_path / "relay.key").read_bytes() == content


def test_a_certificate_that_is_none(tmp_path):
    (tmp_path / "file").write_text("x")
    file = tmp_path / "file"
    assert start("--data", tmp_path, "--tls-cert", file, "--tls-key", file) == (1, "bad_tls")
    assert start("--data", tmp_path, "--trust", file) == (1, "bad_tls")


@pytest.mark.parametrize("server", ["smtp://x:notaport", "smtp://x:99999", "smtp://[x"])
def test_a_mail_server_that_is_none(tmp_path, server):
    assert start("--data", tmp_path, "--mail", server) == (1, "bad_mail")


def test_a_mail_servers_password_comes_by_the_environment_and_not_on_the_command_line(tmp_path, monkeypatch):
    server = "smtp://relay:swordfish@x:notaport"
    words = ["--data", str(tmp_path), "--domain", "x"]
    refused = CliRunner().invoke(relay, [*words, "--mail", server])
    assert refused.exit_code == 1
    assert "TACIT_RELAY_MAIL" in refused.stderr
    monkeypatch.setenv("TACIT_RELAY_MAIL", server)
    read = CliRunner().invoke(relay, words)
    assert read.stderr.startswith("bad_mail: ")
    assert "TACIT_RELAY_MAIL" not in read.stderr
    assert "swordfish" not in refused.output + read.output


def test_a_password_in_the_public_address_is_refused_and_not_quoted(tmp_path):
    words = ["--data", str(tmp_path), "--public-url", "https://relay:swordfish@relay.example"]
    refused = CliRunner().invoke(relay, words)
    assert refused.exit_code == 1
    assert refused.stderr.startswith("invalid_request: ")
    assert "swordfish" not in refused.output
