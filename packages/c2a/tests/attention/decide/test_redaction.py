"""Secrets are shown as their type."""

from __future__ import annotations

import pytest

from tacit.attention.decide.redaction import redacted

SECRETS = {
    "private_key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "aws_key": "AKIA" + "ABCDEFGHIJKLMNOP",
    "github_token": "ghp_" + "a1B2" * 9,
    "slack_token": "xoxb-" + "123456789012-abcdef",
    "model_key": "sk-ant-" + "a1b2c3d4e5f6g7h8i9j0",
    "jwt": "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF",
    "stripe_key": "sk_live_" + "a1b2c3d4e5f6g7h8",
    "google_key": "AIza" + "a" * 35,
    "gitlab_token": "glpat-" + "a" * 20,
    "card": "4111 1111 1111 1111",
}


@pytest.mark.spec("C2A-204")
@pytest.mark.parametrize("kind", SECRETS)
def test_secrets_are_shown_as_their_type(kind: str) -> None:
    shown = redacted(f"here: {SECRETS[kind]} ok")
    assert shown == f"here: [redacted:{kind}] ok"
    assert redacted(shown) == shown


@pytest.mark.spec("C2A-204")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password: hunter22", "password: [redacted:password]"),
        ("DB_PASSWORD=hunter22!", "DB_PASSWORD=[redacted:password]"),
        ("the password is hunter22", "the password is [redacted:password]"),
        ('"api_key": "abcdef123456"', '"api_key": [redacted:secret]'),
        ("postgres://app:s3cret@db/x", "postgres://app:[redacted:url_password]@db/x"),
        ("Authorization: Bearer abcdefghijklmnopqrstuv", "Authorization: Bearer [redacted:bearer_token]"),
        ("build 4111111111111112 passed", "build 4111111111111112 passed"),
        ("the key question is time", "the key question is time"),
        ("passwords should be long", "passwords should be long"),
    ],
)
def test_what_looks_like_a_secret_goes_and_the_rest_stays(text: str, shown: str) -> None:
    assert redacted(text) == shown


@pytest.mark.spec("C2A-204")
@pytest.mark.parametrize(
    "number",
    [
        "4111111111111111", "5500000000000004", "378282246310005", "6011111111111117", "4012888888881881",
        "5105 1051 0510 5100", "3530-1113-3330-0000",
    ],
)  # fmt: skip
def test_a_card_is_told_by_its_check_digit(number: str) -> None:
    assert redacted(f"pay {number} now") == "pay [redacted:card] now"
    for digit in set("0123456789") - {number[-1]}:
        wrong = number[:-1] + digit
        assert redacted(f"pay {wrong} now") == f"pay {wrong} now"


@pytest.mark.spec("C2A-204")
def test_a_number_of_one_digit_alone_is_no_card() -> None:
    assert redacted("0000 0000 0000 0000") == "0000 0000 0000 0000"
