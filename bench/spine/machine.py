"""What the numbers were measured on: nothing that names a machine or a place."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import apsw

from bench.spine.processes import cores

LIBRARIES = ("aiohttp", "uvloop", "msgspec", "apsw")


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def describe() -> dict[str, str]:
    """The machine in a few words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": str(cores()),
        "processor": f"{_processor()} ({platform.machine()})"
        if _processor() != platform.machine()
        else _processor(),
        "memory": f"{memory:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "SQLite": apsw.sqlite_lib_version(),
        **{name: version(name) for name in LIBRARIES},
        "load before": f"{os.getloadavg()[0]:.2f}",
    }
