import pytest

from tacit.wire import version


@pytest.mark.spec("A2ACP-237")
def test_two_sides_speak_the_highest_common_version():
    assert version.common_version(["0.1", "0.2"], ["0.2", "0.3", "junk"]) == "a2acp/0.2"
    assert version.common_version(["0.1", "0.2"], ["0.1"]) == "a2acp/0.1"
    assert version.common_version(["0.9", "0.10"], ["0.10", "0.9"]) == "a2acp/0.10"


@pytest.mark.spec("A2ACP-236")
def test_the_five_features_of_the_draft_are_known():
    named = {
        "context_negotiation",
        "resolution_with_alternatives",
        "thread_forking",
        "shared_context_spaces",
        "multi_party",
    }
    assert named <= set(version.SINCE)


@pytest.mark.spec("A2ACP-239")
def test_the_first_packet_speaks_the_last_version_used_and_nothing_in_common_is_said_plainly():
    assert version.opening_version("a2acp/0.1") == "a2acp/0.1"
    assert version.opening_version(None) == "a2acp/0.2"
    assert version.common_version(["0.2"], ["1.0"]) is None


@pytest.mark.spec("A2ACP-253")
def test_without_common_encryption_there_is_none_and_never_plaintext():
    assert version.common_encryption(["plaintext", "rot13"]) is None
    assert version.common_encryption([]) is None
    assert version.common_encryption([version.STATELESS]) == version.STATELESS
    assert version.common_encryption([version.STATELESS, version.RATCHET]) == version.RATCHET
