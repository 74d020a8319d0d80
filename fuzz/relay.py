"""Fuzz the relay: frames, HTTP bodies and federation requests, edited, invented and by a grammar, against a real relay.

    python fuzz/relay.py [--examples 2000] [--seed 0]

Whatever arrives is taken, or refused with a documented error; the relay lives on; nothing is stored that its
sender did not sign and was not told of. The agent's end hears the same grammar from a relay that lies
(`fuzz/agent_end.py`). Hypothesis shrinks what it finds. The test suite runs a short stretch
of the same (packages/a2acp/tests/relay/test_fuzz.py).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pathlib
import sys
import tempfile
from contextlib import AsyncExitStack, contextmanager, suppress

import aiohttp
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fuzz import frame_grammar  # noqa: E402
from fuzz.agent_end import fuzz_agent  # noqa: E402
from tacit.base.errors import PeerFault  # noqa: E402
from tacit.relay.io import registry  # noqa: E402
from tacit.relay.io.federation_http import ACCEPTED, OVERFLOW  # noqa: E402
from tacit.relay.settings import MINUTE, RelayLimits  # noqa: E402
from tacit.seal import http_signature, primitives  # noqa: E402
from tacit.wire import codes, envelope, frames, records  # noqa: E402
from tacit.wire.encoding import b64, canonical, unb64  # noqa: E402
from tests.relay_support import PATIENCE, Relay  # noqa: E402

FRAGMENTS = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"NaN", b"-0", b"1e999", b"-1", b"0.5",
    b"\\u003a", b"\\ud800", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\0", b"\x7f", b"\n", b" ", b"18446744073709551616",
    b'"frame":"packet",', b'"frame":"auth",', b'"flags":["replace_queue"],', b'"delivery":-1,', b'"sig":"",',
    b"agent:", b"@", b"pkt_", b"q_", b"a2acp/0.2", b"A" * 300, b"[" * 300, b'{"a":' * 300,
]  # fmt: skip
EDITS = st.lists(
    st.tuples(
        st.integers(0, 1800),
        st.sampled_from(["insert", "cut", "replace", "double"]),
        st.sampled_from(FRAGMENTS) | st.binary(max_size=3),
        st.integers(1, 60),
    ),
    max_size=4,
)
TWIST = st.lists(
    st.tuples(st.integers(0, 700), st.just("replace"), st.sampled_from([b"A", b"g", b"_", b"0"]), st.just(1)),
    min_size=1,
    max_size=1,
)
"""One letter changed: most often still an envelope, but not the one that was signed."""
WORDS = st.sampled_from(
    [
        "",
        "x",
        "bob",
        "alice",
        "agent:bob@x",
        "pkt_abcd",
        "q_" + "A" * 22,
        "A" * 86,
        "A" * 43,
        "1" * 8,
        "\0",
        "é",
        "\ud7ff",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | WORDS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(WORDS, inside, max_size=3),
    max_leaves=6,
)
MEMBERS = [
    "envelope", "sig", "delivery", "deliveries", "address", "challenge", "signature", "signed", "last_resort",
    "one_time", "reset", "sender", "packet_ids", "code", "queue_tag", "limit", "username", "email", "registration",
    "credential", "session", "record", "possession", "statement", "packets", "id", "response", "rawId", "type", "steps",
]  # fmt: skip
NAMES = [*sorted(frames.KNOWN), "later", ""]
INVENTED = st.builds(
    lambda name, fields: json.dumps({"frame": name, **fields}).encode(),
    st.sampled_from(NAMES),
    st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=4),
)
BODIES = st.builds(
    lambda fields: json.dumps(fields).encode(),
    st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=5),
)
PATHS = [
    ("POST", "/v1/accounts"), ("POST", "/v1/accounts/confirm"), ("POST", "/v1/accounts/passkey"),
    ("POST", "/v1/accounts/recovery"), ("POST", "/v1/accounts/recovery/confirm"), ("DELETE", "/v1/accounts"),
    ("POST", "/v1/sessions/options"), ("POST", "/v1/sessions"), ("POST", "/v1/passkeys/options"),
    ("POST", "/v1/passkeys"), ("POST", "/v1/enrolment-codes"), ("POST", "/v1/agents"), ("GET", "/v1/account"),
    ("DELETE", "/v1/account/passkeys/AAAA"), ("DELETE", "/v1/account/recovery"), ("DELETE", "/v1/account/sessions"),
    ("DELETE", "/v1/account/session"), ("DELETE", "/v1/account/passkeys/%FF"),
    ("POST", "/v1/agents/alice/prekeys"), ("POST", "/v1/agents/%00/prekeys"), ("GET", "/v1/agents/alice"),
    ("GET", "/v1/agents/%F0%9F%98%80"), ("GET", "/v1/agents/%FF"), ("POST", "/v1/federation/packets"),
    ("GET", "/join/x"), ("GET", "/a2acp"), ("GET", "/nowhere"), ("PUT", "/v1/agents"),
]  # fmt: skip
STATUSES = {200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 413, 426, 429}
CLOSES = {
    codes.CLOSE_SUPERSEDED, codes.CLOSE_AUTH_FAILED, codes.CLOSE_SILENT, codes.CLOSE_TOO_SLOW,
    1000, 1002, 1003, 1007, 1009,
}  # fmt: skip
WIDE = RelayLimits(
    packets_per_minute=10**9, burst=10**9, new_recipients_per_hour=10**9, per_tag=10**9, per_recipient=10**9,
    per_sender=10**9, lookups_per_minute=10**9, peer_packets_per_minute=10**9, login_failures=10**9,
    connections_per_source=10**6,
)  # fmt: skip


def edited(text: bytes, edits) -> bytes:
    for position, kind, fragment, length in edits:
        at = position % (len(text) + 1)
        if kind == "insert":
            text = text[:at] + fragment + text[at:]
        elif kind == "cut":
            text = text[:at] + text[at + length :]
        elif kind == "replace":
            text = text[:at] + fragment + text[at + len(fragment) :]
        else:
            text = text[: at + length] + text[at:]
    return text


class Ground:
    """Two relays that talk to each other; alice and bob on the first, carol on the second."""

    async def open(self, folder: pathlib.Path) -> None:
        self._stack = AsyncExitStack()
        self.here = await self._stack.enter_async_context(
            Relay(folder / "here", host="localhost", limits=WIDE)
        )
        self.there = await self._stack.enter_async_context(
            Relay(folder / "there", host="127.0.0.1", limits=WIDE)
        )
        for one, other in ((self.here, self.there), (self.there, self.here)):
            await one.mailboxes.store.write(
                lambda file, other=other: registry.set_peer(file, other.domain, "allowed")
            )
            one.mailboxes.reload()
        self.alice, self.bob = await self.here.person("alice"), await self.here.person("bob")
        self.carol = await self.there.person("carol")
        self.seed = bytes.fromhex((self.there.folder / "relay.key").read_text().strip())
        self.nonces = 0
        # Time passes in leaps here, and a relay cuts connections that stand idle for long.
        connector = aiohttp.TCPConnector(force_close=True)
        self.http = await self._stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        await self.alice.connect()

    async def close(self) -> None:
        await self.alice.close()
        await self._stack.aclose()

    def stored(self) -> dict[str, tuple[bytes, str, str]]:
        rows = self.here.mailboxes.store.reader.execute("SELECT packet_id, envelope, sig, sender FROM queue")
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    async def empty(self) -> None:
        """What was stored has been looked at."""
        account = self.here.mailboxes.agent("bob").account
        await self.here.mailboxes.store.write(
            lambda file: file.execute("DELETE FROM queue; DELETE FROM markers") and None
        )
        self.here.mailboxes.quota.forget(account)

    def check_stored(self, told: set[str], senders) -> None:
        """Everything on disk was signed by its sender, for bob, and told as accepted."""
        for packet_id, (raw, sig, sender) in self.stored().items():
            found = envelope.read(raw)
            keys = {one.address: one.me.signing_public for one in senders}
            assert found.packet_id == packet_id
            assert primitives.verify(keys[sender], envelope.signed_bytes(raw), unb64(sig))
            assert packet_id in told, "stored, but its sender was not told"

    # Frames.

    def templates(self) -> list[bytes]:
        alice, bob = self.alice, self.bob
        packet = alice.packet(bob.address, body=bytes(256))
        replacing = alice.packet(bob.address, body=bytes(256), flags=["replace_queue"])
        return [
            frames.packet_bytes(bytes(packet.envelope), packet.sig),
            frames.packet_bytes(bytes(replacing.envelope), replacing.sig, 5),
            frames.encode(frames.ReceivedFrame([1, -1])),
            frames.encode(frames.ReportFrame(bob.address)),
            frames.encode(
                frames.PrekeysFrame(one_time=[{"id": 1, "key": "A" * 43, "sig": "A" * 86}], reset=True)
            ),
            frames.encode(alice.signed("A" * 43)),
        ]

    def texts(self, sentence: dict) -> list[bytes]:
        """The frames of a sentence, as alice says them."""
        fields = {key: value for key, value in sentence.items() if key != "say"}
        match sentence["say"]:
            case "packet":
                return [self._packet(sentence)] * (2 if sentence["twice"] else 1)
            case "prekeys":
                return [self._prekeys(sentence)]
            case "auth":
                signer = self.alice if sentence["signed_by"] == "me" else self.bob
                login = signer.signed(fields["challenge"], address=self._name(fields["address"]))
                return [frames.encode(login)]
            case name:
                for key in ("sender", "address", "relay"):
                    if key in fields:
                        fields[key] = self._name(fields[key])
                return [json.dumps({"frame": name, **fields}).encode()]

    def _name(self, name: str) -> str:
        known = {"$me": self.alice.address, "$peer": self.bob.address, "$relay": self.here.domain}
        known |= {"$abroad": self.carol.address, "$nobody": f"agent:nobody@{self.here.domain}"}
        return known.get(name, name)

    def _packet(self, sentence: dict) -> bytes:
        """An envelope with some fields of the grammar's, signed as it then is."""
        honest = json.loads(bytes(self.alice.packet(self.bob.address, body=bytes(sentence["size"])).envelope))
        to = {"to": self._name(sentence["to"])} if sentence["to"] != "$me" else {}
        header = {
            key: self._name(value) if isinstance(value, str) else value
            for key, value in sentence["header"].items()
        }
        raw = canonical({**honest, **to, **header})
        signer = {"me": self.alice, "peer": self.bob}.get(sentence["signed_by"])
        sig = b64(signer.me.sign(envelope.signed_bytes(raw))) if signer else "A" * 86
        return frames.packet_bytes(raw, sig, sentence["delivery"])

    def _prekeys(self, sentence: dict) -> bytes:
        ids, twist = iter(sentence["ids"]), sentence["twist"]

        def made(kind: str, *, twisted: bool) -> dict:
            number, key = next(ids), b64(bytes(31) + b"\x09")
            named = "one_time" if twisted and twist == "kind" else kind
            owner = self.bob.address if twisted and twist == "other owner" else self.alice.address
            sig = b64(self.alice.me.sign(records.prekey_signed_bytes(owner, named, number, key)))
            one = {"id": number, "key": key, "sig": sig}
            if twisted and twist in {"key", "sig", "id"}:
                one[twist] = "A"
            if twisted and twist == "lacks":
                del one["sig"]
            return one

        frame = {"frame": "prekeys", "reset": sentence["reset"]}
        for kind in ("signed", "last_resort"):
            if sentence[kind]:
                frame[kind] = made(kind, twisted=kind == "signed")
        frame["one_time"] = [made("one_time", twisted=n == 1) for n in range(sentence["one_time"])]
        return json.dumps(frame).encode()

    async def frames(self, texts: list[bytes], *, binary: bool) -> None:
        """Say all of them; then an honest packet must still be accepted."""
        kind = aiohttp.WSMsgType.BINARY if binary else aiohttp.WSMsgType.TEXT
        told: set[str] = set()
        for text in texts:
            await self.alice.ws.send_frame(text, kind)
        honest = self.alice.packet(self.bob.address, body=bytes(256))
        last = envelope.packet_id_of(bytes(honest.envelope))
        await self.alice.say(honest)
        alive = await self._answers(told, last)
        if alive:
            self.check_stored(told, [self.alice])
        else:
            # What was said before the close may be stored untold; its sender will say it again.
            self.check_stored(told | set(self.stored()), [self.alice])
            await self.alice.close()
            await self.alice.connect()
            await self.alice.say(honest)
            assert await self._answers(told, last, every=False)
        await self.empty()

    async def _answers(self, told: set[str], last: str | None, *, every: bool = True) -> bool:
        # Answers to what one commit stored may come in any order; all of them come.
        while last not in told or (every and not set(self.stored()) <= told):
            heard = await self.alice.hear()
            if isinstance(heard, int):
                assert heard in CLOSES, f"closed with {heard}"
                return False
            if isinstance(heard, frames.AcceptedFrame):
                told |= set(heard.packet_ids)
            elif isinstance(heard, frames.ErrorFrame):
                assert heard.code in codes.ERROR_CODES
            else:
                assert isinstance(
                    heard, frames.PrekeysOkFrame | frames.QueueOverflowFrame | frames.NoticeFrame
                )
        return True

    # HTTP.

    async def request(self, method: str, path: str, body: bytes, content_type: str) -> None:
        relay = self.here
        before = self._counts()
        headers = {"Content-Type": content_type}
        from yarl import URL

        async with asyncio.timeout(PATIENCE):
            url = URL(relay.url + path, encoded=True)
            async with self.http.request(method, url, data=body, headers=headers) as response:
                raw = await response.read()
        assert response.status in STATUSES, f"{method} {path}: {response.status}"
        if response.status in {400, 401, 403, 409, 413, 429} and path != "/a2acp":
            assert set(json.loads(raw)) >= {"code", "message"}
        if response.status >= 400:
            assert self._counts() == before
        async with self.http.get(relay.url + "/healthz") as response:
            assert await response.json() == {"status": "ok"}

    def _counts(self) -> list[int]:
        reader = self.here.mailboxes.store.reader
        return [
            reader.execute(f"SELECT count(*) FROM {table}").get
            for table in ("accounts", "agents", "passkeys", "codes", "queue", "peers")
        ]

    def enrolment(self) -> bytes:
        return json.dumps(self.bob.enrolment("aaaa-bbbb-cccc-dddd-eeee-ffff-gg", serial=2)).encode()

    # Federation.

    def delivery(self, count: int) -> bytes:
        packets = [self.carol.packet(self.bob.address, body=bytes(256)) for _ in range(count)]
        carried = b",".join(
            b'{"envelope":%b,"sig":"%b"}' % (bytes(one.envelope), one.sig.encode()) for one in packets
        )
        return b'{"packets":[%b]}' % carried

    async def federated(self, body: bytes, *, header: str, edits) -> None:
        """A request that the other relay signed, whatever it says; or one whose headers were touched."""
        relay = self.here
        self.nonces += 1
        target = f"{relay.url}/v1/federation/packets"
        headers = http_signature.sign_request(
            method="POST", url=target, body=body, content_type="application/json", key_id=self.there.domain,
            seed=self.seed, now=relay.clock.now(), nonce=f"nonce{self.nonces:020d}",
        )  # fmt: skip
        if header in headers:
            text = edited(headers[header].encode("latin-1"), edits).decode("latin-1")
            headers[header] = "".join(letter for letter in text if letter.isprintable())
        async with asyncio.timeout(PATIENCE), self.http.post(target, data=body, headers=headers) as response:
            raw = await response.read()
        assert response.status in {200, 400, 401, 403, 413}, response.status
        outcomes = json.loads(raw)
        told: set[str] = set()
        if response.status == 200:
            for outcome in outcomes:
                assert outcome["code"] in codes.ERROR_CODES | {ACCEPTED, OVERFLOW}
                told |= {outcome["packet_id"]} if outcome["code"] == ACCEPTED else set()
        else:
            assert set(outcomes) >= {"code", "message"}
        self.check_stored(told, [self.carol])
        await self.empty()


@contextmanager
def ground():
    """A loop of its own, with both relays on it."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        broken: list[dict] = []
        runner.get_loop().set_exception_handler(lambda _, context: broken.append(context))
        found = Ground()
        runner.run(found.open(pathlib.Path(folder)))
        try:
            yield found, runner
        finally:
            runner.run(found.close())
        assert not broken, "something failed unseen"


def fuzz(examples: int, number: int) -> None:
    """Everything, bounded."""
    bounded = settings(
        max_examples=examples, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    with ground() as (here, runner):

        @seed(number)
        @bounded
        @given(
            st.lists(
                st.tuples(st.integers(0, 5), EDITS)
                | st.tuples(st.integers(0, 1), TWIST)
                | INVENTED
                | st.binary(max_size=40),
                max_size=5,
            ),
            st.booleans(),
        )
        def said(parts, binary):
            templates = here.templates()
            texts = [edited(templates[one[0]], one[1]) if isinstance(one, tuple) else one for one in parts]
            runner.run(here.frames(texts, binary=binary))

        @seed(number)
        @bounded
        @given(
            st.sampled_from(PATHS),
            BODIES | st.binary(max_size=60) | EDITS,
            st.sampled_from(["application/json", "text/plain", ""]),
        )
        def asked(path, body, content_type):
            # The account doors are slow on purpose; a minute later they answer again.
            here.here.clock.ahead += MINUTE // 4
            given_body = body if isinstance(body, bytes) else edited(here.enrolment(), body)
            runner.run(here.request(*path, given_body, content_type))

        @seed(number)
        @bounded
        @given(
            st.integers(0, 3),
            EDITS | TWIST,
            st.sampled_from(["", "", "Signature", "Signature-Input", "Content-Digest"]),
            EDITS,
        )
        def carried(count, edits, header, header_edits):
            runner.run(here.federated(edited(here.delivery(count), edits), header=header, edits=header_edits))

        @seed(number)
        @bounded
        @given(st.lists(frame_grammar.OF_AN_AGENT, max_size=5))
        def spoken(sentences):
            texts = [text for sentence in sentences for text in here.texts(sentence)]
            runner.run(here.frames(texts, binary=False))

        said()
        spoken()
        asked()
        carried()


def decode_alone(examples: int, number: int) -> None:
    """Frames and envelopes without any socket: many more a second."""

    @seed(number)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(INVENTED | st.binary(max_size=200), EDITS)
    def read(text, edits):
        data = edited(text, edits)
        with suppress(PeerFault):
            frames.decode(data)
        envelope.packet_id_of(data)

    read()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--examples", type=int, default=2_000)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    decode_alone(chosen.examples * 5, chosen.seed)
    fuzz(chosen.examples, chosen.seed)
    fuzz_agent(chosen.examples, chosen.seed)
    print(
        f"{chosen.examples} turns at each of three doors and at the agent's end: nothing but documented errors"
    )


if __name__ == "__main__":
    main()
