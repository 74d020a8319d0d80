"""Carry a requirement list (Markdown tables) into `spec/` as data. Run by hand when a list changes.

python tools/import_rows.py PATH/cccs.md spec/cccs.toml
"""

import json
import re
import sys
from pathlib import Path

ROW = re.compile(r"^\|\s*([A-Z0-9]+-\d{3})\s*\|\s*([^|]+?)\s*\|\s*(.*?)\s*\|\s*([^|]*?)\s*\|\s*$")


def main() -> None:
    """Write one table a row."""
    source, target = map(Path, sys.argv[1:3])
    lines = [f"# Requirement rows of {source.stem.upper()}; carried here by tools/import_rows.py.", ""]
    count = 0
    for line in source.read_text(encoding="utf-8").splitlines():
        if match := ROW.match(line):
            name, level, text, place = match.groups()
            lines += [f"[{name}]", f"level = {json.dumps(level)}"]
            lines += [
                f"text = {json.dumps(text, ensure_ascii=False)}",
                f"place = {json.dumps(place, ensure_ascii=False)}",
                "",
            ]
            count += 1
    target.write_text("\n".join(lines), encoding="utf-8")
    print(f"{count} rows")


if __name__ == "__main__":
    main()
