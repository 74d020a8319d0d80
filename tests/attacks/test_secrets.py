"""Secrets stand in no trace, no error and no list: values that hold them, and addresses that people give."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tacit.agent.shell.io.sign_in import Opened
from tacit.base.errors import Refused
from tacit.base.hub_proof import HubAccess
from tacit.base.mcp_configs import ConfigEntry
from tacit.base.nats_access import NatsLogin, to_servers
from tacit.base.shown_addresses import without_secret
from tacit.cli.session import CliSession
from tacit.harness.activity import TurnActivity
from tacit.harness.drivers.options import DriverOptions
from tacit.harness.io.agent_config import AgentConfig
from tacit.hub.config import BackupPlan
from tacit.hub.people.credentials import Credential, Issued
from tacit.ledger.commands import SetWebhook
from tacit.seal.identity import Identity
from tools.places import modules

SECRET = "swordfish-of-the-seas"

HOLDERS: tuple[Any, ...] = (
    Issued(SECRET, Credential("tok_1", "user")),
    Opened(SECRET, "q"),
    HubAccess("http://127.0.0.1:7433", SECRET, SECRET.encode()),
    NatsLogin("hub", SECRET, SECRET),
    ConfigEntry("http://127.0.0.1:7433", token=SECRET),
    CliSession(token=SECRET),
    TurnActivity((SECRET,)),
    DriverOptions("state", key=SECRET),
    AgentConfig("http://127.0.0.1:7433", SECRET, "ann", Path("state"), secrets=(SECRET,)),
    BackupPlan(Path("backups"), passphrase=SECRET),
    SetWebhook("g", "ann", f"https://hooks.example.org/{SECRET}", SECRET, "1"),
    Identity(SECRET.encode(), SECRET.encode()),
)


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda holder: type(holder).__name__)
def test_a_value_that_holds_a_secret_does_not_show_it(holder: object) -> None:
    assert SECRET not in repr(holder)


_SECRET_NAME = re.compile(
    r"(?:\w*_)?(?:token|secret|secrets|password|passphrase|jwt|signing_seed|private_key)"
)
NO_SECRETS = {
    "ConfigEntry.asks_for_token": "whether one is asked for",
    "Outlook.token": "the mark of a thread's state, by which a later look knows that nothing changed",
    "Guest.secret": "the name of a value in the vault",
    "GuestAsked.secret": "the name of a value in the vault",
    "Progress.token": "C2A's name of the work that a notification tells of",
    "ProgressRecord.token": "the turn's own name for its progress",
    "ShipmentPart.token": "the part's place in the subject of a stream",
    "StreamMessage.token": "the message's place in the subject of a stream",
    "HubAccess.token": "its own `__repr__` leaves it out",
    "SetWebhook.secret": "its own `__repr__` leaves it out",
}
"""Fields that are called like a secret, with why a trace may show them or does not."""


def shown_fields() -> set[str]:
    """The fields of values that are called like a secret and stand in their `repr`."""
    return {
        f"{holder.name}.{part.target.id}"
        for path, _ in modules()
        for holder in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(holder, ast.ClassDef) and _is_value(holder)
        for part in holder.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        if _SECRET_NAME.fullmatch(part.target.id) and "repr=False" not in ast.unparse(part)
    }


def _is_value(holder: ast.ClassDef) -> bool:
    """Has it a `repr` that names its fields?"""
    marks = " ".join(map(ast.unparse, [*holder.decorator_list, *holder.bases]))
    return (
        any(word in marks for word in ("dataclass", "NamedTuple", "Struct", "Record"))
        and "repr=False" not in marks
    )


def test_every_field_that_is_called_like_a_secret_is_left_out_of_traces_or_is_none() -> None:
    assert shown_fields() == set(NO_SECRETS)


@pytest.mark.parametrize(
    "address",
    [
        f"http://bob:{SECRET}@127.0.0.1:7433",
        f"https://{SECRET}@hub.example.org",
        f"http://127.0.0.1:7433/#sign-in={SECRET}",
        f"http://127.0.0.1:7433/?token={SECRET}",
        f"http://[{SECRET}",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_quoted(address: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        _ = CliSession(given_url=address, data=tmp_path).url
    assert SECRET not in str(refused.value)


def test_an_address_of_a_hub_or_a_relay_is_taken_as_it_is() -> None:
    for address in ("http://127.0.0.1:7433", "https://[::1]:7433/room", "https://hub.example.org"):
        assert without_secret(address, "the hub's address") == address


def test_a_password_in_the_address_of_a_nats_server_is_refused_and_not_quoted() -> None:
    with pytest.raises(Refused) as refused:
        to_servers([f"nats://hub:{SECRET}@127.0.0.1:4222"])
    assert SECRET not in str(refused.value)
