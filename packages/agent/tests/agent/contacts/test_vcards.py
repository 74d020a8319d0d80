"""Agents in an address book: as phones and programs write them, and as somebody hostile does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.agent.contacts import vcards
from tacit.agent.contacts.uri import ContactUri
from tacit.agent.contacts.vcards import Entry
from tacit.base.errors import Refused

DIGITS = "123451234512345123451234512345"
BEN = ContactUri("agent:ben@relay.example", DIGITS)
BOOK = (
    "\ufeffBEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ben Ol\r\n iver\\, junior\r\n"
    f"item1.IMPP;X-SERVICE-TYPE=a2acp;type=HOME:a2acp:ben@relay.exa\r\n mple?fp={DIGITS}\r\n"
    "URL:https://example.org/ben\r\nPHOTO;ENCODING=b:" + "QUJD" * 5000 + "\r\nEND:VCARD\r\n"
    "BEGIN:VCARD\nVERSION:4.0\nFN:Nobody\nTEL:+44 1\nURL:https://example.org\nEND:VCARD\n"
    "begin:vcard\nversion:4.0\nx-a2acp:a2acp:cara@relay.example\nfn:Cara\nFN:Not Cara\n"
    "URL;VALUE=uri:a2acp:cara@relay.example\nEND:VCARD\n"
    "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrg=\n=20M=C3=BCller\n"
    "X-A2ACP:a2acp:juerg@relay.example\nEND:VCARD\n"
    "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:Ren=E9\nX-A2ACP:a2acp:rene@relay.example\nEND:VCARD\n"
).encode()


@pytest.mark.spec("A2ACP-023")
def test_entries_with_an_agent_are_found_in_cards_of_every_version():
    assert vcards.read(BOOK) == [
        Entry("Ben Oliver, junior", (BEN,)),
        Entry("Cara", (ContactUri("agent:cara@relay.example"),)),
        Entry("Jürg Müller", (ContactUri("agent:juerg@relay.example"),)),
        Entry("René", (ContactUri("agent:rene@relay.example"),)),
    ]


def _card(*lines: str) -> bytes:
    return "\r\n".join(["BEGIN:VCARD", "VERSION:4.0", *lines, "END:VCARD", ""]).encode()


def test_a_name_drives_no_terminal_and_an_entry_names_few_agents():
    lines = [f"X-A2ACP:a2acp:a{number}@relay.example" for number in range(100)]
    (found,) = vcards.read(_card("FN:x\x1b[2J\u202e" + "y" * 500, *lines))
    assert found.name.isprintable()
    assert len(found.name) == vcards.LONGEST_NAME
    assert len(found.agents) == vcards.MOST_AGENTS


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\x00" * 1000,
        b" folded from nowhere\r\n",
        b"A" * (vcards.MOST_BYTES + 1),
        b"BEGIN:VCARD\n" * (vcards.MOST_CARDS + 1),
    ],
    ids=["empty", "text", "zeros", "folded", "too_large", "too_many"],
)
def test_what_is_no_address_book_or_too_large_is_refused(data):
    with pytest.raises(Refused) as refused:
        vcards.read(data)
    assert refused.value.code in {"bad_vcard", "too_large"}


def test_one_endless_line_costs_no_more_than_its_length():
    data = _card("NOTE:x", *([" " + "y" * 70] * 100_000), "X-A2ACP:a2acp:ben@relay.example")
    assert vcards.read(data)[0].agents == (ContactUri("agent:ben@relay.example"),)


@given(st.binary(max_size=400))
def test_whatever_a_file_holds_it_is_read_or_refused(middle):
    data = b"BEGIN:VCARD\r\nFN:Ben\r\n" + middle + b"\r\nX-A2ACP:a2acp:ben@relay.example\r\nEND:VCARD\r\n"
    for one in vcards.read(data):
        assert one.agents
        assert one.name.isprintable()
