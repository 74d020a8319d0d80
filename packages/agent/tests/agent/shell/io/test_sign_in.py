"""Links and sessions of the agent's own page, as a rule: how many there are at a time, and when they end."""

import pytest

from tacit.agent.shell.io.sign_in import SignIn
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tests.post_support import Repeatable

HOUR = 3600 * SECOND
WEEK = 7 * 24 * HOUR


def refused(attempt) -> str:
    with pytest.raises(Refused) as found:
        attempt()
    return found.value.code


@pytest.mark.spec("A2ACP-274")
def test_64_links_are_open_at_a_time_and_the_oldest_goes():
    door = SignIn(Repeatable())
    links = [door.link(Moment(0), str(number)) for number in range(64)]
    assert door.open(links[0], Moment(1)).question_id == "0"
    links += [door.link(Moment(2)) for _ in range(2)]
    assert refused(lambda: door.open(links[1], Moment(3))) == "unknown_link"
    assert door.open(links[2], Moment(3)).question_id == "2"


@pytest.mark.spec("A2ACP-274")
def test_a_link_lasts_an_hour_and_its_session_a_week():
    door = SignIn(Repeatable())
    early, late = door.link(Moment(0)), door.link(Moment(0))
    token = door.open(early, Moment(HOUR - 1)).token
    assert refused(lambda: door.open(early, Moment(HOUR - 1))) == "used_link"
    assert refused(lambda: door.open(late, Moment(HOUR))) == "expired_link"
    door.check(token, Moment(HOUR - 1 + WEEK - 1))
    assert refused(lambda: door.check(token, Moment(HOUR - 1 + WEEK))) == "expired_token"
    assert refused(lambda: door.check("another", Moment(0))) == "unknown_token"
