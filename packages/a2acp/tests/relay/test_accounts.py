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


@pytest.mark.spec("A2ACP-011")
def test_what_is_stored_of_an_email_address_and_of_a_code_is_found_again_by_a_later_version():
    pepper = bytes(range(32))
    kept = "8ee6797632ef2d111c9c5278e12d3072bd562c9636acfaee03f35d4aa2e0840a"
    assert accounts.email_hash(pepper, "ann@example.org").hex() == kept
    assert accounts.email_hash(pepper, " Ann@Example.ORG ").hex() == kept
    code = "690c921c5b8fe9315b36c358d59c6dcc78a91c54906bc5e6ce3d1aa98883c506"
    assert accounts.code_hash("abcd-2345").hex() == code
