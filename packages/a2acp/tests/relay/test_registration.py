import msgspec
import pytest

from tacit.base.errors import Refused
from tacit.relay import registration
from tacit.relay.registration import Registered
from tacit.seal import primitives
from tacit.wire import records
from tacit.wire.encoding import canonical, unb64
from tests.a2acp.post.test_rotation import keys, signed


def offered(record):
    return msgspec.json.decode(canonical(record), type=records.SignedStatement)


def after(known, record):
    """What is registered once `record` is, if it may be."""
    one = offered(record)
    statement = records.read_statement(bytes(one.statement))
    registration.check_serial(known, statement, may_reset=statement.reset)
    raw = registration.record_after(known, one, statement, primitives.verify)
    return Registered(unb64(statement.signing_key), statement.serial, raw)


def rotations(known):
    return [
        records.read_statement(bytes(one.statement)).serial
        for one in records.read_record(known.record).rotations
    ]


@pytest.mark.spec("A2ACP-015", "A2ACP-021")
def test_signed_rotations_are_kept_and_a_key_without_the_word_of_the_one_before_ends_the_chain():
    known = after(None, signed(keys(0), 1))
    assert rotations(known) == []
    known = after(known, signed(keys(1), 2, keys(0)))
    known = after(known, signed(keys(1), 3))
    known = after(known, signed(keys(2), 4, keys(1)))
    assert rotations(known) == [2, 4]
    assert rotations(after(known, signed(keys(3), 5))) == []
    assert rotations(after(known, signed(keys(3), 5, keys(1)))) == []
    assert rotations(after(known, signed(keys(3), 1, reset=True))) == [1]
    assert rotations(after(known, signed(keys(3), 1, keys(2), reset=True))) == [2, 4, 1]


@pytest.mark.spec("A2ACP-015")
@pytest.mark.parametrize(
    ("last", "serial", "code"),
    [
        (5, 5, "stale_record"), (5, 4, "stale_record"), (5, 6, None), (5, 5 + records.LARGEST_STEP, None),
        (5, 6 + records.LARGEST_STEP, "serial_step"), (None, records.LARGEST_STEP, None),
        (None, records.LARGEST_STEP + 1, "serial_step"), (5, 2**53 - 1, "serial_step"),
    ],
)  # fmt: skip
def test_a_serial_rises_by_small_steps(last, serial, code):
    known = None if last is None else Registered(keys(0).signing_public, last, b"")
    statement = records.read_statement(bytes(offered(signed(keys(0), serial)).statement))
    if code is None:
        registration.check_serial(known, statement, may_reset=True)
    else:
        with pytest.raises(Refused) as refused:
            registration.check_serial(known, statement, may_reset=True)
        assert refused.value.code == code


@pytest.mark.spec("A2ACP-015", "A2ACP-019")
@pytest.mark.parametrize(
    ("who", "may_reset", "taken"), [(1, True, True), (1, False, False), (0, True, False)]
)
def test_numbers_begin_anew_with_the_code_of_a_recovered_account_and_a_new_key_only(who, may_reset, taken):
    known = Registered(keys(0).signing_public, 2**53 - 1, b"")
    statement = records.read_statement(bytes(offered(signed(keys(who), 1, reset=True)).statement))
    if taken:
        registration.check_serial(known, statement, may_reset=may_reset)
    else:
        with pytest.raises(Refused) as refused:
            registration.check_serial(known, statement, may_reset=may_reset)
        assert refused.value.code == "reset_refused"
