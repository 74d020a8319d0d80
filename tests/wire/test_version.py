import pytest

from tacit.wire import version


@pytest.mark.spec("A2ACP-237", "A2ACP-238", "A2ACP-240")
def test_two_sides_agree_on_the_highest_common_version_and_drop_what_it_lacks():
    both = version.agree(
        ours=["0.1", "0.2"],
        theirs=["0.2", "0.3", "junk"],
        our_features=version.SINCE,
        their_features=["thread_forking", "telepathy"],
    )
    assert both == version.Agreement("a2acp/0.2", frozenset({"thread_forking"}))
    older = version.agree(
        ours=["0.1", "0.2"], theirs=["0.1"], our_features=version.SINCE, their_features=list(version.SINCE)
    )
    assert older == version.Agreement("a2acp/0.1", frozenset({"context_negotiation"}))
    assert version.common_version(["0.9", "0.10"], ["0.10", "0.9"]) == "a2acp/0.10"


@pytest.mark.spec("A2ACP-236")
def test_the_five_features_of_the_draft_are_known_and_used_only_when_both_list_them():
    named = {
        "context_negotiation",
        "resolution_with_alternatives",
        "thread_forking",
        "shared_context_spaces",
        "multi_party",
    }
    assert named <= set(version.SINCE)
    both = version.agree(ours=["0.2"], theirs=["0.2"], our_features=named, their_features=["multi_party"])
    assert both is not None
    assert both.features == {"multi_party"}


@pytest.mark.spec("A2ACP-239")
def test_the_first_packet_speaks_the_last_version_used_and_nothing_in_common_is_said_plainly():
    assert version.opening_version("a2acp/0.1") == "a2acp/0.1"
    assert version.opening_version(None) == "a2acp/0.2"
    assert version.agree(ours=["0.2"], theirs=["1.0"], our_features=[], their_features=[]) is None


@pytest.mark.spec("A2ACP-253")
def test_without_common_encryption_there_is_none_and_never_plaintext():
    assert version.common_encryption(["plaintext", "rot13"]) is None
    assert version.common_encryption([]) is None
    assert version.common_encryption([version.STATELESS]) == version.STATELESS
    assert version.common_encryption([version.STATELESS, version.RATCHET]) == version.RATCHET
