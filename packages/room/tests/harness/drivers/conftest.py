"""One model and one started driver for all tests of a module: a real agent takes a second or more to start."""

import pytest
import pytest_asyncio

from tacit.harness.drivers.port import StandingInstructions
from tests.harness.drivers.rigs import RIGS, RULES, notes
from tests.model_server import ModelServer


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def model():
    async with ModelServer() as server:
        yield server


@pytest.fixture(scope="module", params=RIGS, ids=lambda rig: rig.name)
def rig(request):
    return request.param


@pytest.fixture(scope="module")
def state(rig, tmp_path_factory):
    return tmp_path_factory.mktemp(rig.name)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def driver(rig, state, model):
    """A driver that several tests use one after the other, without tools."""
    driver = rig.driver(state, model)
    await driver.start(StandingInstructions(RULES))
    yield driver
    await driver.close()


@pytest.fixture(scope="module")
def tools(state):
    return (notes(state / "notes.log"),)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def handy(rig, state, model, tools):
    """A driver with the test's tools in hand."""
    driver = rig.driver(state / "handy", model)
    await driver.start(StandingInstructions(RULES, tools))
    yield driver
    await driver.close()
