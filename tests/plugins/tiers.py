"""Which of two tiers a test belongs to: `make test`, which everybody runs all the time, or `make proof`.

To proof belongs what needs a browser, a cluster of servers, other people's programs or SIGKILL, and what takes long:
the whole modules and folders in `PROOF`, and single tests under `@pytest.mark.proof`. A module of which nothing belongs
to the tier that runs is not even imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tools.places import folders_of_tests, name_of_test

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TIERS: Final = ("test", "proof")
PROOF: Final = (
    # Browsers.
    "web",
    "agent/guests/test_page.py",
    "relay/test_join_page.py",
    # Servers of NATS, several nodes, kills, faults of disks, clocks.
    "attention/io/test_restarts.py",
    "agent/groups/test_setbacks.py",
    "a2acp/post/test_erasure_killed.py",
    "a2acp/post/test_post.py",
    "a2acp/post/test_repair_kills.py",
    "a2acp/post/test_session_machine.py",
    "clocks",
    "faults",
    "hub/c2a/test_kill.py",
    "hub/test_crew.py",
    "hub/test_health.py",
    "hub/test_readers.py",
    "hub/test_stopping.py",
    "hub/test_writer_transports.py",
    "ledger/io/test_damage.py",
    "ledger/io/test_faults.py",
    "ledger/io/jetstream",
    "nodes",
    "relay/test_nodes.py",
    # Other people's agents, and programs beside ours.
    "agent/scenarios",
    "agent/spaces/test_scenarios.py",
    "agent/spaces/test_two.py",
    "agent/groups/test_caldav.py",
    "agent/groups/test_over_a_relay.py",
    "agent/contacts/io/test_finding.py",
    "agent/scheduling/io/test_calendars.py",
    "agent/shell/io/test_programs.py",
    "agent/memory/test_on_disk.py",
    "agent/test_on_disk.py",
    "bridges/mcp",
    "harness/drivers",
    "harness/io/test_minds.py",
    "harness/scenarios",
    "hub/test_personal_agent.py",
    # Whole hubs and their commands, as somebody types them.
    "agent/shell/commands/test_agent_brain.py",
    "agent/shell/commands/test_agent_find.py",
    "agent/shell/commands/test_agent_guest.py",
    "agent/shell/commands/test_agent_inbox.py",
    "agent/shell/commands/test_agent_join.py",
    "agent/shell/commands/test_agent_keys.py",
    "agent/shell/commands/test_agent_nudge.py",
    "agent/shell/commands/test_agent_process.py",
    "agent/shell/commands/test_agent_setup.py",
    "agent/shell/commands/test_agent_skill.py",
    "agent/shell/commands/test_agent_space.py",
    "agent/shell/commands/test_agent_thoughts.py",
    "agent/shell/commands/test_arrange.py",
    "cli/test_attention.py",
    "cli/test_cli.py",
    "cli/test_crew.py",
    "cli/test_demo.py",
    "cli/test_join.py",
    "cli/test_mcp.py",
    "a2acp/commands/test_relay_and_agent.py",
    "cli/test_who_gets_a_token.py",
    "cli/test_worktree.py",
    "docs",
    "hub/c2a/test_transports.py",
    # Attacks, random requests and lives, and our own tools.
    "agent/groups/test_undo.py",
    "attacks",
    "attention/test_bench.py",
    "attention/test_docs.py",
    "attention/test_hostile_texts.py",
    "harness/test_conduct_machine.py",
    "hub/c2a/test_fuzz.py",
    "hub/c2a/test_knocks.py",
    "hub/test_fuzz.py",
    "hub/test_openapi.py",
    "ledger/io/test_machine.py",
    "relay/test_fuzz.py",
    "tools",
)
MARK: Final = "mark.proof"


def is_proof(path: Path) -> bool:
    """Does all of a module belong to proof?"""
    where = name_of_test(path)
    return any(where == place or where.startswith(f"{place}/") for place in PROOF)


def leaves_out(path: Path, tier: str) -> bool:
    """Is there nothing in a module, or a folder, for this tier?"""
    if not any(path.is_relative_to(folder) and path != folder for folder in folders_of_tests()):
        return False
    if tier == "test":
        return is_proof(path)
    is_module = tier == "proof" and path.name.startswith("test_") and path.suffix == ".py"
    return is_module and not is_proof(path) and MARK not in path.read_text(encoding="utf-8")


def belongs(item: pytest.Item, tier: str) -> bool:
    """Does this test belong to the tier, or is no tier asked for?"""
    return not tier or (tier == "proof") == (
        is_proof(item.path) or item.get_closest_marker("proof") is not None
    )


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what belongs to the tier that was asked for."""
    tier = config.getoption("--tier")
    dropped = [item for item in items if not belongs(item, tier)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if belongs(item, tier)]
