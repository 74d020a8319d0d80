import pytest

from tacit.a2acp.post import timing


@pytest.mark.spec("A2ACP-207", "A2ACP-208")
def test_reconnection_waits_one_two_four_to_sixty_seconds_with_jitter():
    assert [timing.RECONNECT.pause(attempt, 0.999999) for attempt in range(8)] == pytest.approx(
        [1, 2, 4, 8, 16, 32, 60, 60], rel=1e-3
    )
    assert timing.RECONNECT.pause(3, 0.0) == 4
    assert (timing.PING_SECONDS, timing.PONG_SECONDS) == (30, 10)


@pytest.mark.spec("A2ACP-258")
@pytest.mark.parametrize(
    ("said", "waits"),
    [(None, 1), (0, 1), (-5, 1), (1, 1), (2, 2), (60, 60), (3600, 3600), (3601, 3600), (10**400, 3600)],
)
def test_an_agent_rests_as_long_as_its_relay_says_within_reason(said, waits):
    assert timing.rest(said) == waits
