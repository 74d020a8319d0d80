"""What changed, a short file for each change in `news/`, joined into CHANGELOG.md when a version is released.

python -m tools.news VERSION   join them under this version and today's date, and remove them
python -m tools.news --check   each file is named after its kind and is one paragraph

A file is called `<a few words or an issue's number>.<kind>.md`; the kinds are the headings below.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
KINDS: Final = {
    "security": "Security", "changed": "Changed", "added": "Added", "fixed": "Fixed", "removed": "Removed",
}  # fmt: skip
LONGEST: Final = 400


def fragments(folder: Path) -> dict[str, str]:
    """The changes that wait for a release, by their files' names."""
    paths = (path for path in sorted(folder.glob("*")) if path.name != "README.md")
    return {path.name: path.read_text(encoding="utf-8").strip() for path in paths}


def faults(texts: dict[str, str]) -> list[str]:
    """What is wrong with these."""
    kinds = ", ".join(KINDS)
    named = [name for name in texts if not re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(KINDS)})\.md", name)]
    long = [name for name, text in texts.items() if not text or len(text) > LONGEST or "\n\n" in text]
    return [f"news/{name}: call it `words-or-issue.kind.md`; the kinds are {kinds}" for name in named] + [
        f"news/{name}: one paragraph of at most {LONGEST} characters" for name in long
    ]


def joined(changes: str, texts: dict[str, str], version: str, date: str) -> str:
    """The page with a section for this version, at its top; one that is there, still unreleased, gets its date."""
    lists = []
    for kind, title in KINDS.items():
        items = [" ".join(text.split()) for name, text in texts.items() if name.endswith(f".{kind}.md")]
        if items:
            lists.append(f"### {title}\n\n" + "".join(f"- {item}\n" for item in items))
    new = "\n".join(lists)
    open_section = re.compile(rf"(?ms)^## {re.escape(version)} \(unreleased\)\n(.*?)(?=^## |\Z)")
    if match := open_section.search(changes):
        body = match[1].rstrip() + "\n" + (f"\n{new}" if new else "")
        rest = changes[match.end() :]
        return changes[: match.start()] + f"## {version} ({date})\n{body}" + (f"\n{rest}" if rest else "")
    title, _, rest = changes.partition("\n## ")
    return f"{title.rstrip()}\n\n## {version} ({date})\n\n{new}" + (f"\n## {rest}" if rest else "")


def main() -> int:
    """Check the files, or join them."""
    folder, page = ROOT / "news", ROOT / "CHANGELOG.md"
    texts = fragments(folder)
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = faults(texts)
    if wrong or sys.argv[1] == "--check":
        print("\n".join(wrong) or f"{len(texts)} changes wait for a release")
        return 1 if wrong else 0
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    page.write_text(joined(page.read_text(encoding="utf-8"), texts, sys.argv[1], date), encoding="utf-8")
    for name in texts:
        (folder / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
