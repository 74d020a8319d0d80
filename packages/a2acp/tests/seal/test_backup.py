import pytest

from tacit.base.errors import Refused
from tacit.seal import backup
from tests.post_support import Repeatable

SMALL = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}


@pytest.mark.spec("A2ACP-224", "A2ACP-225")
def test_a_backup_opens_with_its_passphrase_only():
    locked = backup.lock(b"identity", "correct horse battery", Repeatable(), **SMALL)
    assert b"identity" not in locked
    assert backup.unlock(locked, "correct horse battery") == b"identity"
    for data, phrase in [
        (locked, "correct horse batterz"),
        (locked.replace(b'"passes":1', b'"passes":2'), "correct horse battery"),
        (locked.replace(b'"memory_bytes":8388608', b'"memory_bytes":99999999999'), "correct horse battery"),
        (b"{}", "correct horse battery"),
        (locked[:-4] + b'A"}', "correct horse battery"),
    ]:
        with pytest.raises(Refused):
            backup.unlock(data, phrase)
    with pytest.raises(Refused):
        backup.lock(b"identity", "short", Repeatable(), **SMALL)


@pytest.mark.spec("A2ACP-224")
@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        (b'"memory_bytes":8388608', b'"memory_bytes":%d' % (8 * 1024 * 1024 - 1)),
        (b'"memory_bytes":8388608', b'"memory_bytes":%d' % (1024 * 1024 * 1024 + 1)),
        (b'"passes":1', b'"passes":0'),
        (b'"passes":1', b'"passes":17'),
        (b"tacit-backup-v1", b"tacit-backup-v2"),
    ],
)
def test_what_a_file_asks_of_the_machine_is_bounded_before_it_is_done(said, claimed):
    locked = backup.lock(b"identity", "correct horse battery", Repeatable(), **SMALL)
    with pytest.raises(Refused, match="that this version reads"):
        backup.unlock(locked.replace(said, claimed), "correct horse battery")
