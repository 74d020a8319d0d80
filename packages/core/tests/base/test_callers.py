"""Who calls: proxies, ports, brackets, zones and mapped addresses as they come, and what a limit counts by."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from tacit.base.callers import Call, bounds_of, called, check_networks, network_of
from tacit.base.errors import Refused
from tacit.base.fair_turns import TokenBuckets

PROXIES = ("10.0.0.0/8", "::1", "2001:db8:ffff::/48")
PROXY = "10.0.0.1"
FOR = "X-Forwarded-For"


def caller(*lines: tuple[str, str], remote: str = PROXY, trusted: tuple[str, ...] = PROXIES) -> str:
    return called(remote, CIMultiDict(lines), trusted).remote


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([(FOR, "203.0.113.7")], "203.0.113.7"),
        ([(FOR, "1.1.1.1, 9.9.9.9, 10.0.0.2")], "9.9.9.9"),
        ([(FOR, "1.1.1.1"), (FOR, "203.0.113.7")], "203.0.113.7"),
        ([(FOR, "203.0.113.7"), (FOR, "10.0.0.9")], "203.0.113.7"),
        ([(FOR, "203.0.113.7:4711")], "203.0.113.7"),
        ([(FOR, "[2001:db8::7]:4711")], "2001:db8::7"),
        ([(FOR, "[2001:db8::7]")], "2001:db8::7"),
        ([(FOR, "2001:db8::7")], "2001:db8::7"),
        ([(FOR, "fe80::7%eth0")], "fe80::7"),
        ([(FOR, "[fe80::7%eth0]:80")], "fe80::7"),
        ([(FOR, "::ffff:203.0.113.7")], "203.0.113.7"),
        ([(FOR, "[::ffff:203.0.113.7]:80")], "203.0.113.7"),
        ([(FOR, " 203.0.113.7 , , ")], "203.0.113.7"),
        ([(FOR, "203.0.113.7, 2001:db8:ffff::2")], "203.0.113.7"),
        ([(FOR, "10.0.0.5, 10.0.0.2")], "10.0.0.5"),
        ([("Forwarded", "for=203.0.113.7;proto=https")], "203.0.113.7"),
        ([("Forwarded", 'For="[2001:db8::7]:4711"')], "2001:db8::7"),
        ([("Forwarded", "for=1.1.1.1, for=203.0.113.7;by=10.0.0.9")], "203.0.113.7"),
        ([("Forwarded", "for=1.1.1.1"), ("Forwarded", "for=203.0.113.7, for=10.0.0.2")], "203.0.113.7"),
        ([("Forwarded", 'for="203.0.113.7:80";host="a;b,c"')], "203.0.113.7"),
        ([("Forwarded", "for=203.0.113.7"), (FOR, "203.0.113.7")], "203.0.113.7"),
    ],
)
def test_the_caller_is_whom_the_nearest_trusted_proxy_names(lines, expected) -> None:
    assert caller(*lines) == expected


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [(FOR, "")],
        [(FOR, "203.0.113.7, unknown")],
        [(FOR, "203.0.113.7, 999.1.1.1")],
        [(FOR, "203.0.113.7 evil")],
        [("Forwarded", "for=203.0.113.7, for=_hidden")],
        [("Forwarded", "for=203.0.113.7, proto=https")],
        [("Forwarded", 'for=203.0.113.7, for="unclosed')],
        [("Forwarded", "for=1.2.3.4"), (FOR, "203.0.113.7")],
    ],
)
def test_where_a_proxy_names_nobody_it_counts_itself(lines) -> None:
    assert caller(*lines) == ""


def test_a_hop_that_cannot_be_read_leaves_the_proxy_before_it() -> None:
    assert caller((FOR, "203.0.113.7, unknown, 10.0.0.2")) == "10.0.0.2"


@pytest.mark.parametrize(
    ("remote", "trusted"),
    [("203.0.113.7", PROXIES), (PROXY, ()), ("", ()), ("nonsense", PROXIES)],
)
def test_whoever_is_no_trusted_proxy_speaks_for_itself_alone(remote, trusted) -> None:
    told = CIMultiDict({FOR: "9.9.9.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.b"})
    assert called(remote, told, trusted) == Call()


@pytest.mark.parametrize("remote", [PROXY, f"::ffff:{PROXY}", "", None, "::1"])
def test_a_trusted_proxy_says_how_the_address_was_written(remote) -> None:
    told = CIMultiDict({FOR: "9.9.9.9", "X-Forwarded-Proto": "http, HTTPS", "X-Forwarded-Host": "x, a.b"})
    assert called(remote, told, PROXIES) == Call("9.9.9.9", "https", "a.b")
    told = CIMultiDict({"Forwarded": "for=9.9.9.9;proto=https;host=a.b"})
    assert called(remote, told, PROXIES) == Call("9.9.9.9", "https", "a.b")
    assert called(remote, CIMultiDict({"X-Forwarded-Proto": "gopher"}), PROXIES) == Call()


@pytest.mark.parametrize(
    ("remote", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("", ""),
    ],
)
def test_what_counts_as_one_address(remote: str, network: str) -> None:
    assert network_of(remote) == network


@pytest.mark.parametrize(
    ("remote", "keys"),
    [
        ("192.0.2.7", ["192.0.2.7"]),
        ("::ffff:192.0.2.7", ["192.0.2.7"]),
        ("2001:db8:1:2:3::6", ["2001:db8:1:2::/64", "2001:db8:1::/48"]),
        ("::1", ["::/64"]),
        (None, ["local"]),
    ],
)
def test_what_a_limit_counts_by(remote, keys) -> None:
    assert [bound.key for bound in bounds_of(remote)] == keys


def test_whoever_moves_within_a_network_has_one_allowance_and_within_a_site_a_wider_one() -> None:
    buckets = TokenBuckets(1.0, 5.0, most=1000)

    def allowed(addresses) -> int:
        return sum(buckets.take_each(bounds_of(address), 0.0) == 0.0 for address in addresses)

    assert allowed(f"2001:db8:1:2::{number:x}" for number in range(100)) == 5
    assert allowed(f"2001:db8:2:{number:x}::1" for number in range(200)) == 80
    assert allowed(f"192.0.2.{number}" for number in range(100)) == 100


def test_only_addresses_and_networks_can_be_trusted() -> None:
    check_networks(PROXIES, "--trust-proxy")
    with pytest.raises(Refused, match="--trust-proxy takes an address or a network"):
        check_networks(("proxy.example",), "--trust-proxy")
