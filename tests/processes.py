"""Real processes of `tacit relay` and `tacit agent` on loopback, and certificates for them."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import os
import signal
import sys
import time
import urllib.request

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.typed import Started, typed

RELAY = "relay"
AGENT = "agent"


def command(program: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", "tacit", program, *map(str, arguments)]


def run(program: str, *arguments: object, status: int = 0) -> dict:
    """A finished command's JSON."""
    done = typed((program, *map(str, arguments), "--json"), dict(os.environ))
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else {}


class RelayProcess:
    """`tacit relay` in a process of its own; may be killed and started again on the same folder and port."""

    def __init__(
        self, folder, port: int, *options: object, host: str = "localhost", scheme: str = "http"
    ) -> None:
        self.folder = folder
        self.port = port
        self.domain = f"{host}:{port}"
        self.url = f"{scheme}://{self.domain}"
        self._options = options
        self._process: Started | None = None

    def start(self, *, context=None) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        words = (RELAY, "--data", self.folder, "--domain", self.domain, "--port", self.port, *self._options)
        log = self.folder / "log"
        self._process = Started(tuple(map(str, words)), dict(os.environ), log, out=log)
        end = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=1, context=context) as answer:
                    assert answer.status == 200
                    return
            except OSError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < end, "the relay did not start"
                time.sleep(0.02)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_down(self) -> bool:
        return self._process is None

    def kill(self) -> None:
        """SIGKILL, no farewell."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def stop(self, number: int = signal.SIGTERM) -> int | None:
        """End it as an operator does; its exit code."""
        if self._process is None:
            return None
        self._process.send_signal(number)
        code = self._process.wait(20)
        self._process = None
        return code

    def invite(self, username: str) -> str:
        return run(RELAY, "--data", self.folder, "invite", username)["code"]


def certificate(folder) -> tuple[str, str]:
    """A self-signed certificate for localhost."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    cert_path, key_path = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    with open(cert_path, "wb") as file:
        file.write(made.public_bytes(serialization.Encoding.PEM))
    with open(key_path, "wb") as file:
        file.write(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    return cert_path, key_path
