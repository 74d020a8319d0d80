"""What only ACP agents do: ask for permission, and want to be signed in."""

import pytest

from tacit.base.errors import Refused
from tacit.harness.drivers.options import Access
from tacit.harness.drivers.port import FailureKind, Standing
from tests.harness.drivers.rigs import RULES, Eye, named, soon, turn

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("rig", named("acp"), indirect=True, scope="module"),
]


@pytest.mark.parametrize(
    ("access", "answers"),
    [(Access.READ, "ynn"), (Access.WRITE, "yyn"), (Access.FULL, "yyy")],
)
async def test_permission_is_given_as_far_as_the_person_granted_it(rig, tmp_path, model, access, answers):
    driver = rig.driver(tmp_path, model, access=access)
    said = [
        (await soon(driver.run(turn(f"MAY I {kind}"), Eye()))).text for kind in ("read", "edit", "execute")
    ]
    await soon(driver.close())
    assert "".join(said) == answers


async def test_an_agent_that_is_signed_out_waits_for_a_person(rig, tmp_path, model):
    options = rig.options(tmp_path, model)
    driver = rig.driver(tmp_path, model, command=("env", "SIGNED_OUT=1", *options.command))
    with pytest.raises(Refused, match="signed in"):
        await soon(driver.start(Standing(RULES)))
    failure = (await soon(driver.run(turn(), Eye()))).failure
    assert failure.kind is FailureKind.PERMANENT
    await soon(driver.close())


async def test_a_program_that_is_no_agent_does_not_start(rig, tmp_path, model):
    driver = rig.driver(tmp_path, model, command=("echo", "hello"))
    failure = (await soon(driver.run(turn(), Eye()))).failure
    assert (failure.kind, failure.code) == (FailureKind.RETRYABLE, "agent_died")
