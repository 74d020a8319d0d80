"""Mail of a relay leaves by its operator's server, under the operator's address."""

import email
import email.policy

import pytest

from tacit.relay.io.mailer import SmtpMailer
from tests.mail_server import mail_server


@pytest.mark.spec("A2ACP-019")
@pytest.mark.parametrize(
    ("given", "sender"),
    [("?from=post@mail.example", "post@mail.example"), ("", "relay@127.0.0.1")],
)
async def test_a_mail_names_sender_recipient_and_subject(given, sender):
    async with mail_server() as (letters, port):
        await SmtpMailer(f"smtp://127.0.0.1:{port}{given}").send(
            "ann@mail.example", "Your code", "It is 1234."
        )
    ((to, raw),) = letters
    letter = email.message_from_bytes(raw, policy=email.policy.default)
    assert (to, letter["To"], letter["From"]) == ("ann@mail.example", "ann@mail.example", sender)
    assert (letter["Subject"], letter.get_content().strip()) == ("Your code", "It is 1234.")
