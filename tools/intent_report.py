"""Precision and recall of the intent rules on the labelled lines of packages/c2a/tests/attention/corpus.

python tools/intent_report.py            the table
python tools/intent_report.py --wrong    also every line that is read otherwise than labelled
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.attention.corpus import LANGUAGE_FILES, lines, read, scores, silenced


def main() -> int:
    """Print the scores; 1 when something that asks would be taken for small talk."""
    lost: list[str] = []
    for name in ("lines.txt", "unseen.txt", *LANGUAGE_FILES.values()):
        labelled = lines(name)
        print(f"{name}: {len(labelled)} lines")
        for one in scores(labelled):
            print(f"  {one.name:18} precision {one.precision:.3f}  recall {one.recall:.3f}  of {one.count}")
        lost += silenced(labelled)
        if "--wrong" in sys.argv:
            for label, text in labelled:
                if read(text) is not label:
                    print(f"    {label.value} read as {read(text).value}: {text}")
    print(f"taken for small talk by mistake: {len(lost)}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
