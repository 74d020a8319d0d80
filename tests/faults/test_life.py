"""An hour of random life of eight agents on two relays, with every rule asked for wherever it comes to rest.

`TACIT_LIFE_MINUTES` says how long (60), `TACIT_LIFE_SEED` what is drawn.
"""

from __future__ import annotations

import json
import os
import time

import pytest

from tests.faults.life import World

NAMES = ("anna", "bob", "cleo", "dora", "emil", "fred", "gina", "hugo")
ROUNDS = 2000


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
async def test_two_relays_and_eight_agents_live_for_an_hour(tmp_path):
    until = time.monotonic() + 60 * float(os.environ.get("TACIT_LIFE_MINUTES", "60"))
    async with World(tmp_path, NAMES, int(os.environ.get("TACIT_LIFE_SEED", "16"))) as world:
        for _ in range(4):
            await world.dinner()
        for _ in range(2):
            await world.new_space()
        for _ in range(ROUNDS):
            for _ in range(world.chance.randrange(3, 9)):
                await world.act()
            await world.rest()
            await world.check()
            if time.monotonic() > until:
                break
        (tmp_path / "did.json").write_text(json.dumps(world.did))
        assert world.told(), "nothing was told to anybody: the markers prove nothing"
