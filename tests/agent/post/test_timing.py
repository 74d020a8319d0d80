import pytest

from tacit.agent.post import timing


@pytest.mark.spec("A2ACP-207", "A2ACP-208")
def test_reconnection_waits_one_two_four_to_sixty_seconds_with_jitter():
    assert [timing.RECONNECT.pause(attempt, 0.999999) for attempt in range(8)] == pytest.approx(
        [1, 2, 4, 8, 16, 32, 60, 60], rel=1e-3
    )
    assert timing.RECONNECT.pause(3, 0.0) == 4
    assert (timing.PING_SECONDS, timing.PONG_SECONDS) == (30, 10)
