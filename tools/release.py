"""A release: wheels and sdists of every distribution, the same bytes for the same commit, tried before they are left.

python -m tools.release              make them in dist/, from the commit that is checked out
python -m tools.release --no-trial   the same, without an installation on each Python

What is not committed is not in it. Everything is built twice, in two folders under other file modes, and has to come
out alike, and the wheel that the sdist makes has to be the wheel. dist/ then holds, beside the files, their SHA256SUMS,
the bill of materials (`tools.sbom`), and `requirements.txt`: our wheels and all that they need, each with its hashes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tools import install_trial, sbom
from tools.distributions import ROOT, Distribution, build, distributions, require_pinned_builder

SUMS: Final = "SHA256SUMS"
REQUIREMENTS: Final = "requirements.txt"
_MASKS: Final = (0o022, 0o077)


def git(*words: str) -> str:
    """What git answers in this repository."""
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def digest(path: Path) -> str:
    """The sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def checked_out(folder: Path) -> Path:
    """The commit's files, and nothing else, in a new folder."""
    folder.mkdir()
    with subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x"], cwd=folder, stdin=archive.stdout, check=True)
    if archive.returncode:
        raise SystemExit("git could not write out the commit")
    return folder


def tag_faults(versions: set[str], tags: list[str], changes: str, fragments: list[str]) -> list[str]:
    """What keeps this commit from being the release that its tag says it is; a commit without a tag may be anything."""
    faults = (
        [f"the distributions have several versions: {', '.join(sorted(versions))}"]
        if len(versions) > 1
        else []
    )
    for tag in tags:
        version = tag.removeprefix("v")
        if {version} != versions:
            faults.append(f"the tag {tag} stands on version {', '.join(sorted(versions))}")
        if not re.search(rf"(?m)^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changes):
            faults.append(
                f"CHANGELOG.md has no section for {version} with its date: python -m tools.news {version}"
            )
        faults += [f"{fragment} is in no section of CHANGELOG.md" for fragment in fragments]
    return faults


def built_twice(scratch: Path, epoch: int) -> tuple[Path, Path]:
    """The commit's files, and the folder of what was made of them twice, and came out the same."""
    outs: list[Path] = []
    tree = scratch
    for number, mask in enumerate(_MASKS):
        before = os.umask(mask)
        try:
            tree = checked_out(scratch / f"{'tree' * (number + 1)}{number}")
            outs.append(scratch / f"out{number}")
            for distribution in distributions(tree):
                build(distribution, outs[-1], "wheel", "sdist", epoch=epoch)
        finally:
            os.umask(before)
    first, second = ({path.name: digest(path) for path in out.iterdir()} for out in outs)
    if first != second:
        other = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
        raise SystemExit(f"not the same bytes twice: {', '.join(other)}")
    for path in outs[0].iterdir():
        path.chmod(0o644)
    return tree, outs[0]


def wheel_of(distribution: Distribution, out: Path) -> Path:
    """The wheel of a distribution among these files."""
    [wheel] = out.glob(f"{distribution.stem}-*.whl")
    return wheel


def require_same_from_sdist(distribution: Distribution, out: Path, scratch: Path, epoch: int) -> None:
    """Whoever builds from the sdist gets the wheel that others download."""
    unpacked = scratch / f"sdist-{distribution.name}"
    unpacked.mkdir()
    subprocess.run(["tar", "-xzf", str(out / f"{distribution.stem}.tar.gz")], cwd=unpacked, check=True)
    projects = {project.name: project for project in distributions(unpacked / distribution.stem)}
    project = projects[distribution.name]
    again = scratch / f"again-{distribution.name}"
    build(project, again, "wheel", epoch=epoch)
    if digest(wheel_of(project, again)) != digest(wheel_of(distribution, out)):
        raise SystemExit(f"{distribution.name}: the sdist makes another wheel")


def describe(ours: list[Distribution], tree: Path, out: Path, epoch: int) -> None:
    """Put requirements, bill of materials and sums beside the files."""
    wheels = {own: digest(wheel_of(own, out)) for own in ours}
    locks = [(tree / "locks" / name).read_text(encoding="utf-8") for name in ("run.txt", "scale.txt")]
    plain, whole = map(sbom.libraries, locks)
    if {library.line for library in plain} - {library.line for library in whole}:
        raise SystemExit("locks/scale.txt pins other versions than locks/run.txt: make lock")
    scope = sbom.scopes(ours, plain)
    lines = [f"{own.name}=={own.version} \\\n    --hash=sha256:{wheels[own]}" for own in ours]
    lines += [library.line for library in plain if scope[library.name] != "excluded"]
    (out / REQUIREMENTS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    bill = out / f"tacit-{ours[0].version}.cdx.json"
    bill.write_text(sbom.document(wheels, whole, epoch), encoding="utf-8")
    sums = "".join(f"{digest(path)}  {path.name}\n" for path in sorted(out.iterdir()))
    (out / SUMS).write_text(sums, encoding="utf-8")


def main() -> int:
    """Make the release, or say what is wrong."""
    if set(sys.argv[1:]) - {"--no-trial"}:
        print(__doc__, file=sys.stderr)
        return 2
    require_pinned_builder(ROOT / "locks" / "run.txt")
    if git("status", "--porcelain"):
        print("what is not committed here is not in the release")
    epoch = int(git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory(prefix="tacit-release-") as name:
        scratch = Path(name)
        tree, out = built_twice(scratch, epoch)
        ours = distributions(tree)
        tags = [tag for tag in git("tag", "--points-at", "HEAD").split() if re.fullmatch(r"v\d.*", tag)]
        fragments = [
            path for path in git("ls-tree", "--name-only", "HEAD", "news/").split() if path.endswith(".md")
        ]
        if faults := tag_faults(
            {own.version for own in ours}, tags, git("show", "HEAD:CHANGELOG.md"), fragments
        ):
            print("\n".join(faults), file=sys.stderr)
            return 1
        for distribution in ours:
            require_same_from_sdist(distribution, out, scratch, epoch)
        describe(ours, tree, out, epoch)
        if "--no-trial" not in sys.argv[1:] and not install_trial.try_all(ours, out, scratch):
            return 1
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        shutil.copytree(out, ROOT / "dist")
    print((ROOT / "dist" / SUMS).read_text(encoding="utf-8"), end="")
    print(f"in dist/, of commit {git('rev-parse', 'HEAD')}" + ("" if tags else ", which has no tag"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
