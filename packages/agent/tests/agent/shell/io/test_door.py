"""What the running agent says through its socket is what the command beside it raises: nothing of a fault is lost."""

import pytest

from tacit.agent.shell.io import door
from tacit.base.errors import Corrupt, Refused, TacitError, Unavailable
from tacit.base.io import agent_socket as socket


@pytest.mark.spec("A2ACP-128")
@pytest.mark.parametrize(
    "fault",
    [
        Refused("bad_choice", "one of these", row="A2ACP-119", details={"one_of": ["a", "b"]}),
        Corrupt("the file is damaged", hint="restore a backup"),
        Unavailable("later"),
    ],
)
def test_a_fault_crosses_the_socket_whole(fault: TacitError) -> None:
    with pytest.raises(type(fault)) as found:
        socket._read(door._fault(fault))
    for name in ("code", "message", "row", "details", "hint"):
        assert getattr(found.value, name, None) == getattr(fault, name, None), name
    assert socket._read({"ok": [1]}) == [1]
