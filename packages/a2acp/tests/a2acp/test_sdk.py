"""The SDK as its page shows it: every example runs, and the wheel holds what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile

import pytest

from tacit.a2acp.io.data import schemas, vectors
from tests.relay_support import PATIENCE, Relay
from tools.places import ROOT

EXAMPLES = re.findall(r"(?ms)^## ([^\n]+)$.*?^```python\n(.*?)^```", (ROOT / "docs" / "sdk.md").read_text())


def example(title: str) -> dict:
    """What the example under a heading defines, after it has run."""
    (code,) = [code for found, code in EXAMPLES if found == title]
    names: dict = {}
    exec(compile(code, f"docs/sdk.md: {title}", "exec"), names)
    return names


@pytest.mark.spec("A2ACP-262", "A2ACP-263")
@pytest.mark.parametrize("title", [title for title, _ in EXAMPLES])
def test_every_example_of_the_page_runs(title):
    example(title)


@pytest.mark.spec("A2ACP-263")
async def test_the_line_registers_sends_and_receives_at_a_real_relay(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        hello = example("The relay connection")["hello"]
        codes = {name: await relay.invite(name) for name in ("anna", "ben")}
        import asyncio

        async with asyncio.timeout(PATIENCE):
            said = await hello(tmp_path, relay.url, relay.domain, codes)
        assert said == "Europe/London"


@pytest.mark.spec("A2ACP-263", "A2ACP-072")
async def test_the_line_sends_nothing_that_its_owner_did_not_release(tmp_path):
    from tacit.a2acp import Line
    from tacit.base.errors import Refused

    async with Relay(tmp_path / "relay") as relay, Line(tmp_path / "anna") as anna:
        await anna.register(f"anna@{relay.domain}", relay.url, await relay.invite("anna"))
        ben = f"ben@{relay.domain}"
        body = {
            "intent": {"category": "message", "summary": "x", "urgency": "normal"},
            "context": {"dietary": "no meat", "health_info": "HAYFEVER"},
        }
        thread = {"thread_id": "thr_" + "a" * 26}
        with pytest.raises(Refused) as held:
            anna.send(ben, "context", body, **thread)
        assert (held.value.code, held.value.details["fields"]) == ("consent_needed", ["dietary"])
        assert anna._post.store.rows("SELECT 1 FROM history") == []
        anna.send(ben, "context", body, **thread, released=["dietary"])
        ((payload,),) = anna._post.store.rows("SELECT payload FROM history")
        assert b"no meat" in bytes(payload)
        assert b"HAYFEVER" not in bytes(payload)


@pytest.mark.spec("A2ACP-006", "A2ACP-263")
async def test_a_line_that_has_an_address_is_connected_whenever_it_is_opened_and_no_other_is(tmp_path):
    import asyncio

    from tacit.a2acp import Line
    from tacit.base.errors import Refused

    async with Relay(tmp_path / "relay") as relay:
        async with Line(tmp_path / "anna") as anna:
            with pytest.raises(Refused, match="register first"):
                await anna.ready()
            name = await anna.register(f"anna@{relay.domain}", relay.url, await relay.invite("anna"))
        async with Line(tmp_path / "anna") as again, asyncio.timeout(PATIENCE):
            await again.ready()
            assert again.address == name


@pytest.mark.spec("A2ACP-263")
def test_the_five_jobs_load_neither_brain_nor_engine():
    code = (
        "import sys; from tacit.a2acp import Line, packets, seal, tiers, threads;"
        "print([one for one in sys.modules if one.startswith(('tacit.agent.brain', 'tacit.agent.scheduling'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.spec("A2ACP-262", "A2ACP-271")
def test_the_wheel_holds_schemas_and_vectors_and_imports(tmp_path):
    words = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(tmp_path),
        str(ROOT / "packages" / "a2acp"),
    ]
    subprocess.run(words, check=True, capture_output=True, timeout=250)
    (wheel,) = tmp_path.glob("tacit_a2acp-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        opened.extractall(tmp_path / "site")
    for file in schemas().glob("*.json"):
        assert f"tacit/a2acp/data/schemas/{file.name}" in names
    for folder in ("a2acp-packets", "seal", "seal-reference"):
        for file in (vectors() / folder).glob("*.json"):
            assert f"tacit/a2acp/data/vectors/{folder}/{file.name}" in names
    code = (
        "from tacit import a2acp; from tacit.a2acp import Line, packets; print(a2acp.__file__);"
        "print(a2acp.schemas(), a2acp.vectors(), len(packets.TYPES))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site")},
    )  # fmt: skip
    assert str(tmp_path / "site") in done.stdout.splitlines()[0]
    assert done.stdout.splitlines()[1].count(str(tmp_path / "site")) == 2
