"""Claude Code, as values: what its process is told, and what its results say."""

from __future__ import annotations

import json

import pytest

from tacit.harness.drivers import claude
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import (
    ObservedActivity,
    StandingInstructions,
    TokenUsage,
    ToolAddress,
    ToolProgram,
    TurnFile,
)

STANDING = StandingInstructions("be brief", (ToolProgram("room", ("tacit", "mcp"), {"T": "k"}),))


@pytest.mark.parametrize(
    ("base_url", "own", "there", "absent"),
    [
        ("", False, {"CLAUDE_CONFIG_DIR": "/c"}, "ANTHROPIC_BASE_URL"),
        (
            "http://m",
            False,
            {"ANTHROPIC_BASE_URL": "http://m", "CLAUDE_CONFIG_DIR": "/c"},
            "ANTHROPIC_API_KEY",
        ),
        ("http://m", True, {"ANTHROPIC_BASE_URL": "http://m"}, "CLAUDE_CONFIG_DIR"),
    ],
)
def test_the_process_knows_its_server_its_own_folder_and_no_key(base_url, own, there, absent):
    found = claude.settings(base_url=base_url, retries=3, config="/c", use_my_config=own)
    told = {"ENABLE_TOOL_SEARCH": "false", "CLAUDE_CODE_MAX_RETRIES": "3", "CLAUDE_CODE_ENTRYPOINT": "sdk-py"}
    assert found.items() >= (claude.QUIET | told | there).items()
    assert absent not in found
    # What its owner set up may go on behind a turn; what is ours alone does nothing behind our back.
    assert ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS" in found) is not own


def line(**more) -> list[str]:
    given = {
        "model": "", "access": Access.READ, "session_id": None, "tools_file": "/t", "key_file": "",
        "use_my_config": False,
    }  # fmt: skip
    return claude.arguments(more.pop("standing", STANDING), **given | more)


@pytest.mark.spec("C2A-100")
@pytest.mark.parametrize(
    ("more", "there", "absent"),
    [
        ({}, ["--append-system-prompt=be brief", "--mcp-config", "/t", "--strict-mcp-config"], "--model"),
        ({}, ["--permission-mode", "default", "--allowedTools=mcp__room"], "--print"),
        (
            {"access": Access.WRITE},
            ["--permission-mode", "acceptEdits", "--allowedTools=mcp__room"],
            "--resume=",
        ),
        ({"access": Access.FULL}, ["acceptEdits"], "--allowedTools=mcp__room"),
        ({"standing": StandingInstructions("be brief")}, ["default"], "--mcp-config"),
        ({"standing": StandingInstructions("be brief")}, ["default"], "--allowedTools="),
        ({"model": "small"}, ["--model", "small"], "--settings="),
        ({"session_id": "s1"}, ["--resume=s1"], "--print"),
        ({"key_file": "/a b"}, ['--settings={"apiKeyHelper": "cat \'/a b\'"}'], "--print"),
        ({"use_my_config": True}, ["--append-system-prompt=be brief"], "--strict-mcp-config"),
        ({"use_my_config": True}, ["--append-system-prompt=be brief"], "--setting-sources="),
        (
            {"rules_file": "/r"},
            ["--system-prompt-file=/r", "--print", "--tools="],
            "--append-system-prompt=be brief",
        ),
        ({"rules_file": "/r", "use_my_config": True}, ["--setting-sources=", "--safe-mode"], "--resume="),
    ],
)
def test_the_command_line_says_what_holds_and_nothing_else(more, there, absent):
    found = line(**more)
    assert set(there) <= set(found)
    assert not [one for one in found if one == absent or (absent.endswith("=") and one.startswith(absent))]
    assert found[:4] == ["--output-format", "stream-json", "--input-format", "stream-json"]


def test_the_tool_servers_stand_in_a_file():
    far, near = ToolAddress("far", "http://x/mcp", "k"), ToolAddress("near", "http://y/mcp")
    found = claude.tools_file(StandingInstructions("", (*STANDING.tools, far, near)))["mcpServers"]
    assert found["room"] == {"type": "stdio", "command": "tacit", "args": ["mcp"], "env": {"T": "k"}}
    assert found["far"] == {"type": "http", "url": "http://x/mcp", "headers": {"Authorization": "Bearer k"}}
    assert found["near"]["headers"] == {}


def test_words_go_alone_and_pictures_behind_them():
    def content(*files):
        said = claude.user_message("look", files)
        assert (said["type"], said["message"]["role"], said["parent_tool_use_id"]) == ("user", "user", None)
        return said["message"]["content"]

    assert content() == "look"
    picture = {"type": "base64", "media_type": "image/png", "data": "YQ=="}
    assert content(TurnFile("a.png", "image/png", b"a")) == [
        {"type": "text", "text": "look"},
        {"type": "image", "source": picture},
    ]


EDIT = {"file_path": "a.py", "old_string": "x\ny", "new_string": "z"}


@pytest.mark.parametrize(
    ("name", "given", "kind", "title", "details", "paths"),
    [
        ("Bash", {"command": "ls", "description": "list"}, "command", "ls", "list\nwhy", ()),
        ("Bash", {"other": "ls"}, "other", "Bash ls", 'why\n{\n "other": "ls"\n}', ()),
        ("Edit", EDIT, "edit", "a.py", "why\n--- a.py\n+++ a.py\n@@\n-x\n-y\n+z", ("a.py",)),
        ("Write", {"file_path": "a.py", "content": "z"}, "edit", "a.py", "why\n+++ a.py\n+z", ("a.py",)),
        (
            "NotebookEdit",
            {"notebook_path": "n", "new_source": "z"},
            "edit",
            "n",
            "why\n--- n\n+++ n\n@@\n+z",
            ("n",),
        ),
        ("mcp__room__send", {"n": 1}, "other", "room.send", 'why\n{\n "n": 1\n}', ()),
        ("Read", {"file_path": "b"}, "other", "Read b", 'why\n{\n "file_path": "b"\n}', ()),
    ],
)
def test_what_is_to_be_allowed_is_shown_as_what_it_is(name, given, kind, title, details, paths):
    found = claude.asks(name, given, directory="/d", reason="why", call_id="c1")
    assert (found.kind, found.title, found.details, found.paths) == (kind, title, details, paths)
    assert (found.directory, found.call_id, found.whole) == ("/d", "c1", True)


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("Bash", {"command": "ls"}, ObservedActivity("c1", "command", title="ls")),
        (
            "Edit",
            EDIT,
            ObservedActivity(
                "c1", "edit", title="a.py", text="--- a.py\n+++ a.py\n@@\n-x\n-y\n+z", files=("a.py",)
            ),
        ),
        ("Edit", {}, ObservedActivity("c1", "edit", text="--- \n+++ \n@@")),
        (
            "TodoWrite",
            {"todos": [{"status": one, "content": one} for one in ("completed", "in_progress", "pending")]},
            ObservedActivity("plan", "plan", text="[x] completed\n[>] in_progress\n[ ] pending"),
        ),
        (
            "Grep",
            {"pattern": "x"},
            ObservedActivity("c1", "tool", title="Grep x", text=json.dumps({"pattern": "x"})),
        ),
        ("mcp__room__look", {}, ObservedActivity("c1", "tool", title="room.look")),
    ],
)
def test_a_tool_call_is_shown_to_those_who_watch(name, given, shown):
    assert claude.began(name, given, "c1") == shown


@pytest.mark.parametrize(
    ("name", "given", "ok", "shown"),
    [
        (
            "Bash",
            {"stdout": "a", "stderr": "b"},
            True,
            ObservedActivity("c1", "command", "done", text="a\nb"),
        ),
        ("Bash", {"stdout": "a"}, False, ObservedActivity("c1", "command", "failed", text="a")),
        ("Write", {}, True, ObservedActivity("c1", "edit", "done")),
        ("Grep", None, False, ObservedActivity("c1", "tool", "failed")),
        ("TodoWrite", {}, True, None),
    ],
)
def test_how_a_tool_call_came_out_is_shown_too(name, given, ok, shown):
    assert claude.finished(name, given, "c1", ok=ok) == shown


COUNTS = {
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 3,
    "input_tokens": 2,
    "output_tokens": 7,
}


def test_tokens_are_counted_whole_and_what_was_read_again_apart():
    assert claude.usage(COUNTS) == TokenUsage(10, 7, 5)
    assert claude.seen_usage({"type": "message_start", "message": {"usage": COUNTS}}) == TokenUsage(10, 0, 5)
    assert claude.seen_usage({"type": "message_delta", "usage": COUNTS}) == TokenUsage(output=7)
    assert claude.seen_usage({"type": "message_stop", "usage": COUNTS}) is None


@pytest.mark.spec("C2A-163")
@pytest.mark.parametrize(
    ("word", "status", "subtype", "says", "code", "kind"),
    [
        (None, 200, "", "Prompt is too long for it", "context_full", "permanent"),
        ("rate_limit", 429, "", "", "rate_limited", "retryable"),
        ("rate_limit", 401, "", "", "signed_out", "permanent"),
        ("authentication_failed", None, "", "", "signed_out", "permanent"),
        ("billing_error", None, "", "", "over_budget", "permanent"),
        ("rate_limit", None, "", "", "rate_limited", "retryable"),
        ("invalid_request", None, "", "", "model_refused", "permanent"),
        ("server_error", None, "", "", "model_unavailable", "retryable"),
        (None, None, "error_max_budget_usd", "", "over_budget", "permanent"),
        ("unknown", None, "", "", "rubbish", "retryable"),
        ("news", None, "error_during_execution", "", "agent_error", "retryable"),
    ],
)
def test_a_failure_has_the_code_of_its_cause(word, status, subtype, says, code, kind):
    found = claude.failure(word, status, subtype, says)
    assert (found.code, found.kind.value) == (code, kind)
