"""An environment in which one package of ours is installed, and of everything else only what it asks for.

Made without a network: wheels of ours are built from this checkout and say what they ask for; the libraries that they
name, with those that these name in turn, are linked from the environment that runs the tests. What is not declared is
not there.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from configparser import ConfigParser
from email import message_from_string
from importlib.metadata import Distribution, distribution
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.distributions import build, distributions
from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

OURS = {own.name: own for own in distributions(ROOT)}


class Wheels:
    """The wheels of all six packages, of the files as they stand."""

    def __init__(self, folder: Path) -> None:
        for own in OURS.values():
            build(own, folder, "wheel")
        self._files = {name: next(folder.glob(f"{own.stem}-*.whl")) for name, own in OURS.items()}

    def _record(self, name: str, file: str) -> str:
        with zipfile.ZipFile(self._files[name]) as wheel:
            [path] = [path for path in wheel.namelist() if path.endswith(f".dist-info/{file}")]
            return wheel.read(path).decode()

    def _asked(self, name: str) -> list[str]:
        if name not in OURS:
            return distribution(name).requires or []
        return message_from_string(self._record(name, "METADATA")).get_all("Requires-Dist") or []

    def needed(self, requirement: str) -> set[str]:
        """The distributions that an installation of this brings."""
        extras: dict[str, set[str]] = {}
        waiting = [Requirement(requirement)]
        while waiting:
            wanted = waiting.pop()
            name = canonicalize_name(wanted.name)
            new = {"", *wanted.extras} - extras.setdefault(name, set())
            extras[name] |= new
            for need in map(Requirement, self._asked(name) if new else ()):
                if any(need.marker is None or need.marker.evaluate({"extra": extra}) for extra in new):
                    waiting.append(need)
        return set(extras)

    def unpack(self, name: str, site: Path) -> None:
        """Install one of ours."""
        with zipfile.ZipFile(self._files[name]) as wheel:
            wheel.extractall(site)

    def scripts(self, name: str) -> dict[str, str]:
        """The commands that one of ours puts on the path, each with its place."""
        if name != "tacit-core":
            return {}
        record = ConfigParser()
        record.read_string(self._record(name, "entry_points.txt"))
        return dict(record["console_scripts"])


class Alone:
    """The environment, in a folder of its own."""

    def __init__(self, folder: Path, wheels: Wheels, requirement: str) -> None:
        self.own = OURS[canonicalize_name(Requirement(requirement).name)]
        self.names = wheels.needed(requirement)
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
        self.bin = folder / "env" / "bin"
        [site] = (folder / "env" / "lib").glob("python3*/site-packages")
        for name in sorted(self.names):
            if name in OURS:
                wheels.unpack(name, site)
                for script, place in wheels.scripts(name).items():
                    self._put(script, *place.split(":"))
            else:
                _link(distribution(name), site)

    def _put(self, script: str, module: str, function: str) -> None:
        path = self.bin / script
        path.write_text(
            f"#!{self.bin / 'python'}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n",
            encoding="utf-8",
        )
        path.chmod(0o755)

    def run(self, *words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment in its empty home; what it prints comes back in one text."""
        return subprocess.run(
            [str(self.bin / words[0]) if (self.bin / words[0]).exists() else words[0], *words[1:]],
            cwd=self.home, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240,
            env={"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
            check=False,
        )  # fmt: skip


def _link(library: Distribution, site: Path) -> None:
    """Have a library here that is installed there."""
    tops = {file.parts[0] for file in library.files or () if file.parts[0] not in {"..", "__pycache__"}}
    for top in sorted(tops):
        if not (site / top).exists():
            (site / top).symlink_to(library.locate_file(top))
