import pytest

from tacit.wire import envelope, frames
from tacit.wire.encoding import b64
from tests.post_support import ALICE, BOB

BODY = b64(bytes(1024))


def header(**changes):
    return {
        **envelope.visible_header(
            protocol="a2acp/0.2",
            packet_id="pkt_a1b2c3d4",
            queue_tag="q_" + "A" * 22,
            sender=ALICE,
            recipient=BOB,
            timestamp="2026-03-21T14:30:00Z",
        ),
        **changes,
    }


@pytest.mark.spec("A2ACP-006")
def test_a_packet_frame_carries_the_envelope_untouched():
    raw = envelope.compose(header(), BODY)
    frame = frames.decode(frames.packet_bytes(raw, "c2ln", 12))
    assert isinstance(frame, frames.PacketFrame)
    assert (bytes(frame.envelope), frame.sig, frame.delivery) == (raw, "c2ln", 12)


@pytest.mark.spec("A2ACP-006")
def test_an_unknown_frame_is_ignored_and_a_broken_one_is_the_peers_fault():
    assert frames.decode('{"frame":"hologram","x":1}') is None
    for text in (
        "",
        "[]",
        "{}",
        '{"frame":1}',
        '{"frame":"packet"}',
        '{"frame":"received","deliveries":"x"}',
        "[" * 9999,
    ):
        with pytest.raises(frames.PeerFault):
            frames.decode(text)


@pytest.mark.spec("A2ACP-006")
def test_every_frame_of_the_list_survives_the_wire():
    for frame in (
        frames.ChallengeFrame("c", "a.example"), frames.AuthFrame(ALICE, "c", "s"), frames.AuthOkFrame(ALICE),
        frames.AcceptedFrame(["pkt_a1b2"]), frames.ReceivedFrame([1]), frames.ErrorFrame("rate_limited", "pkt_a1b2", 3),
        frames.QueueOverflowFrame("q_x", 100, BOB, "pkt_a1b2"), frames.SupersededFrame(), frames.ReportFrame(BOB),
        frames.PrekeysOkFrame(3), frames.NoticeFrame("recovery"), frames.PrekeysFrame(),
    ):  # fmt: skip
        assert frames.decode(frames.encode(frame)) == frame


@pytest.mark.spec("A2ACP-017")
def test_the_login_string_binds_relay_address_and_challenge():
    assert frames.auth_bytes(relay="a.example", address=ALICE, challenge="xyz") == (
        b"a2acp-auth-v1\na.example\nagent:alice@a.example\nxyz"
    )
