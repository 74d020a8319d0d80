"""The distributions of this repository, and the wheels and sdists that the pinned hatchling makes of them.

python -m tools.distributions FOLDER   the wheels of the files as they stand here: what an image installs

Each package is a distribution, described in its own `packages/*/pyproject.toml`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools.places import ROOT, projects

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILDER: Final = "hatchling"
_MINOR: Final = re.compile(r"Programming Language :: Python :: (3\.\d+)")


@dataclass(frozen=True, slots=True)
class Distribution:
    """What a project says of itself."""

    name: str
    version: str
    folder: Path
    licence: str
    requires: tuple[str, ...]
    extras: Mapping[str, tuple[str, ...]] = field(hash=False)
    """What each of its extras needs beyond that."""
    pythons: tuple[str, ...]
    """The versions of Python that it declares: "3.11", …"""
    checks: tuple[str, ...]
    """Lines for `sh` that prove an installation of it alone."""
    checks_with: Mapping[str, tuple[str, ...]] = field(hash=False)
    """By extra: lines that prove an installation of it with this extra."""

    @property
    def stem(self) -> str:
        """How the names of its files begin."""
        return f"{canonical(self.name).replace('-', '_')}-{self.version}"


def canonical(name: str) -> str:
    """A distribution's name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions(root: Path) -> list[Distribution]:
    """Those of a checkout, or of what an sdist unpacks to."""
    return [_described(path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in projects(root)]


def _described(path: Path, document: dict[str, Any]) -> Distribution:
    project, ours = document["project"], document.get("tool", {}).get("tacit", {})
    return Distribution(
        name=project["name"],
        version=project["version"],
        folder=path.parent,
        licence=project["license"],
        requires=tuple(project.get("dependencies", ())),
        extras=_by_extra(project.get("optional-dependencies", {})),
        pythons=tuple(
            match[1] for line in project.get("classifiers", ()) if (match := _MINOR.fullmatch(line))
        ),
        checks=tuple(ours.get("release-checks", ())),
        checks_with=_by_extra(ours.get("release-checks-with", {})),
    )


def _by_extra(table: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {canonical(extra): tuple(table[extra]) for extra in sorted(table)}


def require_pinned_builder(lock: Path) -> None:
    """Another version of the builder may write other bytes."""
    pinned = re.search(rf"(?m)^{BUILDER}==(\S+)", lock.read_text(encoding="utf-8"))
    if pinned is None or pinned[1] != version(BUILDER):
        raise SystemExit(f"{BUILDER} {version(BUILDER)} is here, the lock has another: make setup")


def build(distribution: Distribution, out: Path, *targets: str, epoch: int | None = None) -> None:
    """Make the distribution's files of these targets (`wheel`, `sdist`) in a folder, without a network."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    environment |= {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"}
    if epoch is not None:
        environment["SOURCE_DATE_EPOCH"] = str(epoch)
    words = [sys.executable, "-m", BUILDER, "build", "--directory", str(out)]
    words += [word for target in targets for word in ("--target", target)]
    done = subprocess.run(
        words, cwd=distribution.folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{distribution.name} could not be built:\n{done.stdout}{done.stderr}")


def main() -> int:
    """Make the wheels of the working folder."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    require_pinned_builder(ROOT / "locks" / "run.txt")
    for distribution in distributions(ROOT):
        build(distribution, Path(sys.argv[1]).resolve(), "wheel")
    return 0


if __name__ == "__main__":
    sys.exit(main())
