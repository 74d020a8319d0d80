import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.a2acp.packets import vocabulary as words

READERS = [
    (words.urgency, words.URGENCIES, "normal"),
    (words.flexibility, words.FLEXIBILITIES, "somewhat_flexible"),
    (words.priority, words.PRIORITIES, "nice_to_have"),
    (words.scope_change, words.SCOPE_CHANGES, "changed"),
    (words.resolution_status, words.RESOLUTION_STATUSES, "counter"),
    (words.reason_class, words.REASON_CLASSES, "user_declined"),
    (words.on_timeout, words.ON_TIMEOUTS, "expire"),
    (words.unavailable_status, words.UNAVAILABLE_STATUSES, "declined"),
    (words.action_status, words.ACTION_STATUSES, "unknown"),
    (words.thread_state, words.THREAD_STATES, ""),
]
JSON = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.lists(st.text())
    | st.dictionaries(st.text(), st.text())
)


@pytest.mark.spec("A2ACP-036", "A2ACP-149", "A2ACP-155")
@pytest.mark.parametrize(
    ("read", "known", "otherwise"), READERS, ids=lambda each: getattr(each, "__name__", "")
)
def test_a_word_is_read_as_itself_and_any_other_as_the_one_that_promises_least(read, known, otherwise):
    assert [read(word) for word in known] == list(known)
    for odd in ("URGENT", "yesterday", "", 3, True, [], {"low": 1}, ["low"]):
        assert read(odd) == otherwise
    assert read(None) == ("remind_then_expire" if read is words.on_timeout else otherwise)


@given(value=JSON)
def test_no_value_whatever_is_more_than_a_word_to_a_reader(value):
    for read, known, otherwise in READERS:
        assert read(value) in {*known, otherwise}
