"""The suites of the hub, of attention at its doors and of the relay, on JetStream instead of a folder's file.

Contract tests of both journals, and the hubs of `packages/core/tests/ledger/io/jetstream`, are the part of it that every run has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.ledger.io.jetstream.servers import one
from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("suite", ["hub", "relay", "attention", "client", "ledger"])
def test_a_suite_passes_on_jetstream(suite: str, tmp_path: Path) -> None:
    server = one(tmp_path / "server")
    try:
        told = [sys.executable, "-m", "pytest", f"tests/{suite}", "-q", "-n", "2"]
        ended = subprocess.run(
            [*told, "-m", "not soak and not folder"],
            cwd=ROOT,
            env={**os.environ, "TACIT_TEST_NATS": server.url},
            check=False,
            capture_output=True,
            text=True,
        )
    finally:
        server.kill()
    assert ended.returncode == 0, ended.stdout[-20_000:]
