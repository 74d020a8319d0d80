"""A second environment whose product is a changed copy, beside the one that is installed.

It has a Python of its own that finds the copy first and the installed libraries behind it, so that every process which
a test starts with this Python, or with the `tacit` beside it, runs the copy too, whatever environment it is given. The
work tree is never written to.
"""

from __future__ import annotations

import compileall
import os
import shutil
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from tools.places import ROOT, sources


@dataclass(frozen=True, slots=True)
class Overlay:
    """Where the copy is, and the Python that runs it."""

    folder: Path

    @property
    def source(self) -> Path:
        """The copies of all packages, in one."""
        return self.folder / "src"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "venv" / "bin" / "python"

    def environment(self) -> dict[str, str]:
        """What a process started with it should see."""
        path = os.pathsep.join([str(self.python.parent), os.environ.get("PATH", "")])
        # A path of modules from outside would come before the copy's: the unchanged product would run.
        outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return {**outside, "PATH": path, "VIRTUAL_ENV": str(self.folder / "venv")}


def build(folder: Path, root: Path = ROOT) -> Overlay:
    """Copy the product and make a Python that prefers the copy."""
    overlay = Overlay(folder)
    # Compiled modules come along: a copy has its original's time, so they hold until a module is changed.
    for source in sources(root):
        shutil.copytree(
            source, overlay.source, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.egg-info")
        )
    venv.EnvBuilder(symlinks=True).create(folder / "venv")
    # From the path, not from the prefix: a Python of this kind may build another.
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    ours = folder / "venv" / "lib" / version / "site-packages" / "overlay.pth"
    ours.write_text("\n".join([str(overlay.source), *libraries, ""]), encoding="utf-8")
    _scripts(Path(sys.executable).parent, overlay.python)
    for cache in Path(sys.prefix).glob("npm"):
        # Programs that tests fetch once an environment are not fetched again.
        (folder / "venv" / cache.name).symlink_to(cache)
    return overlay


def compile_modules(overlay: Overlay) -> None:
    """Compile the copy's modules, so that the many processes which tests start need not, whatever the environment says.

    By time and size: a module that is changed later is read anew.
    """
    compileall.compile_dir(overlay.source, quiet=1)


def _scripts(installed: Path, python: Path) -> None:
    """Commands that would start the installed Python start this one."""
    for script in installed.iterdir():
        target = python.parent / script.name
        if target.exists() or target.is_symlink() or not script.is_file() or script.name.startswith("python"):
            continue
        head = script.read_bytes()[:200]
        if head.startswith(b"#!") and b"python" in head.partition(b"\n")[0]:
            text = script.read_text(encoding="utf-8").partition("\n")[2]
            target.write_text(f"#!{python}\n{text}", encoding="utf-8")
            target.chmod(0o755)
        else:
            target.symlink_to(script)
