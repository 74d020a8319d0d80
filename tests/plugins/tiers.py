"""Which of two tiers a test belongs to: `make test`, which everybody runs all the time, or `make proof`.

To proof belongs what needs a browser, a cluster of servers, other people's programs or SIGKILL, and what takes long:
the whole modules and folders in `PROOF`, and single tests under `@pytest.mark.proof`. A module of which nothing belongs
to the tier that runs is not even imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
TIERS: Final = ("test", "proof")
PROOF: Final = (
    # Browsers.
    "tests/web",
    "tests/relay/test_join_page.py",
    # Servers of NATS, several nodes, kills, faults of disks, clocks.
    "tests/attention/io/test_restarts.py",
    "tests/agent/group/test_setbacks.py",
    "tests/agent/post/test_erasure_killed.py",
    "tests/agent/post/test_post.py",
    "tests/agent/post/test_repair_kills.py",
    "tests/agent/post/test_session_machine.py",
    "tests/clocks",
    "tests/faults",
    "tests/hub/c2a/test_kill.py",
    "tests/hub/test_crew.py",
    "tests/hub/test_health.py",
    "tests/hub/test_readers.py",
    "tests/hub/test_stopping.py",
    "tests/hub/test_writer_transports.py",
    "tests/ledger/io/test_damage.py",
    "tests/ledger/io/test_faults.py",
    "tests/ledger/io/jetstream",
    "tests/nodes",
    "tests/relay/test_nodes.py",
    # Other people's agents, and programs beside ours.
    "tests/agent/scenarios",
    "tests/agent/spaces/test_scenarios.py",
    "tests/agent/spaces/test_two.py",
    "tests/agent/group/test_caldav.py",
    "tests/agent/group/test_over_a_relay.py",
    "tests/agent/io/test_finding.py",
    "tests/agent/io/test_calendars.py",
    "tests/agent/io/test_programs.py",
    "tests/agent/memory/test_on_disk.py",
    "tests/agent/test_on_disk.py",
    "tests/bridges/mcp",
    "tests/harness/drivers",
    "tests/harness/io/test_minds.py",
    "tests/harness/scenarios",
    "tests/hub/test_personal_agent.py",
    # Whole hubs and their commands, as somebody types them.
    "tests/cli/test_agent_brain.py",
    "tests/cli/test_agent_find.py",
    "tests/cli/test_agent_guest.py",
    "tests/cli/test_agent_inbox.py",
    "tests/cli/test_agent_join.py",
    "tests/cli/test_agent_keys.py",
    "tests/cli/test_agent_nudge.py",
    "tests/cli/test_agent_process.py",
    "tests/cli/test_agent_setup.py",
    "tests/cli/test_agent_skill.py",
    "tests/cli/test_agent_space.py",
    "tests/cli/test_agent_thoughts.py",
    "tests/cli/test_arrange.py",
    "tests/cli/test_attention.py",
    "tests/cli/test_cli.py",
    "tests/cli/test_crew.py",
    "tests/cli/test_demo.py",
    "tests/cli/test_join.py",
    "tests/cli/test_mcp.py",
    "tests/cli/test_relay_and_agent.py",
    "tests/cli/test_who_gets_a_token.py",
    "tests/cli/test_worktree.py",
    "tests/docs",
    "tests/hub/c2a/test_transports.py",
    # Attacks, random requests and lives, and our own tools.
    "tests/agent/group/test_undo.py",
    "tests/attacks",
    "tests/attention/test_bench.py",
    "tests/attention/test_docs.py",
    "tests/attention/test_hostile_texts.py",
    "tests/harness/test_conduct_machine.py",
    "tests/hub/c2a/test_fuzz.py",
    "tests/hub/c2a/test_knocks.py",
    "tests/hub/test_fuzz.py",
    "tests/hub/test_openapi.py",
    "tests/ledger/io/test_machine.py",
    "tests/relay/test_fuzz.py",
    "tests/tools",
)
MARK: Final = "mark.proof"


def is_proof(path: Path) -> bool:
    """Does all of a module belong to proof?"""
    where = path.relative_to(ROOT).as_posix()
    return any(where == place or where.startswith(f"{place}/") for place in PROOF)


def leaves_out(path: Path, tier: str) -> bool:
    """Is there nothing in a module, or a folder, for this tier?"""
    if not path.is_relative_to(ROOT / "tests"):
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
