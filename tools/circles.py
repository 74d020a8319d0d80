"""No module of the product imports one that imports it, by whatever way round: `python tools/circles.py`.

Late imports count; what is imported for types alone does not, since it is not there when the code runs.
"""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter

import grimp


def circle(imported: dict[str, set[str]]) -> list[str]:
    """One circle among these modules, its first module also last; empty if there is none."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def main() -> int:
    """Say whether the house has a circle, and which."""
    house = grimp.build_graph("tacit", exclude_type_checking_imports=True)
    found = circle({name: house.find_modules_directly_imported_by(name) for name in house.modules})
    if found:
        sys.stderr.write(f"these import each other: {' -> '.join(found)}\n")
        return 1
    sys.stdout.write(f"no circle among {len(house.modules)} modules\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
