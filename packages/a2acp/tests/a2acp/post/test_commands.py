"""How `tacit agent` ends when it is given what it cannot use: one line and an exit code, no traceback."""

import pytest
from click.testing import CliRunner

from tacit.a2acp.post.io.store import AgentStore
from tacit.agent.shell.commands.main import agent


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--data", "{file}", "keys"], 3, "cannot use"),
        (["--data", "{file}/under", "keys"], 1, "no_identity"),
        (["--data", "/proc/nope", "keys"], 1, "no_identity"),
        (
            ["--data", "/proc/nope", "register", "ann@localhost", "--code", "x", "--plain-keys"],
            3,
            "cannot use",
        ),
        (["--data", "{odd}", "keys"], 3, "cannot use"),
        (["--data", "{new}", "--trust", "{file}", "keys"], 1, "bad_certificate"),
        (["--data", "{new}", "--trust", "{folder}", "keys"], 2, "is a directory"),
        (["--data", "{new}", "restore", "{folder}", "--passphrase", "long enough"], 2, "is a directory"),
        (["--data", "{new}", "restore", "{file}", "--passphrase", "long enough"], 1, "bad_backup"),
        (["--data", "{new}", "listen", "--once"], 1, "no_identity"),
        (["--data", "{kept}", "setting", "unknown_senders", "perhaps"], 2, "one of ask, accept, reject"),
        (["--data", "{new}", "setting", "colour", "red"], 2, "'colour' is not one of"),
    ],
)
def test_what_an_agent_cannot_use_is_said_in_one_line(tmp_path, words, status, told):
    places = {name: tmp_path / name for name in ("file", "folder", "odd", "new", "kept")}
    places["file"].write_text("neither a certificate nor a backup")
    places["folder"].mkdir()
    AgentStore(places["kept"]).close()
    (places["odd"] / "agent.sqlite").mkdir(parents=True)
    done = CliRunner().invoke(agent, [word.format(**places) for word in words])
    assert done.exit_code == status, done.output
    assert isinstance(done.exception, SystemExit)
    assert told in done.output
