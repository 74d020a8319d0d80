"""The web room's built files match its source.

python tools/web_check.py             compare digests: every source with what the build saw, every built file with
                                      what the build wrote
python tools/web_check.py --rebuild   also build again (needs node and web/node_modules) and compare the bytes
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PAGE = ROOT / "packages" / "core" / "src" / "tacit" / "base" / "page"
CONFIGURATION = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


def digests(base: Path, paths: list[Path]) -> dict[str, str]:
    """sha256 of each file by its path below `base`."""
    return {
        path.relative_to(base).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    }


def files(folder: Path) -> list[Path]:
    """Every file below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


def differences(kind: str, now: dict[str, str], then: dict[str, str]) -> list[str]:
    """What changed since the build."""
    return [
        f"{kind} {name} is not as the build saw it"
        for name in sorted(now.keys() | then.keys())
        if now.get(name) != then.get(name)
    ]


def faults() -> list[str]:
    """What does not match the manifest of the last build."""
    manifest = json.loads((PAGE / "manifest.json").read_text(encoding="utf-8"))
    sources = digests(WEB, [WEB / name for name in CONFIGURATION] + files(WEB / "src"))
    built = digests(PAGE, [path for path in files(PAGE) if path.name != "manifest.json"])
    return differences("source", sources, manifest["sources"]) + differences(
        "built", built, manifest["built"]
    )


def rebuilt() -> list[str]:
    """Build into a scratch folder and compare."""
    vite = WEB / "node_modules" / ".bin" / "vite"
    if shutil.which("node") is None or not vite.exists():
        return ["to rebuild, install node and run `make web`"]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(
            [vite, "build", "--outDir", scratch, "--logLevel", "error"],
            cwd=WEB,
            check=True,
            env={**os.environ},
        )
        fresh = digests(Path(scratch), files(Path(scratch)))
    kept = digests(PAGE, [path for path in files(PAGE) if path.name != "manifest.json"])
    return differences("rebuilt", fresh, kept)


def main() -> int:
    """Say what is stale."""
    found = faults() + (rebuilt() if "--rebuild" in sys.argv[1:] else [])
    print("\n".join(found) or "the built web room matches its source")
    if found:
        print("run `make web` and commit packages/core/src/tacit/base/page", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
