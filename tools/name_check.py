"""Nobody is told to install what others own: `python -m tools.name_check`.

`tacit` is another project's name on every registry, and a name of ours that is still free there may be somebody's
tomorrow. So a text names what is in the checkout, a file or an address, and the product asks `install_hint`, which
alone writes a command that installs. Looked at are the files that people read or that write what they read.

An extra that a text names, `packages/room[mcp]` or `tacit-room[mcp]`, is one that this package has.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from tools.distributions import distributions
from tools.places import PACKAGES, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

HINT: Final = "packages/core/src/tacit/base/install_hint.py"
_LOOKED_AT: Final = (
    "docs", "deploy", "web/src", "web/index.html", "bench", "tools", "news", "packages", "locks", "*.md", "Makefile",
    "pyproject.toml", ":!packages/*/tests/*",
)  # fmt: skip
_PRODUCT: Final = re.compile(r"packages/\w+/src/")
_READ: Final = re.compile(r".*(?:\.(?:py|md|ts|tsx|html|toml|json|yaml|conf|service|in|txt|sh)|file)")

_OURS: Final = "|".join(PACKAGES)
# Indexes take a dash, a dot and an underscore for the same.
_NAME: Final = rf"(?:@tacit/[\w-]+|tacit(?:[-_.]+(?:{_OURS}))?(?![\w/@:-]|\.\w))"
_INSTALLERS: Final = (
    r"(?:pip[\d.]*|pipx|uv pip|uv tool|conda|mamba|npm|pnpm|yarn|bun|poetry|pdm|hatch|brew|apt|apt-get)"
    r"[\s\"',]+(?:[-\w=]+[\s\"',]+)?(?:global\s+)?(?:install|i|add|download|wheel|run|exec|dlx|create)"
    r"|uvx|npx|bunx|(?:uv|poetry|pdm|yarn|pnpm|bun)[\s\"',]+add"
)
# After the command come options, other packages, and quotes or brackets where it stands in a program or in JSON.
_COMMAND: Final = re.compile(rf"\b(?:{_INSTALLERS})\b[^\n`;&|)]*?(?<![\w./@:#=-]){_NAME}", re.IGNORECASE)
_WITH_EXTRA: Final = re.compile(r"(?<![\w./-])tacit\[[\w, -]+\]", re.IGNORECASE)
_REQUIRED: Final = re.compile(r"(?:^|[\"'])tacit *(?:[=~<>!]=|@ |[<>] *\d)", re.MULTILINE | re.IGNORECASE)
_EXTRAS: Final = re.compile(rf"\b(?:packages/|tacit[-_.]+)({_OURS})\[([\w\s,.-]+)\]", re.IGNORECASE)
# The checkout itself is no package any more.
_ROOT: Final = re.compile(
    r"\binstall\b[^\n`;&|]*?\s(?:-e|--editable)[\s=]+['\"]?\.(?![\w/])(?:\[[\w, -]+\])?"
)
_INSTALL: Final = re.compile(r"\b(?:pip3?|pipx|uv|npm)\b[\s\"',]+(?:tool\s+|pip\s+)?install\b")


def strangers(text: str) -> list[str]:
    """The places of a text that name what others own, or may own tomorrow, as something to install."""
    joined = text.replace("\\\n", " ")
    return [match[0] for pattern in (_COMMAND, _WITH_EXTRA, _REQUIRED) for match in pattern.finditer(joined)]


def faults(name: str, text: str, extras: Mapping[str, frozenset[str]]) -> list[str]:
    """What is wrong in one file; `extras` are those of each package."""
    wrong = [f"{name}: `{place}` is somebody else's" for place in strangers(text)]
    if _PRODUCT.match(name) and name != HINT and _INSTALL.search(text):
        wrong.append(f"{name}: a command that installs comes from install_hint alone")
    wrong += [f"{name}: `{place}` is no package: name one in packages/" for place in _ROOT.findall(text)]
    wrong += [
        f"{name}: packages/{package} has no extra '{extra}'"
        for package, asked in _EXTRAS.findall(text)
        for extra in re.findall(r"[\w.-]+", asked)
        if extra not in extras[package.lower()]
    ]
    return wrong


def files() -> list[str]:
    """The files that are looked at, by their path; this one has the spellings in it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *_LOOKED_AT], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    return [name for name in listed.split("\0") if _READ.fullmatch(name) and name != "tools/name_check.py"]


def main() -> int:
    """Say which files name what is not ours."""
    extras = {own.folder.name: frozenset(own.extras) for own in distributions(ROOT)}
    paths = [name for name in files() if (ROOT / name).exists()]
    wrong = [fault for name in paths for fault in faults(name, (ROOT / name).read_text("utf-8"), extras)]
    print("\n".join(wrong) or f"{len(paths)} files have nobody install what others own")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
