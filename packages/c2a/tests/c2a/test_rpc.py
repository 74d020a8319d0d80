"""The correlator of JSON-RPC: each call ends once, whatever the other side says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from tacit.base.errors import PeerFault, Unavailable
from tacit.c2a.rpc import (
    CallError,
    CallFailed,
    CallResult,
    ConnectionLost,
    Correlator,
    Notification,
    Request,
    Unmatched,
)


def open_calls(peer: Correlator) -> int:
    return len(peer._open)


def answer(call: object, **body: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": call, **body}).encode()


# What this side says


@pytest.mark.spec("C2A-012")
def test_every_message_says_which_json_rpc_it_is() -> None:
    peer = Correlator()
    assert peer.request("ping") == (1, b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert peer.request("say", {"a": 1}) == (2, b'{"jsonrpc":"2.0","id":2,"method":"say","params":{"a":1}}')
    assert peer.notification("told", {"b": 2}) == b'{"jsonrpc":"2.0","method":"told","params":{"b":2}}'
    assert peer.result("x", {"ok": True}) == b'{"jsonrpc":"2.0","id":"x","result":{"ok":true}}'
    assert peer.result(7, None) == b'{"jsonrpc":"2.0","id":7,"result":null}'
    assert peer.error(7, {"code": -1}) == b'{"jsonrpc":"2.0","id":7,"error":{"code":-1}}'


def test_a_peer_that_wants_no_version_gets_none() -> None:
    peer = Correlator(version=None)
    assert peer.request("ping", {}) == (1, b'{"id":1,"method":"ping","params":{}}')
    assert peer.notification("initialized") == b'{"method":"initialized"}'


@pytest.mark.spec("C2A-167")
def test_params_given_as_bytes_leave_as_they_are() -> None:
    raw = b'{"b": 1.50,"a":"\\u00e9"}'
    peer = Correlator()
    first, second = peer.request("send", raw)[1], peer.request("send", raw)[1]
    assert raw in first
    assert first.replace(b'"id":1', b'"id":2') == second


# What the other side says


@pytest.mark.spec("C2A-013")
def test_answers_find_their_calls_in_any_order() -> None:
    peer = Correlator()
    one, two = peer.request("a")[0], peer.request("b")[0]
    assert peer.receive(answer(two, result=[1])) == CallResult(two, [1])
    assert peer.receive(answer(one, error={"code": -32004, "message": "no"})) == CallError(
        one, {"code": -32004, "message": "no"}
    )
    assert open_calls(peer) == 0


def test_an_answer_to_no_open_call_is_nobodys() -> None:
    peer = Correlator()
    call = peer.request("a")[0]
    for stranger in ("1", True, 1.0, 99, None, [1]):
        assert peer.receive(answer(stranger, result=0)) == Unmatched(stranger)
    assert peer.receive(b'{"result":0}') == Unmatched(None)
    assert peer.receive(answer(call, result=0)) == CallResult(call, 0)
    assert peer.receive(answer(call, result=0)) == Unmatched(call)  # said twice


def test_a_late_answer_to_a_call_that_was_let_go_is_nobodys() -> None:
    peer = Correlator()
    call = peer.request("a")[0]
    peer.forget(call)
    peer.forget(call)
    assert peer.receive(answer(call, result=0)) == Unmatched(call)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"result": None}, CallResult(1, None)),
        ({"result": 1, "error": None}, CallResult(1, 1)),  # JSON-RPC 1.0's way of saying yes
        ({"error": None}, CallResult(1, None)),
        ({"error": "no"}, CallError(1, {})),
        ({"result": 1, "error": {"code": 5}}, CallError(1, {"code": 5})),
    ],
)
def test_answers_of_a_doubtful_form_still_end_their_call(body: dict[str, Any], found: object) -> None:
    peer = Correlator()
    peer.request("a")
    assert peer.receive(answer(1, **body)) == found
    assert open_calls(peer) == 0


@pytest.mark.spec("C2A-014")
def test_what_the_other_side_asks_and_tells_is_told_apart_by_its_id() -> None:
    peer = Correlator()
    assert peer.receive('{"id":"q","method":"chat/deliver","params":{"x":1}}') == Request(
        "q", "chat/deliver", {"x": 1}
    )
    assert peer.receive(b'{"method":"n"}') == Notification("n")
    # Their ids are not ours: the same number on both sides is two calls.
    call = peer.request("a")[0]
    assert peer.receive(b'{"id":1,"method":"b"}') == Request(1, "b")
    assert peer.receive(answer(call, result=0)) == CallResult(call, 0)


@pytest.mark.spec("C2A-012")
@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"7", b"[]", b"null", b'{"a":1}{', b"\xff", b'{"id":"\xff"}', "\ufeff{}", b"{}", b'{"id":1}',
        b'{"id":1,"method":5}', b'{"id":{},"method":"a"}', b'{"id":null,"method":"a"}', b'{"id":true,"method":"a"}',
        b'{"params":' * 100_000,
    ],
    ids=lambda data: repr(data[:30]),
)  # fmt: skip
def test_what_is_no_json_rpc_is_the_peers_fault_and_ends_no_call(data: bytes | str) -> None:
    peer = Correlator()
    peer.request("a")
    with pytest.raises(PeerFault):
        peer.receive(data)
    assert open_calls(peer) == 1


@given(st.binary(max_size=80) | st.text(max_size=80))
@settings(max_examples=300)
def test_no_bytes_do_anything_else(data: bytes | str) -> None:
    peer = Correlator()
    peer.request("a")
    try:
        peer.receive(data)
    except PeerFault:
        assert open_calls(peer) == 1


# The ends


def test_no_more_calls_are_open_than_may_be() -> None:
    peer = Correlator(most=2)
    first = peer.request("a")[0]
    peer.request("b")
    with pytest.raises(Unavailable):
        peer.request("c")
    peer.receive(answer(first, result=0))
    assert peer.request("c")[0] == 3


def test_the_end_names_every_open_call_once_and_nothing_is_called_after_it() -> None:
    peer = Correlator()
    calls = [peer.request("a")[0] for _ in range(3)]
    peer.receive(answer(calls[1], result=0))
    assert peer.end() == (calls[0], calls[2])
    assert peer.end() == ()
    assert peer.receive(answer(calls[0], result=0)) == Unmatched(calls[0])
    with pytest.raises(ConnectionLost):
        peer.request("late")


def test_a_params_that_cannot_be_written_opens_no_call() -> None:
    peer = Correlator()
    with pytest.raises(TypeError):
        peer.request("a", {"x": object()})
    assert open_calls(peer) == 0


def test_the_text_of_an_error_stays_out_of_ours() -> None:
    failed = CallFailed({"code": -5, "message": "their secret"})
    assert "secret" not in str(failed)
    assert failed.error["message"] == "their secret"


class EveryCallEndsOnce(RuleBasedStateMachine):
    """Against the model: a set of open ids."""

    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.peer = Correlator(most=4)
        self.open: set[int] = set()
        self.ended = False

    @precondition(lambda self: not self.ended and len(self.open) < 4)
    @rule(target=calls)
    def ask(self) -> int:
        call = self.peer.request("m")[0]
        assert call not in self.open
        self.open.add(call)
        return call

    @rule(call=calls, fails=st.booleans())
    def hear(self, call: int, *, fails: bool) -> None:
        got = self.peer.receive(answer(call, **({"error": {}} if fails else {"result": call})))
        if call not in self.open:
            assert got == Unmatched(call)
        else:
            assert got == (CallError(call, {}) if fails else CallResult(call, call))
        self.open.discard(call)

    @rule(call=consumes(calls))
    def let_go(self, call: int) -> None:
        self.peer.forget(call)
        self.open.discard(call)

    @rule()
    def end(self) -> None:
        assert set(self.peer.end()) == self.open
        self.open.clear()
        self.ended = True

    @invariant()
    def counts(self) -> None:
        assert open_calls(self.peer) == len(self.open)


TestEveryCallEndsOnce = EveryCallEndsOnce.TestCase
