"""Each distribution of a release in an empty environment of its own, on each Python that it declares and that is here.

Installed by name, from the release's folder and from what pip is configured with, every file by its hash: first what
the wheel itself asks for, in the versions of `requirements.txt`, so that a need that is not declared shows; then
`pip check`, every module compiled with warnings as errors, and the distribution's own `release-checks`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.distributions import canonical

from tools import sbom

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tools.distributions import Distribution

PATIENCE: Final = 600.0
_KEPT: Final = re.compile(r"PIP_\w+|\w+_proxy|LANG|TMPDIR|SSL_CERT_FILE", re.IGNORECASE)


def python(minor: str) -> str | None:
    """The program `python3.X` of the PATH, if it runs and can make an environment."""
    program = shutil.which(f"python{minor}")
    if program is None:
        return None
    done = subprocess.run([program, "-c", "import ensurepip, venv"], capture_output=True, check=False)
    return program if done.returncode == 0 else None


def try_all(ours: list[Distribution], out: Path, scratch: Path) -> bool:
    """Try each distribution on each Python; say what came of it, and which Pythons were missing."""
    minors = sorted(
        {minor for own in ours for minor in own.pythons}, key=lambda text: int(text.split(".")[1])
    )
    here = {minor: program for minor in minors if (program := python(minor))}
    if missing := [minor for minor in minors if minor not in here]:
        print(f"not tried on Python {', '.join(missing)}: no such program on the PATH that runs")
    if not here:
        print("there is no Python to try the release on")
        return False
    for minor, program in here.items():
        for own in ours:
            fault = (
                _fault(own, program, out, scratch / f"{own.name}-{minor}") if minor in own.pythons else None
            )
            if fault is not None:
                print(f"{own.name} {own.version} on Python {minor}: {fault}")
                return False
            print(f"{own.name} {own.version} on Python {minor}: installed alone, and works")
    return True


def _fault(own: Distribution, program: str, out: Path, home: Path) -> str | None:
    """What goes wrong in an empty environment; None when nothing does."""
    home.mkdir()
    environment = {name: text for name, text in os.environ.items() if _KEPT.fullmatch(name)}
    environment |= {"HOME": str(home), "PATH": f"{home / 'env' / 'bin'}:/usr/bin:/bin", "NO_COLOR": "1"}
    # Where this account has told pip to look is part of how pip is configured; the rest of its home is not there.
    configured = os.environ.get("PIP_CONFIG_FILE") or str(Path("~/.config/pip/pip.conf").expanduser())
    environment["PIP_CONFIG_FILE"] = configured
    environment |= {"PIP_CACHE_DIR": str(home.parent / "downloads"), "PYTHONDONTWRITEBYTECODE": ""}
    steps = [
        ("an environment", [program, "-m", "venv", str(home / "env")]),
        ("what it asks for", _pip("install", "--dry-run", "--report", "asked.json", *_named(own, out))),
    ]
    if fault := _first_fault(steps, home, environment):
        return fault
    (home / "requirements.txt").write_text(_hashed(own, out, home / "asked.json"), encoding="utf-8")
    places = ["--find-links", str(out), "--require-hashes", "--requirement", "requirements.txt"]
    sources = [str(path) for path in (home / "env" / "lib").glob("python3*/site-packages")]
    steps = [
        ("its installation", _pip("install", *places)),
        ("pip check", _pip("check")),
        (
            "its modules",
            ["python", "-W", "error", "-m", "compileall", "-q", "-f", *(f"{it}/tacit" for it in sources)],
        ),
        *((f"`{line.strip()}`", ["sh", "-euc", line]) for line in own.checks),
    ]
    return _first_fault(steps, home, environment)


def _pip(*words: str) -> list[str]:
    return ["python", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", *words]


def _named(own: Distribution, out: Path) -> list[str]:
    """The distribution's own wheel, and the versions that others may have."""
    constraints = out / "requirements.txt"
    plain = re.sub(r" \\\n +--hash=\S+", "", constraints.read_text(encoding="utf-8"))
    (out.parent / "versions.txt").write_text(plain, encoding="utf-8")
    wheel = next(out.glob(f"{own.stem}-*.whl"))
    return ["--find-links", str(out), "--constraint", str(out.parent / "versions.txt"), str(wheel)]


def _hashed(own: Distribution, out: Path, report: Path) -> str:
    """The lines of the release's requirements for what pip would install, and no others."""
    lines = {
        library.name: library.line
        for library in sbom.libraries((out / "requirements.txt").read_text("utf-8"))
    }
    asked = json.loads(report.read_text(encoding="utf-8"))["install"]
    chosen = {canonical(item["metadata"]["name"]) for item in asked} | {canonical(own.name)}
    return "".join(f"{lines.get(name, f'{name} is not in the lock')}\n" for name in sorted(chosen))


def _first_fault(
    steps: list[tuple[str, list[str]]], home: Path, environment: Mapping[str, str]
) -> str | None:
    for what, words in steps:
        program = shutil.which(words[0], path=environment["PATH"]) or words[0]
        try:
            done = subprocess.run(
                [program, *words[1:]],
                cwd=home, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{what} took more than {PATIENCE:.0f} seconds"
        if done.returncode:
            return f"{what} ended with {done.returncode}:\n{done.stdout}"
    return None
