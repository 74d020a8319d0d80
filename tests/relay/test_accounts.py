import pytest

from tacit.base.errors import Refused
from tacit.relay import accounts


@pytest.mark.spec("A2ACP-012")
def test_a_code_has_128_bits_and_is_forgiven_its_dashes_and_capitals():
    code = accounts.code_text(bytes(range(16)))
    assert len(code.replace("-", "")) == 26
    assert accounts.code_hash(code) == accounts.code_hash(code.upper().replace("-", " "))
    assert len(accounts.email_code(bytes(range(16)))) == 8


@pytest.mark.spec("A2ACP-011")
@pytest.mark.parametrize("email", ["", "x", "@x.y", "a@b", "a b@c.d", "a@" + "b" * 260 + ".c"])
def test_what_cannot_be_an_email_address_is_refused(email):
    with pytest.raises(Refused):
        accounts.check_email(email)
