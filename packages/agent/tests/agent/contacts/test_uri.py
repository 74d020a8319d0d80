"""The text of a QR code: read strictly, as what is pinned must be what was shown."""

from __future__ import annotations

import pytest

from tacit.agent.contacts import uri as contact_uri
from tacit.agent.contacts.uri import ContactUri
from tacit.base.errors import Refused

DIGITS = "123451234512345123451234512345"
ANNA = ContactUri("agent:anna@relay.example", DIGITS)


@pytest.mark.spec("A2ACP-022")
def test_a_card_is_read_as_it_was_written_however_it_was_broken():
    text = contact_uri.written(ANNA)
    assert text == f"a2acp:anna@relay.example?fp={DIGITS}"
    assert contact_uri.read(text) == ANNA
    assert contact_uri.read(f"  A2ACP:Anna@Relay.Example?fp=\n {contact_uri.grouped(DIGITS)}\r\n") == ANNA
    assert contact_uri.read(f"{text}&later=1") == ANNA
    bare = ContactUri("agent:anna@relay.example")
    assert contact_uri.read(contact_uri.written(bare)) == bare
    assert contact_uri.digits(contact_uri.grouped(DIGITS)) == DIGITS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "anna@relay.example",
        "agent:anna@relay.example",
        "mailto:anna@relay.example",
        "a2acp:",
        "a2acp:anna",
        "a2acp:anna@@relay.example",
        "a2acp:\u0430nna@relay.example",
        "a2acp:anna@relay.example?fp=12345",
        f"a2acp:anna@relay.example?fp={DIGITS}1",
        f"a2acp:anna@relay.example?fp={DIGITS}&fp={DIGITS[::-1]}",
        "a2acp:anna@relay.example?fp=" + "\u0661" * 30,
        "a2acp:anna@relay.example?x",
        f"a2acp:anna@relay.example?fp={DIGITS}&x=" + "y" * 500,
        "a2acp:anna@relay.example?" + "&".join(f"a{n}=1" for n in range(30)),
    ],
)
def test_what_is_no_card_is_refused(text):
    with pytest.raises(Refused) as refused:
        contact_uri.read(text)
    assert refused.value.code in {"bad_contact_uri", "bad_address"}
