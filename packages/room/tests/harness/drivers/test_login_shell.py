"""Whichever shell a person signs in to, their agents can run commands."""

import os
import pwd
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tools.places import ROOT

TESTS = Path(__file__).parent / "test_access.py"


@pytest.mark.skipif(os.getuid() != 0, reason="root alone gives a program another list of accounts")
def test_who_signs_in_to_a_plain_sh_has_a_codex_that_can_run_commands(tmp_path):
    mine = pwd.getpwuid(os.getuid())
    accounts = tmp_path / "passwd"
    accounts.write_text(f"{mine.pw_name}:x:{mine.pw_uid}:{mine.pw_gid}::{mine.pw_dir}:/bin/sh\n")
    apart = ["unshare", "--mount"]
    put = f"mount --bind {shlex.quote(str(accounts))} /etc/passwd"
    tried = subprocess.run([*apart, "sh", "-c", put], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"this machine lets no program see another list of accounts: {tried.stderr.strip()}")
    options = ["-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'inside'}"]
    chosen = ["-k", "codex and (models_key or read_and_nothing_outside)", str(TESTS)]
    tests = shlex.join([sys.executable, "-m", "pytest", *options, *chosen])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(
        [*apart, "sh", "-c", f"{put} && exec {tests}"],
        cwd=ROOT,
        env=environment | {"SHELL": "/bin/sh"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout
