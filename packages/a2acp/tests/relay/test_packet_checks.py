"""What a packet must be before anything else of it is looked at, from values alone."""

import pytest

from tacit.base.errors import Refused
from tacit.base.moment import Moment
from tacit.relay.packet_checks import PacketChecks, RateLimited, retry_after
from tacit.relay.rate import PerMinute, Reputation
from tacit.wire import envelope
from tacit.wire.encoding import b64
from tests.post_support import ALICE, BOB

RAW = envelope.compose(
    envelope.visible_header(
        protocol="a2acp/0.2", packet_id="pkt_a1b2c3d4", queue_tag="q_" + "A" * 22, sender=ALICE, recipient=BOB,
        timestamp="2026-03-21T14:30:00Z",
    ),
    b64(bytes(1024)),
)  # fmt: skip


class Anybody:
    def admit(self, account: int, to: str, now: Moment) -> int:
        return 0


def checks(burst: int = 100) -> PacketChecks:
    limits = PerMinute(1, burst)
    return PacketChecks(rates=limits, prekeys=limits, first_contacts=Anybody(), reputation=Reputation())


@pytest.mark.spec("A2ACP-249")
def test_an_agent_sends_under_its_own_address_alone():
    assert checks().from_agent(RAW, speaker=ALICE, now=Moment(0)).sender == ALICE
    with pytest.raises(Refused) as refused:
        checks().from_agent(RAW, speaker=BOB, now=Moment(0))
    assert refused.value.code == "from_mismatch"


@pytest.mark.spec("A2ACP-257")
def test_a_packet_too_many_says_when_to_come_again_and_costs_its_sender():
    found = checks(burst=1)
    found.from_agent(RAW, speaker=ALICE, now=Moment(0))
    with pytest.raises(RateLimited) as refused:
        found.from_agent(RAW, speaker=ALICE, now=Moment(0))
    assert (refused.value.code, refused.value.row) == ("rate_limited", "A2ACP-257")
    assert retry_after(refused.value) == refused.value.retry_after > 0
    assert retry_after(Refused("other", "x")) is None
    assert found._reputation.score(ALICE) < 50
