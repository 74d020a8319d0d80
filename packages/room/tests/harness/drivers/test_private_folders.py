"""Private audiences leave no folder each for ever."""

from __future__ import annotations

import os
from dataclasses import replace

from tacit.harness.drivers import catalogue
from tacit.harness.drivers.io import private_folders
from tacit.harness.drivers.options import DriverOptions
from tests.harness.drivers.rigs import RecordingWatch, soon, turn


def test_the_folders_that_were_used_longest_ago_go(tmp_path):
    for number in range(30):
        folder = tmp_path / f"a{number}"
        private_folders.use(str(folder), kept=5)
        (folder / "session").write_text("memory")
        os.utime(folder, ns=(number, number))
    private_folders.use(str(tmp_path / "a26"), kept=5)
    private_folders.use(str(tmp_path / "new"), kept=5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a26", "a27", "a28", "a29", "new"]


async def test_a_driver_keeps_to_it_over_many_audiences(tmp_path, monkeypatch):
    monkeypatch.setattr(private_folders.use, "__defaults__", (4,))
    driver = catalogue.build(
        "command", DriverOptions(str(tmp_path), command=("echo", "hello"), plain_text=True)
    )
    try:
        for number in range(12):
            outcome = await soon(driver.run(replace(turn(), audience=f"ada+b{number}"), RecordingWatch()))
            assert outcome.failure is None
    finally:
        await driver.close()
    assert len(list((tmp_path / "private").iterdir())) == 4
