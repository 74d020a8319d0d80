"""What every test shares: Hypothesis without a clock, so that a busy machine fails nobody; who runs where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from tests.plugins import no_secrets, spec_rows, tiers
from tools.places import ROOT, name_of_test

if TYPE_CHECKING:
    from pathlib import Path

# Before a test module imports the product, which looks for it.
RECORDER = spec_rows.recorder()

settings.register_profile(
    "house",
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("house")


DRIVERS = {"codex", "claude", "acp", "openai", "command"}
DEAR = {
    "tools/test_mutate.py",
    "agent/shell/commands/test_agent_keys.py",
    "relay/test_nodes.py",
    "nodes/test_faults.py",
}
"""Modules whose tests share a server that takes seconds to start."""


class Together(LoadScopeScheduling):
    """Tests wander between workers, except those that share what is dear: one browser, one agent a driver.

    What stays together is begun first, the most tests before the fewer: no worker is left alone with it.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        path = name_of_test(ROOT / file)
        for shared in ("web", "ledger/io/jetstream"):
            if path.startswith(f"{shared}/"):
                return shared
        if path in DEAR:
            return path
        if path.startswith("harness/drivers/") and test.endswith("]"):
            words = test.rpartition("[")[2].rstrip("]").split("-")
            return next((f"{path} {word}" for word in words if word in DRIVERS), nodeid)
        return nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Together:
    return Together(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--spec", default="", metavar="ROW[,ROW]", help="run only tests that name one of these rows"
    )
    parser.addoption(
        "--tier",
        default="",
        choices=tiers.TIERS,
        help="run only what belongs to `make test`, or to `make proof`",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    tier = config.getoption("--tier")
    return True if tier and tiers.leaves_out(collection_path, tier) else None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(no_secrets.Watch(), "no_secrets")
    if RECORDER is not None:
        config.pluginmanager.register(RECORDER)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    spec_rows.select(config, items)
    tiers.select(config, items)
