"""The files in `deploy/`, as far as they can be tried without a container runtime and a service manager."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from contextlib import closing
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
import yaml

from tacit.base.commands.folders import default_data
from tacit.base.commands.main import tacit
from tacit.base.io.jetstream.connection import NatsConnection, Patience
from tacit.base.io.jetstream.safety import is_old
from tacit.base.io.system import SystemEntropy
from tacit.base.stream_plan import StreamPlan
from tacit.hub.config import HubConfig
from tacit.hub.doors.openapi import describe
from tacit.hub.stream.access import access_of
from tacit.ledger.io.jetstream.blobs import BlobStream
from tacit.ledger.io.jetstream.snapshots import LedgerSnapshots
from tacit.ledger.io.jetstream.stream import JetStream
from tests.hub.room import WAIT, running
from tests.ledger.io.jetstream.servers import PROGRAM
from tests.ledger.io.jetstream.test_access import refused_at_start, started
from tools import release, sbom
from tools.distributions import distributions
from tools.places import ROOT, projects

if TYPE_CHECKING:
    import pytest

PUBLIC = "https://tacit.example"


def instructions() -> list[tuple[str, str]]:
    """What the container file says: each instruction with its words, lines that go on put together."""
    text = (ROOT / "deploy" / "Containerfile").read_text()
    lines = re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines if line.strip())]


def of(name: str) -> list[str]:
    return [rest for word, rest in instructions() if word == name]


def parsed(words: list[str]) -> dict[str, Any]:
    """The options of a command of ours, as the command line would read them; refuses what it does not know."""
    program, name, *options = words
    assert program.endswith("tacit")
    command = tacit.get_command(click.Context(tacit), name)
    assert command is not None, name
    return command.make_context(name, options).params


def test_the_container_runs_as_nobody_special_and_stops_cleanly() -> None:
    words = [word for word, _ in instructions()]
    [user] = of("USER")
    last = len(words) - 1 - words[::-1].index("FROM")
    assert last < words.index("USER") < words.index("CMD"), "of the image that runs, before anything does"
    assert user.isdigit()
    assert int(user) > 0
    assert f"--uid {user} " in " ".join(of("RUN"))
    assert of("STOPSIGNAL") == ["SIGTERM"]


def test_the_container_is_built_of_what_is_here() -> None:
    documents = [tomllib.loads(path.read_text()) for path in projects(ROOT)]
    build = " ".join(of("RUN"))
    [lock] = re.findall(r"-r (\S+)", build)
    pinned = (ROOT / lock).read_text()
    assert "--require-hashes" in build
    for needed in {name for document in documents for name in document["build-system"]["requires"]}:
        assert re.search(rf"(?m)^{needed}==", pinned), "nothing is fetched to build with"
    assert {"COPY . ."} <= {f"COPY {rest}" for rest in of("COPY")}
    ignored = (ROOT / ".containerignore").read_text().split()
    assert {".git", ".venv", "data"} <= set(ignored), "what is this machine's own stays here"
    assert not {"**/data", "*/data", "**/build", "packages"} & set(ignored), (
        "folders of packages are called so too"
    )
    [least] = {document["project"]["requires-python"].removeprefix(">=") for document in documents}
    assert all(rest.split()[0] == f"python:{least}-slim" for rest in of("FROM"))


def test_the_container_and_the_unit_start_our_command_with_options_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell = json.loads(of("CMD")[0])
    assert shell[:2] == ["sh", "-c"]
    start, *words = shlex.split(shell[2].replace("$TACIT_PUBLIC_URL", PUBLIC))
    assert start == "exec", "the hub itself gets the signal to stop"
    options = parsed(words)
    assert [str(options["port"])] == of("EXPOSE")
    assert options["public_url"] == PUBLIC
    kept = re.findall(r"TACIT_DATA=(\S+)", " ".join(of("ENV")))
    assert kept == of("VOLUME")
    monkeypatch.setenv("TACIT_DATA", kept[0])
    assert str(default_data()) == kept[0]

    unit = (ROOT / "deploy" / "tacit.service").read_text()
    [started] = re.findall(r"(?m)^ExecStart=(.*)$", unit)
    given = started.replace("${TACIT_PUBLIC_URL}", PUBLIC).replace("${STATE_DIRECTORY}", "/var/lib/tacit")
    assert parsed(shlex.split(given))["public_url"] == PUBLIC


def test_the_image_has_every_library_that_ours_ask_for_and_takes_ours_from_no_index() -> None:
    [libraries, _wheels, install] = of("RUN")[0].split(" && ")[1:]
    assert "--require-hashes" in libraries
    assert {"--no-index", "--no-deps", "/wheels/*.whl"} <= set(install.split())
    [lock] = re.findall(r"-r (\S+)", libraries)
    pinned = {library.name for library in sbom.libraries((ROOT / lock).read_text())}
    ours = distributions(ROOT)
    names = {own.name for own in ours}
    assert sbom.resolved(ours, [*names, "tacit-room[mcp,scale]"]) <= pinned | names
    assert not pinned & names


def test_the_image_installs_the_wheels_of_every_distribution(tmp_path: Path) -> None:
    """The container file's own lines, on the files that git has, beside the libraries that are here."""
    [_libraries, wheels, install] = re.sub(r"/opt/tacit/bin/", "", of("RUN")[0]).split(" && ")[1:]
    tree = release.checked_out(tmp_path / "src")
    for line in (wheels, f"python -m {install} --target {tmp_path / 'installed'}"):
        done = subprocess.run(
            ["sh", "-euc", line.replace("/wheels", str(tmp_path / "wheels"))], cwd=tree, text=True,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    stems = {own.stem for own in distributions(ROOT)}
    assert {path.name.removesuffix("-py3-none-any.whl") for path in (tmp_path / "wheels").iterdir()} == stems
    started = subprocess.run(
        [sys.executable, "-c", "import tacit.base.commands.main, tacit.hub.server; print(tacit.base.commands.main.__file__)"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "installed")},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(started.stdout.strip()).is_relative_to(tmp_path / "installed")


def test_the_unit_is_installed_as_the_page_says_and_starts_what_that_brings() -> None:
    unit = (ROOT / "deploy" / "tacit.service").read_text()
    page = (ROOT / "docs" / "upgrade.md").read_text()
    said = re.findall(r"(?m)^#   ((?:python3|/opt).*)$", unit)
    assert len(said) == 2
    assert all(f"\n{line}\n" in page for line in said)
    [program] = re.findall(r"(?m)^ExecStart=(\S+)", unit)
    assert program == "/opt/tacit/bin/tacit"
    assert all("--require-hashes" in line for line in said if " install " in line), (
        "ours are the release's own"
    )
    assert any("tacit" in entry.name for entry in entry_points(group="console_scripts", name="tacit"))


async def test_the_health_check_asks_a_hub_that_is_ready(tmp_path: Path) -> None:
    [said] = of("HEALTHCHECK")
    program, flag, code = json.loads(said[said.index("[") :])
    assert (program, flag) == ("python", "-c")
    asked = f"http://127.0.0.1:{of('EXPOSE')[0]}"
    assert asked in code

    async def check(url: str) -> int:
        tried = await asyncio.create_subprocess_exec(
            sys.executable, flag, code.replace(asked, url), stderr=asyncio.subprocess.DEVNULL
        )
        async with asyncio.timeout(WAIT):
            return await tried.wait()

    async with running(tmp_path / "data") as room:
        assert await check(room.url) == 0
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # ours, so that no other hub listens there meanwhile
        assert await check(f"http://127.0.0.1:{nobody.getsockname()[1]}") != 0


NATS = ROOT / "deploy" / "nats"
NAMED = {"SERVER_NAME": "n1", "HUB_PASSWORD": "p1", "CLUSTER_PASSWORD": "p2", "TACIT_PUBLIC_URL": PUBLIC}


def filled(text: str) -> str:
    """With what the environment gives, as compose (`${NAME:-…}`) and Kubernetes (`$(NAME)`) put it in."""
    return re.sub(r"\$[({](\w+)[^)}]*[)}]", lambda match: NAMED.get(match[1], ""), text)


def composed() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The services of the compose file: NATS servers, and hubs."""
    services = yaml.safe_load(filled((NATS / "compose.yaml").read_text()))["services"]
    servers = [one for name, one in services.items() if name.startswith("nats")]
    return servers, [one for name, one in services.items() if name.startswith("hub")]


def in_a_cluster() -> tuple[dict[str, Any], dict[str, Any]]:
    """What Kubernetes runs: the pods of the NATS servers, and of the hubs."""
    things = list(yaml.safe_load_all(filled((NATS / "kubernetes.yaml").read_text())))
    sets = {one["metadata"]["name"]: one["spec"] for one in things if one["kind"] == "StatefulSet"}
    for name, one in sets.items():
        assert one["selector"]["matchLabels"] == one["template"]["metadata"]["labels"] == {"app": name}
        services = [it for it in things if it["kind"] == "Service" and it["metadata"]["name"] == name]
        assert [it["spec"]["selector"] for it in services] == [{"app": name}]
    return sets["tacit-nats"], sets["tacit"]


def started_with(words: list[str], creds: Path) -> dict[str, Any]:
    return parsed([re.sub(r"^--nats-creds=.*", f"--nats-creds={creds}", word) for word in words])


def routes(servers: list[str]) -> str:
    return json.dumps([f"nats://route:{NAMED['CLUSTER_PASSWORD']}@{one}:6222" for one in servers])


def test_a_nats_server_takes_the_configuration_with_what_both_files_give_it() -> None:
    servers, _hubs = composed()
    pods, _ = in_a_cluster()
    [container] = pods["template"]["spec"]["containers"]
    given = {one["name"]: one.get("value", "n1") for one in container["env"]}
    assert json.loads(given["CLUSTER_ROUTES"]) == json.loads(
        routes([f"tacit-nats-{number}.tacit-nats" for number in range(pods["replicas"])])
    )
    for environment in ([one["environment"] for one in servers]) + [NAMED | given]:
        needed = {"SERVER_NAME", "HUB_PASSWORD", "CLUSTER_PASSWORD", "CLUSTER_ROUTES"}
        assert needed <= environment.keys()
        tried = subprocess.run(
            [PROGRAM, "-t", "-c", NATS / "nats.conf"],
            env={name: str(environment[name]) for name in needed}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert tried.returncode == 0, tried.stderr
    text = (NATS / "nats.conf").read_text()
    assert "sync_interval: always" in text
    assert {*re.findall(r'store_dir: "(.*)"', text)} == {"/data"}
    assert all(one["image"] == container["image"] for one in servers)
    assert not is_old(*map(int, re.findall(r"\d+", container["image"])[:2]))


def test_a_hub_is_let_in_with_the_permissions_that_the_page_names(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "nats.md").read_text()
    [shown] = re.findall(r"```nats\n(.*?)```", page, re.DOTALL)
    text = (NATS / "nats.conf").read_text()
    users = text[text.index("authorization { users") :]
    assert users.replace("$HUB_PASSWORD", '"…"') == shown
    (tmp_path / "hub.creds").write_text("hub:p1")
    with started(tmp_path, users.replace("$HUB_PASSWORD", "p1")) as server:
        plan = StreamPlan((server.url,), credentials=tmp_path / "hub.creds", replicas=1)
        assert refused_at_start(plan) == ""
        connection = NatsConnection(access_of(plan), Patience(answer=60.0))
        with closing(JetStream(connection, replicas=1)) as stream:
            BlobStream(connection, stream.name, 1)
            snapshots = LedgerSnapshots(stream, SystemEntropy())
            snapshots.forget()  # publishes, looks, and deletes what stood there before
            snapshots.forget()


def test_hubs_on_nats_are_started_with_options_that_there_are_and_asked_where_they_answer(
    tmp_path: Path,
) -> None:
    creds = tmp_path / "hub.creds"
    creds.write_text("hub:p1")
    servers, hubs = composed()
    pods, nodes = in_a_cluster()
    [node] = nodes["template"]["spec"]["containers"]
    names = [one["environment"]["SERVER_NAME"] for one in servers]
    given = [(one["command"], names) for one in hubs]
    given += [(node["command"], [f"tacit-nats-{number}.tacit-nats" for number in range(pods["replicas"])])]
    for words, known in given:
        options = started_with(words, creds)
        assert [urlsplit(one).hostname for one in options["servers"]] == known
        assert options["public_url"] == PUBLIC
        assert [str(options["port"])] == of("EXPOSE")
    assert {one["volumes"][0].partition(":")[2] for one in hubs} == {*of("VOLUME")}
    assert node["volumeMounts"][0]["mountPath"] in of("VOLUME")
    assert str(nodes["template"]["spec"]["securityContext"]["runAsUser"]) in of("USER")
    [check] = of("HEALTHCHECK")
    assert node["readinessProbe"]["httpGet"]["path"] in check
    assert node["livenessProbe"]["httpGet"]["path"] in describe(HubConfig(tmp_path))["paths"]
