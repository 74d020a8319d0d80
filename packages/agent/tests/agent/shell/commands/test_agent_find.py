"""Finding people from a terminal: a code that is shown and pasted, an address book, a domain."""

from __future__ import annotations

import json
import re
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.agent.shell.commands.test_agent_setup import Seat
from tests.agent.shell.commands.test_arrange import Owner, shared
from tests.days import weekday
from tests.hub.test_tokens import certificate
from tests.processes import RelayProcess
from tests.relay_support import free_port


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    process = RelayProcess(tmp_path_factory.mktemp("relay"), free_port())
    process.start()
    yield process
    process.stop()


@pytest.fixture(scope="module")
def people(relay, tmp_path_factory):
    home = tmp_path_factory.mktemp("people")
    anna, ben = Owner(home, "anna"), Owner(home, "ben")
    for one in (anna, ben):
        one.register(relay)
    return anna, ben


@pytest.mark.spec("A2ACP-022")
def test_a_code_from_one_terminal_pasted_into_another_gives_equal_safety_numbers(people, tmp_path):
    """Scenario 12."""
    anna, ben = people
    shown = ben.type("me")
    (uri,) = re.findall(r"^a2acp:\S+$", shown, re.MULTILINE)
    assert "fingerprint " in shown
    left = anna.json("add", uri)
    # The other way round from standard input, as a clipboard or a scanner gives it.
    right = json.loads(ben.type("add", "--json", stdin=f"{anna.json('me')['uri']}\n"))
    assert left["safety_number"] == right["safety_number"]
    assert (
        left["safety_number"]
        == anna.json("contact", f"ben@{left['address'].partition('@')[2]}", "show")["safety_number"]
    )
    assert "tacit agent contact ben@" in anna.type("add", uri)
    # Another key than the relay's is refused loudly, and nothing changes.
    wrong = uri[:-5] + ("00000" if not uri.endswith("00000") else "11111")
    refused = anna.type("add", wrong, code=1)
    assert "wrong_fingerprint" in refused
    assert "somebody stands between you" in refused
    assert anna.json("add", "hello", code=1)["code"] == "bad_contact_uri"


@pytest.mark.spec("A2ACP-022")
def test_the_code_is_drawn_at_a_terminal_and_written_as_pictures(people, tmp_path):
    anna, _ = people
    anna.json("me", "--png", str(tmp_path / "me.png"), "--svg", str(tmp_path / "me.svg"))
    assert (tmp_path / "me.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "me.svg").read_text()
    assert "unavailable" in anna.type("me", "--png", str(tmp_path / "no" / "me.png"), code=3)
    seat = Seat(anna, "me")
    seat.sees("a2acp:anna@")
    assert "▄" in seat.drawn or "█" in seat.drawn
    assert seat.close() == 0


@pytest.mark.spec("A2ACP-023")
def test_an_address_book_is_looked_through_here_while_no_relay_runs(tmp_path, people, relay):
    cara = Owner(tmp_path, "cara")
    book = tmp_path / "book.vcf"
    digits = "123451234512345123451234512345"
    book.write_text(
        f"BEGIN:VCARD\nVERSION:4.0\nFN:Ben\nIMPP:a2acp:ben@relay.example?fp={digits}\nEND:VCARD\n"
        "BEGIN:VCARD\nVERSION:4.0\nFN:Dora\nURL:a2acp:dora@relay.example\nEND:VCARD\n"
    )
    # This folder has no address, no keys and no relay: nothing could be asked.
    told = cara.type("find", "--vcard", str(book))
    assert f"tacit agent add 'a2acp:ben@relay.example?fp={digits}'" in told
    assert "tacit agent contact dora@relay.example add" in told
    assert [one["name"] for one in cara.json("find", "--vcard", str(book))["found"]] == ["Ben", "Dora"]
    book.write_text("hello")
    assert cara.json("find", "--vcard", str(book), code=1)["code"] == "bad_vcard"
    cara.type("find", code=2)


class Trusting(Owner):
    """The same person, with one more authority: the group's option stands before the command."""

    def __init__(self, home, name: str, cert) -> None:
        super().__init__(home, name)
        self._cert = cert

    def type(self, *words: str, code: int = 0, stdin: str = "") -> str:
        return super().type("--trust", str(self._cert), *words, code=code, stdin=stdin)


class _Finger(BaseHTTPRequestHandler):
    uri = ""

    def do_GET(self) -> None:
        resource = parse_qs(urlsplit(self.path).query)["resource"][0]
        links = [{"rel": "urn:a2acp:agent", "href": type(self).uri}]
        body = json.dumps({"subject": resource, "links": links}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/jrd+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.mark.spec("A2ACP-024")
def test_a_domain_is_asked_and_what_it_says_is_shown_before_it_is_added(people, tmp_path):
    anna, ben = people
    cert, key = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Finger)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        _Finger.uri = ben.json("me")["uri"]
        account = f"ben@127.0.0.1:{server.server_port}"
        trusting = Trusting(anna.folder.parent, "anna", cert)
        assert trusting.json("find", account, code=1)["code"] == "private_host"
        told = trusting.type("find", account, "--private")
        assert _Finger.uri in told or "already a contact" in told
        (found,) = trusting.json("find", account, "--private")["found"]
        assert found["address"].startswith("agent:ben@")
        # Without the certificate nobody is believed.
        assert anna.json("find", account, "--private", code=3)["code"] == "unavailable"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def test_a_value_is_asked_for_so_that_no_shell_remembers_it(people):
    anna, ben = people
    who = ben.json("me")["address"].removeprefix("agent:")
    anna.json("contact", who, "add")
    anna.type("profile", "dietary=-", stdin="no nuts\n")
    assert anna.json("profile")["profile"]["dietary"] == "no nuts"
    anna.json("ask", f"dinner with ben on {weekday(3)} evening")
    asked = anna.question("consent")
    others = [word for word in shared(asked) if word not in {"--share", "dietary"}]
    given = [word for one in others for word in ("--share", one)]
    anna.type("answer", asked["question_id"], "--share", "dietary=-", code=2)
    anna.type("answer", asked["question_id"], "--share", "dietary=-", *given, stdin="secretly no fish\n")
    (told,) = [one for one in anna.json("disclosures")["disclosures"] if one["field"] == "dietary"]
    assert told["value"] == "secretly no fish"
