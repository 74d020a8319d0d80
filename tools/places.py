"""Where things lie in this repository: the six packages, the sources and tests of each, and what is beside them.

python -m tools.places    make the tests of all packages, and these tools, importable in the environment that runs this
"""

from __future__ import annotations

import site
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("core", "clowl", "c2a", "a2acp", "agent", "room")
"""Each stands on some of those before it."""


def packages(root: Path = ROOT) -> list[Path]:
    """The folders of the packages that are there."""
    return [folder for name in PACKAGES if (folder := root / "packages" / name).is_dir()]


def sources(root: Path = ROOT) -> list[Path]:
    """The folders that Python imports the product from; a repository that is one package has it at its root."""
    return [folder / "src" for folder in packages(root) or [root]]


def modules(root: Path = ROOT) -> Iterator[tuple[Path, str]]:
    """Every module of the product, with its path below `tacit`: `ledger/io/writer.py`."""
    for source in sources(root):
        for path in sorted(source.rglob("*.py")):
            yield path, path.relative_to(source / "tacit").as_posix()


def below_source(path: Path, root: Path = ROOT) -> Path:
    """The path of a module as Python sees it: `tacit/ledger/io/writer.py`."""
    [source] = [folder for folder in sources(root) if path.is_relative_to(folder)]
    return path.relative_to(source)


def projects(root: Path = ROOT) -> list[Path]:
    """What each package says of itself to those who install it."""
    return [folder / "pyproject.toml" for folder in packages(root) or [root]]


def pages(root: Path = ROOT) -> list[Path]:
    """Every page for people: the root's, those of `docs/`, `spec/` and `news/`, and each package's own."""
    beside = [path for folder in packages(root) for path in sorted(folder.glob("*.md"))]
    within = [path for name in ("docs", "spec", "news") for path in sorted((root / name).rglob("*.md"))]
    return [*sorted(root.glob("*.md")), *beside, *within]


def rooms(root: Path = ROOT) -> dict[str, Path]:
    """The import packages below `tacit` and where each lies: ledger, hub, …"""
    return {
        folder.name: folder
        for source in sources(root)
        for folder in sorted((source / "tacit").iterdir())
        if (folder / "__init__.py").exists()
    }


def folders_of_tests(root: Path = ROOT) -> list[Path]:
    """Where tests lie: beside their package, or beside all of them."""
    return [*(folder / "tests" for folder in packages(root)), root / "tests"]


def name_of_test(path: Path, root: Path = ROOT) -> str:
    """How a file of the tests is called below its folder of tests: `ledger/io/test_journal.py`."""
    for folder in folders_of_tests(root):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    raise ValueError(f"{path} is no test's")


def main() -> None:
    """Write the file by which Python finds `tests`, `tools` and `bench` from any folder, in any process."""
    folders = [ROOT, *packages()]
    path = Path(site.getsitepackages()[0], "tacit-tests.pth")
    path.write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")


if __name__ == "__main__":
    main()
