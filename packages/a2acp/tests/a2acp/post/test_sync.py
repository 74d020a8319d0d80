import pytest

from tacit.a2acp.post import sync
from tacit.base.moment import SECOND, Moment

NOW = Moment(10**15)


@pytest.mark.spec("A2ACP-213", "A2ACP-214")
def test_a_summary_names_the_last_200_ids_and_what_is_lacking_goes_again_in_order():
    sent = [f"pkt_{n:04d}" for n in range(250)]
    body = sync.summary("open", sent, [], answer=False)
    assert body["sent_ids"] == sent[50:]
    assert sync.lacking(sent, [*sent[:100], *sent[102:]]) == sent[100:102]
    assert sync.due(None, NOW)
    assert not sync.due(NOW, Moment(NOW + 59 * SECOND))
    assert sync.due(NOW, Moment(NOW + 60 * SECOND))
