from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Unavailable
from tacit.base.io.folder_lock import FolderLock

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys, pathlib
from tacit.base.io.folder_lock import FolderLock
lock = FolderLock(pathlib.Path(sys.argv[1]), purpose="the other hub")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.spec("CCCS-114")
def test_a_second_holder_is_refused_and_told_who_has_the_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(Unavailable, match=rf"in use by the other hub \(process {child.pid} on .*--data"):
            FolderLock(tmp_path, purpose="me")
        child.kill()
        child.wait(10)
    # The lock dies with its holder, however it dies.
    FolderLock(tmp_path, purpose="me").release()


SHARER = """
import os, sys, pathlib, subprocess
from tacit.base.io.folder_lock import FolderLock
lock = FolderLock(pathlib.Path(sys.argv[1]), purpose="a hub")
os.set_inheritable(lock.handle, True)
# Ends when its input does: that is when the test lets go.
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], close_fds=False)
print("held", flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_a_killed_holder_left_behind_is_waited_for(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SHARER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        holder.wait(10)
        ends = threading.Timer(0.3, holder.stdin.close)
        ends.start()
        FolderLock(tmp_path, purpose="the next hub").release()
        ends.join()


def test_a_lock_file_that_says_nothing_still_refuses(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path, purpose="me")
    (tmp_path / "lock").write_text("[]")
    with pytest.raises(Unavailable, match="another process"):
        FolderLock(tmp_path, purpose="you")
    lock.release()


def test_the_lock_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path, purpose="me")
    assert os.stat(tmp_path / "lock").st_mode & 0o077 == 0
    lock.release()
