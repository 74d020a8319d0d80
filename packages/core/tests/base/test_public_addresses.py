import ipaddress

import pytest

from tacit.base.public_addresses import may_reach

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]


@pytest.mark.spec("CLOWL-033", "A2ACP-256")
@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "2002:808:808::1", "64:ff9b::808:808"],
)
def test_an_address_that_anybody_reaches_may_be_reached(address):
    assert may_reach(address)


@pytest.mark.spec("CLOWL-033", "A2ACP-256")
@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "fc00::1",
     "::ffff:127.0.0.1", "::ffff:10.0.0.1", "0.0.0.0", "224.0.0.1", "100.64.0.1", "255.255.255.255", "::",
     "2002:7f00:1::1", "2002:a00:1::", "64:ff9b::7f00:1", "64:ff9b:1::1", "::7f00:1", "fec0::1", "ff02::1",
     "ff0e::1", "2001:db8::1", "240.0.0.1", "localhost", ""],
)  # fmt: skip
def test_an_address_of_this_machine_a_network_behind_it_or_no_address_may_not(address):
    assert not may_reach(address)


def test_a_listed_network_may_be_reached_also_where_ipv6_stands_for_it():
    assert may_reach("127.0.0.1", LOOPBACK)
    assert may_reach("::1", LOOPBACK)
    assert may_reach("::ffff:127.0.0.2", LOOPBACK)
    assert not may_reach("10.0.0.1", LOOPBACK)
