"""Who is let in by NATS servers, over what: real servers with TLS, passwords, and an operator's credentials."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Refused
from tacit.base.io.jetstream.connection import NatsConnection, Patience
from tacit.base.io.jetstream.lease import Holder, Lease
from tacit.base.nats_access import to_servers
from tacit.base.stream_plan import StreamPlan
from tacit.hub.stream.access import access_of
from tacit.ledger.io.jetstream.stream import JetStream
from tests.ledger.io.jetstream.accounts import Operator
from tests.ledger.io.jetstream.proxy import Proxy
from tests.ledger.io.jetstream.servers import new_name, one, opened
from tests.ledger.io.jetstream.test_traps import until
from tests.processes import certificate
from tests.shell import shell  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ledger.io.jetstream.servers import Server
    from tests.shell import Shell

SECRET = "a-password-of-nobody"
USERS = f"authorization {{ users: [ {{ user: hub, password: {SECRET} }} ] }}"


def encrypted(folder: Path) -> str:
    cert, key = certificate(folder)
    return f'tls {{ cert_file: "{cert}", key_file: "{key}" }}\n'


@contextmanager
def started(folder: Path, more: str = "", name: str = "n1") -> Iterator[Server]:
    server = one(folder / name, more, name)
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server with TLS and a password; and its folder, with its certificate and the file of credentials."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "hub.creds").write_text(f"hub:{SECRET}\n")
    with started(folder, encrypted(folder) + USERS) as server:
        yield server, folder


def url(server: Server, scheme: str = "tls") -> str:
    return f"{scheme}://localhost:{server.port}"


def plan(
    server: Server, folder: Path, *, scheme: str = "tls", ca: str = "cert.pem", creds: str = "hub.creds"
):
    return StreamPlan(
        (url(server, scheme),), new_name(), 1, folder / creds if creds else None, folder / ca if ca else None
    )


def refusal(asked: StreamPlan) -> Refused:
    with pytest.raises(Refused) as refused:
        NatsConnection(access_of(asked), Patience(connection=60.0))
    assert SECRET not in str(refused.value)
    return refused.value


def test_a_hub_is_let_in_over_tls_with_a_password(guarded: tuple[Server, Path]) -> None:
    opened_stream = JetStream(access_of(plan(*guarded)), new_name(), replicas=1)
    opened_stream.close()


def test_what_will_not_pass_is_told_at_once_with_its_remedy(
    guarded: tuple[Server, Path], tmp_path: Path
) -> None:
    """At once: the patience of a minute would end in another error."""
    server, folder = guarded
    certificate(tmp_path)
    (tmp_path / "hub.creds").write_text("hub:wrong")
    (tmp_path / "empty").write_text("")
    stranger = plan(server, folder, ca=str(tmp_path / "cert.pem"))
    assert (found := refusal(stranger)).code == "untrusted_server"
    assert "--nats-ca" in found.message
    assert refusal(plan(server, folder, ca="")).code == "untrusted_server"
    misnamed = StreamPlan((f"tls://127.1:{server.port}",), ca=folder / "cert.pem")
    assert "not valid for '127.1'" in refusal(misnamed).message
    assert (found := refusal(plan(server, folder, creds=str(tmp_path / "hub.creds")))).code == "not_let_in"
    assert "these credentials" in found.message
    assert "--nats-creds" in refusal(plan(server, folder, creds="")).message
    assert refusal(plan(server, folder, creds=str(tmp_path / "empty"))).code == "bad_credentials"
    assert refusal(plan(server, folder, ca=str(tmp_path / "empty"))).code == "bad_ca"


def test_nothing_is_said_to_a_server_without_tls(server: Server, tmp_path: Path) -> None:
    """Whoever stands in between says that no TLS is needed, and would read the password."""
    (tmp_path / "hub.creds").write_text(f"hub:{SECRET}")
    certificate(tmp_path)
    proxy = Proxy(server.port, new_name())
    try:
        for asked in (
            StreamPlan((proxy.url.replace("nats:", "tls:"),), credentials=tmp_path / "hub.creds"),
            StreamPlan((proxy.url,), credentials=tmp_path / "hub.creds", ca=tmp_path / "cert.pem"),
        ):
            assert refusal(asked).code == "no_tls"
        assert proxy.connects == 0
        NatsConnection([proxy.url]).close()
        assert proxy.connects == 1
    finally:
        proxy.close()


def test_a_server_that_works_is_found_among_others(guarded: tuple[Server, Path], server: Server) -> None:
    there, folder = guarded
    both = StreamPlan((url(server), url(there)), credentials=folder / "hub.creds", ca=folder / "cert.pem")
    for _ in range(4):
        NatsConnection(access_of(both), Patience(connection=60.0)).close()


def test_an_operators_credentials_are_taken_and_read_anew(tmp_path: Path) -> None:
    operator, creds = Operator(), tmp_path / "hub.creds"
    creds.write_text(operator.credentials())
    with started(tmp_path, encrypted(tmp_path) + operator.config) as server:
        stream = JetStream(access_of(asked := plan(server, tmp_path)), new_name(), replicas=1)
        try:
            creds.write_text("nothing that could be read")
            server.kill()
            server.restart()
            creds.write_text(operator.credentials())
            until(lambda: stream.connection.reconnects > 0)
            assert stream.end() == 0
        finally:
            stream.close()
        creds.write_text(Operator().credentials())
        assert refusal(asked).code == "not_let_in"


def test_a_connection_that_a_server_ends_for_good_is_made_anew(server: Server) -> None:
    """With a word like this the client closes: so do servers when credentials expire."""
    proxy = Proxy(server.port, name := new_name())
    opened([server.url], name, 1).close()
    stream = JetStream([proxy.url], name, replicas=1)
    direct = JetStream([server.url], name, replicas=1)
    try:
        lease = Lease(stream.connection, name, Holder("n1", "here"), replicas=1)
        asked = f"tacit.{name}.holder"
        proxy.tell_clients(b"-ERR 'User Authentication Expired'\r\n")
        until(lambda: stream.connection.reconnects == 1)
        assert stream.end() == 0
        until(lambda: b"here" in (direct.connection.wait(direct.connection.request(asked)) or b""))
        lease.release()
    finally:
        stream.close()
        direct.close()
        proxy.close()


def test_a_connection_is_let_go_of_though_its_server_is_gone(tmp_path: Path) -> None:
    with started(tmp_path) as server:
        connection = NatsConnection([server.url])
        server.kill()
        connection.wait(connection.say("nobody.hears", b"what is left"))
        connection.close()


def test_a_connection_that_is_being_made_anew_leaves_nothing_behind(tmp_path: Path) -> None:
    """The library forgets an attempt whose cancellation was lost; it would go on when the loop has ended."""
    with started(tmp_path) as server:
        connection = NatsConnection([server.url], Patience(answer=0.5))
        client = connection._client
        assert client is not None
        server.process.send_signal(signal.SIGSTOP)
        until(lambda: client.is_reconnecting)
        forgotten = connection.start(client._attempt_reconnect())
        until(lambda: client._attempts == {forgotten})
        client._reconnection_task = None
        connection.close()
        assert not asyncio.all_tasks(connection._loop)
        assert client._transport._io_writer.is_closing()


def test_a_server_that_says_nothing_any_more_is_left_for_another(tmp_path: Path) -> None:
    """As one whose machine lost its power: the connection does not break, it is silent."""
    with started(tmp_path, name="n1") as n1, started(tmp_path, name="n2") as n2:
        connection = NatsConnection([n1.url, n2.url], Patience(answer=0.5))
        try:
            at, _version = connection.server
            silent, other = (n1, "n2") if at == "n1" else (n2, "n1")
            silent.process.send_signal(signal.SIGSTOP)
            until(lambda: connection.server[0] == other)
        finally:
            connection.close()


NEEDED = [
    "TACIT.>", "TACIT_NODE.>", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.MSG.GET.*",
    "$JS.API.STREAM.MSG.DELETE.*", "$JS.API.CONSUMER.CREATE.TACIT", "$JS.FC.TACIT.>", "_INBOX.>", "tacit.TACIT.>",
]  # fmt: skip
HEARD = ["_INBOX.>", "tacit.TACIT.>"]
NAMED = {"$JS.API.STREAM.CREATE.*": "$JS.API.STREAM.CREATE.TACIT_NODE", "_INBOX.>": "_INBOX.>"}


def test_a_permission_that_is_missing_is_named_at_the_start(tmp_path: Path) -> None:
    lacking = ["", *(one for one in NEEDED if one != "_INBOX.>"), *(f"to hear {one}" for one in HEARD)]
    users = ", ".join(
        f"{{ user: u{number}, password: p, permissions: {{ publish: {[one for one in NEEDED if one != lack]}, "
        f"subscribe: {[one for one in HEARD if lack != f'to hear {one}']} }} }}"
        for number, lack in enumerate(lacking)
    ).replace("'", '"')
    with started(tmp_path, f"authorization {{ users: [ {users} ] }}") as server:
        for number, lack in enumerate(lacking):
            (tmp_path / "creds").write_text(f"u{number}:p")
            asked = StreamPlan((server.url,), credentials=tmp_path / "creds", replicas=1)
            told, subject = refused_at_start(asked), lack.removeprefix("to hear ")
            assert ("not_permitted" in told) == bool(lack), (lack, told)
            assert NAMED.get(subject, subject.strip("*>")) in told


def refused_at_start(asked: StreamPlan) -> str:
    """Of the two streams that the permissions are for."""
    connection = NatsConnection(access_of(asked), Patience(answer=60.0))
    try:
        JetStream(connection, replicas=1)
        Lease(connection, "TACIT", Holder("n1"), replicas=1).release()
    except Refused as refused:
        return str(refused)
    finally:
        connection.close()
    return ""


@pytest.mark.parametrize(
    "wrong",
    [
        "n1:4222",
        "http://n1:4222",
        "nats://",
        "nats://n1:port",
        "nats://n1:4222/path",
        "nats://u:p@n1:4222",
        "",
    ],
)
def test_what_is_no_address_or_shows_a_password_is_refused(wrong: str) -> None:
    with pytest.raises(Refused, match="invalid_request"):
        to_servers([wrong])


def test_a_hub_is_started_over_tls_and_its_secrets_are_seen_nowhere(
    shell: Shell,  # noqa: F811
    guarded: tuple[Server, Path],
    tmp_path: Path,
) -> None:
    server, folder = guarded
    stream = ("--nats-stream", new_name(), "--nats-replicas", "1", "--nats-ca", str(folder / "cert.pem"))
    known = ("--nats", url(server), "--nats-creds", str(folder / "hub.creds"), *stream)
    shell.start(*known)
    shell.run("group", "new", "Encrypted")
    assert shell.hub is not None
    typed = Path(f"/proc/{shell.hub.pid}/cmdline")
    assert not typed.exists() or SECRET.encode() not in typed.read_bytes()
    shell.stop()
    (tmp_path / "wrong.creds").write_text("hub:wrong")
    told = shell.run("up", "--port", "0", *known, "--nats-creds", str(tmp_path / "wrong.creds"), code=1)
    assert "not_let_in" in told
    assert "Traceback" not in told
    assert "not_let_in" in shell.run(
        "ledger", "copy", "--from-nats", url(server), *stream, "--data", str(tmp_path / "out"), code=1
    )
    logs = [path for path in shell.home.rglob("*") if path.is_file() and path.suffix != ".creds"]
    assert not [path for path in logs if SECRET.encode() in path.read_bytes()]
