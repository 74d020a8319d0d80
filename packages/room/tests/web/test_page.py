"""The page itself: its policy, its caching, its weight, and what hostile text does to it (nothing)."""

from __future__ import annotations

import gzip
import importlib.util
import re
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tacit.base.io.built_page import built_files
from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess

HOSTILE = [
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "[click](javascript:window.pwned=1)",
    "[click](JaVaScRiPt&colon;window.pwned=1)",
    "[click](\u0001javascript:window.pwned=1)",
    "[click](data:text/html,<script>window.pwned=1</script>)",
    "[click](vbscript:window.pwned=1)",
    "![x](javascript:window.pwned=1)",
    "![x](https://elsewhere.example/track.png)",
    "<svg/onload=window.pwned=1>",
    "<a href='javascript:window.pwned=1' onclick='window.pwned=1'>x</a>",
    "<style>*{display:none}</style>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "**<b onmouseover=window.pwned=1>bold</b>**",
    "`</code><script>window.pwned=1</script>`",
    "```html\n</code></pre><script>window.pwned=1</script>\n```",
    "[a]: javascript:window.pwned=1\n\n[a]",
    "<javascript:window.pwned=1>",
    "> " * 500 + "deep",
    "*" * 5000,
    "[" * 2000 + "x" + "](y)" * 2000,
    "- " * 300 + "x",
    "| a | b |\n|---|---|\n| <script>window.pwned=1</script> | [x](javascript:1) |",
    "\u202eevil\u202c \u0000 \ufffe",
]


def headers(hub: HubProcess, path: str, **given: str):
    request = urllib.request.Request(hub.url + path, headers=given)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, answer.headers, answer.read()


def test_the_page_runs_under_a_strict_policy(hub: HubProcess) -> None:
    _, found, body = headers(hub, "/")
    policy = found["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "frame-ancestors 'none'" in policy
    assert b"<style" not in body
    assert re.findall(rb"<script(?![^>]*\bsrc=)", body) == []
    assert found["X-Content-Type-Options"] == "nosniff"
    assert found["Referrer-Policy"] == "no-referrer"


def test_built_files_are_kept_for_ever_and_the_page_is_asked_for_again(hub: HubProcess) -> None:
    _, found, body = headers(hub, "/")
    assert found["Cache-Control"] == "no-cache"
    with pytest.raises(urllib.error.HTTPError, match="304"):
        headers(hub, "/", **{"If-None-Match": found["ETag"]})
    name = re.search(rb"assets/[\w-]+\.js", body)[0].decode()
    _, asset, packed = headers(hub, f"/{name}", **{"Accept-Encoding": "gzip"})
    assert "immutable" in asset["Cache-Control"]
    assert gzip.decompress(packed) == built_files()[name].body
    with pytest.raises(urllib.error.HTTPError, match="404"):
        headers(hub, "/assets/..%2f..%2fpage.py")


def test_the_script_for_the_first_paint_weighs_less_than_150_kilobytes() -> None:
    page = built_files()[""].body.decode()
    first = re.findall(r"assets/[\w-]+\.js", page)
    assert sum(len(built_files()[name].packed) for name in first) < 150_000


def test_the_built_files_match_their_source() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "web_check.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_check_sees_a_changed_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("web_check", ROOT / "tools" / "web_check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    web = tmp_path / "web"
    for name in module.CONFIGURATION:
        (web / name).parent.mkdir(parents=True, exist_ok=True)
        (web / name).write_bytes((module.WEB / name).read_bytes())
    for path in module.files(module.WEB / "src"):
        copy = web / path.relative_to(module.WEB)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(module, "WEB", web)
    assert module.faults() == []
    (web / "src" / "main.tsx").write_text("// changed")
    assert module.faults() == ["source src/main.tsx is not as the build saw it"]


def test_the_lock_names_no_registry() -> None:
    lock = (ROOT / "web" / "package-lock.json").read_text()
    assert '"resolved"' not in lock


def test_hostile_text_stays_text(visit: Visits, hub: HubProcess) -> None:
    group = hub.group("Hostile <script>window.pwned=1</script>")
    eve = hub.actor(group, "eve", title="<img src=x onerror=window.pwned=1>")
    for text in HOSTILE:
        for format_ in ("markdown", "plain"):
            hub.say(group, text, eve, format=format_)
    asked: list[str] = []
    page = visit()
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("link", name="Hostile").click()
    hub.say(group, "the end", eve)
    expect(page.get_by_text("the end").last).to_be_visible()
    history = page.locator(".main .history")
    for _ in range(14):
        history.evaluate("h => h.scrollTop -= 500")
        page.wait_for_timeout(30)
        links = page.eval_on_selector_all(".main .history a", "all => all.map((a) => a.href)")
        assert all(link.startswith(("http://", "https://", "mailto:")) for link in links)
        assert page.locator(".main .history").locator("script, iframe, style, img, svg[onload]").count() == 0
    assert page.evaluate("window.pwned") is None
    assert all(url.startswith((hub.url, "ws")) for url in asked)
