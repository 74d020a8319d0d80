"""Each distribution of a release in an empty environment of its own, on each Python that it declares and that is here.

Installed by name, from the release's folder and from what pip is configured with, every file by its hash: first what
the wheel itself asks for, in the versions of `requirements.txt`, so that a need that is not declared shows; then
`pip check`, every module compiled with warnings as errors, and the distribution's own `release-checks`. After that, the
extras of which `release-checks-with` proves something, one after the other, in the same environment.

Where one of ours asks for another, pip is given the file too: what an index has under our names is somebody else's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools import sbom
from tools.distributions import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
                _fault(own, ours, program, out, scratch / f"{own.name}-{minor}")
                if minor in own.pythons
                else None
            )
            if fault is not None:
                print(f"{own.name} {own.version} on Python {minor}: {fault}")
                return False
            print(f"{own.name} {own.version} on Python {minor}: installed alone, and works")
    return True


def _fault(own: Distribution, ours: list[Distribution], program: str, out: Path, home: Path) -> str | None:
    """What goes wrong in an empty environment; None when nothing does."""
    home.mkdir()
    environment = _environment(home)
    making = [("an environment", [program, "-m", "venv", str(home / "env")])]
    if fault := _first_fault(making, home, environment):
        return fault
    files, chosen = _Files(ours, out, home), frozenset[str]()
    for extra, checks in [("", own.checks), *own.checks_with.items()]:
        report = _pip("install", "--dry-run", "--report", "asked.json", *files.asked_for(own, extra))
        if fault := _first_fault([("what it asks for", report)], home, environment):
            return _said_of(extra, fault)
        chosen |= files.chosen(home / "asked.json")
        (home / "requirements.txt").write_text(files.hashed(chosen), encoding="utf-8")
        if fault := _first_fault(_steps(checks, out, home), home, environment):
            return _said_of(extra, fault)
    return None


def _said_of(extra: str, fault: str) -> str:
    return f"with its extra {extra}, {fault}" if extra else fault


def _environment(home: Path) -> dict[str, str]:
    environment = {name: text for name, text in os.environ.items() if _KEPT.fullmatch(name)}
    environment |= {"HOME": str(home), "PATH": f"{home / 'env' / 'bin'}:/usr/bin:/bin", "NO_COLOR": "1"}
    # Where this account has told pip to look is part of how pip is configured; the rest of its home is not there.
    configured = os.environ.get("PIP_CONFIG_FILE") or str(Path("~/.config/pip/pip.conf").expanduser())
    environment["PIP_CONFIG_FILE"] = configured
    return environment | {"PIP_CACHE_DIR": str(home.parent / "downloads"), "PYTHONDONTWRITEBYTECODE": ""}


def _steps(checks: Iterable[str], out: Path, home: Path) -> list[tuple[str, list[str]]]:
    """Install what is in `requirements.txt`, see whether it fits together, and prove it."""
    places = ["--find-links", str(out), "--require-hashes", "--requirement", "requirements.txt"]
    folders = [f"{path}/tacit" for path in (home / "env" / "lib").glob("python3*/site-packages")]
    return [
        ("its installation", _pip("install", *places)),
        ("pip check", _pip("check")),
        ("its modules", ["python", "-W", "error", "-m", "compileall", "-q", "-f", *folders]),
        *((f"`{line.strip()}`", ["sh", "-euc", line]) for line in checks),
    ]


def _pip(*words: str) -> list[str]:
    return ["python", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", *words]


class _Files:
    """A release's folder: which versions and hashes pip may have, and where our own wheels are."""

    def __init__(self, ours: list[Distribution], out: Path, home: Path) -> None:
        pinned = sbom.libraries((out / "requirements.txt").read_text(encoding="utf-8"))
        self._lines: Final = {library.name: library.line for library in pinned}
        self._ours: Final = ours
        self._out: Final = out
        self._versions: Final = home / "versions.txt"
        plain = (re.sub(r" \\\n +--hash=\S+", "", library.line) for library in pinned)
        self._versions.write_text("".join(f"{line}\n" for line in plain), encoding="utf-8")

    def asked_for(self, own: Distribution, extra: str) -> list[str]:
        """The distribution's own wheel, with those of ours that it stands on, and the versions of libraries."""
        return ["--constraint", str(self._versions), *wheels_for(own, extra, self._ours, self._out)]

    def chosen(self, report: Path) -> frozenset[str]:
        """The names of what pip would install."""
        asked = json.loads(report.read_text(encoding="utf-8"))["install"]
        return frozenset(canonical(item["metadata"]["name"]) for item in asked)

    def hashed(self, names: Iterable[str]) -> str:
        """The lines of the release's requirements for these, and no others."""
        return "".join(f"{self._lines.get(name, f'{name} is not in the lock')}\n" for name in sorted(names))


def wheels_for(own: Distribution, extra: str, ours: list[Distribution], out: Path) -> list[str]:
    """What pip is given: each wheel of ours that it needs as a file, so that it looks nowhere for our names."""
    asked = f"{own.name}[{extra}]" if extra else own.name
    names = sbom.resolved(ours, [asked])
    wheels = {other.name: str(next(out.glob(f"{other.stem}-*.whl"))) for other in ours}
    return [
        f"{wheels[other.name]}[{extra}]" if extra and other == own else wheels[other.name]
        for other in ours
        if canonical(other.name) in names
    ]


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
