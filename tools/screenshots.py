"""Pictures of the web room's main states, for the README and for looking at it with fresh eyes.

python tools/screenshots.py                the pictures that the README shows, into docs/images
python tools/screenshots.py --all FOLDER   every state, light and dark, elsewhere
Needs Chromium; nicest with Debian's fonts-inter and fonts-noto-color-emoji.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page  # noqa: E402

from tacit.base.io.system import SystemEntropy  # noqa: E402
from tacit.base.io.time_service import TimeService  # noqa: E402
from tacit.language import Author, to_value  # noqa: E402
from tests.web.agent import Agent  # noqa: E402
from tests.web.stage import HubProcess, chromium  # noqa: E402
from tools.agent_screenshots import take_all  # noqa: E402

SHOWN = {"talk-light", "inspector-dark", "phone", "work-light", "permission-phone"}
WIDE = {"width": 1320, "height": 860}
PHONE = {"width": 390, "height": 800}
PHONE_SHAPE = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def wanted(name: str) -> bool:
    """Is this picture asked for?"""
    return "--all" in sys.argv or name in SHOWN


def reply(agent: Agent, text: str, key: str) -> None:
    """Answer what was delivered last."""
    asked = agent.delivery()
    agent.call(
        "chat.send_message",
        target=asked["replyTarget"],
        inReplyTo=asked["eventId"],
        content=text,
        idempotencyKey=key,
        visibility="channel",
        directedness="to_other",
    )


def speak(hub: HubProcess, group: str, tokens: dict[str, str]) -> None:
    """A CLowl conversation of three messages."""
    lin, bob = (Author(name, TimeService(), SystemEntropy()) for name in ("lin", "bob"))
    request = lin.req("bob", "count:words", {"path": "CHANGELOG.md"})
    said = (
        (request, "lin"),
        (bob.prog(request, pct=50, note="half read"), "bob"),
        (bob.done(request, {"words": 812}), "bob"),
    )
    for message, by in said:
        hub.call("POST", f"/v1/groups/{group}/clowl", {"message": to_value(message)}, tokens[by])


DIFF = """--- src/importer.py
+++ src/importer.py
@@ -10,3 +10,4 @@
 def load(path):
-    return parse(path.read_text())
+    with path.open() as lines:
+        return parse(lines)"""


def work(hub: HubProcess, group: str, bob: Agent) -> str:
    """A question that an agent takes up."""
    hub.say(group, "@bob the importer eats all memory. Please make it read line by line")
    while "importer" not in str((asked := bob.delivery()).get("content")):
        pass
    bob.note("notifications/work", eventId=asked["eventId"], state="working", turn="t1")
    return str(asked["eventId"])


def show_work(bob: Agent, event_id: str, update: int) -> None:
    """What it does about it, as those hear who look on."""
    plan = "[x] find where it reads\n[x] read line by line\n[>] run the tests"
    items = [
        {"id": "p", "kind": "plan", "state": "running", "text": plan},
        {"id": "w", "kind": "text", "state": "done", "text": "load() reads the whole file before it parses."},
        {"id": "e", "kind": "edit", "state": "done", "title": "src/importer.py", "text": DIFF},
        {
            "id": "c",
            "kind": "command",
            "state": "running",
            "title": "pytest -q tests/importer",
            "text": "........",
        },
    ]
    bob.note(
        "notifications/activity", eventId=event_id, turn="t1", state="running", update=update, items=items
    )


def ask(bob: Agent, event_id: str) -> None:
    """The agent's own program wants leave for something."""
    line = "pip install ijson"
    bob.ask(
        "chat/permission",
        key="k1",
        eventId=event_id,
        turn="t1",
        kind="command",
        title=line,
        details="A parser that reads a JSON file piece by piece.",
        directory="/srv/shop",
        pattern={"kind": "command", "value": line, "directory": "/srv/shop"},
        covers=f"commands that begin with `{line}` in /srv/shop",
        withinMs=600_000,
    )


def play(hub: HubProcess) -> tuple[str, list[Agent]]:
    """A morning in a room."""
    group = hub.group("Release 2.0")
    hub.group("Design")
    hub.group("Incidents")
    tokens = {
        "ada": hub.actor(group, "ada", title="Ada", roles=["backend", "review"], role="foreman"),
        "bob": hub.actor(group, "bob", title="Bob", roles=["backend"]),
        "lin": hub.actor(group, "lin", title="Lin", roles=["docs"]),
        "kit": hub.actor(group, "kit", title="Kit", roles=["qa"]),
        "moe": hub.actor(group, "moe", title="Moe", roles=["ops"]),
    }
    ben = hub.person(group, "ben", "Ben Okafor")
    agents = {name: Agent(hub, token) for name, token in tokens.items()}
    hub.say(group, "Morning! We cut **2.0** on Thursday.", format="markdown")
    hub.say(group, "Nice. The docs build is green again, by the way.", ben)
    hub.say(group, "@ada which branch do we release from, and what is still missing?", format="markdown")
    reply(
        agents["ada"],
        "From `release/2.0`, frozen since Monday. Two fixes are waiting:\n\n- `#412` resume after a lost connection\n"
        "- `#417` export keeps its order\n\n```python\ndef resume(cursor: int) -> Iterator[Event]:\n"
        "    return ledger.tail(after=cursor)\n```",
        "a1",
    )
    hub.append(
        group,
        "chat.reaction",
        {
            "event_id": hub.events(group, kinds="chat.message")[-1]["id"],
            "actor_id": "usr:ben",
            "emoji": "\U0001f44d",
            "signal": "agree",
        },
        ben,
    )
    hub.say(group, "thanks, that helps!", ben)
    hub.say(group, "@backend could one of you take #417 today?", ben)
    agents["bob"].call("chat.claim", eventId=agents["bob"].delivery()["eventId"])
    agents["ada"].delivery()
    hub.say(group, "@kit please run the upgrade test against last week's ledger", format="markdown")
    asked = agents["kit"].delivery()
    agents["kit"].note(
        "notifications/progress",
        progressToken=asked["eventId"],
        progress=64,
        total=100,
        message="4 of 6 ledgers upgraded",
    )
    agents["kit"].note("notifications/status", status="busy", detail="upgrade test")
    agents["kit"].note(
        "notifications/usage", turn="t1", tokensIn=18_400, tokensOut=2_100, cost=0.09, currency="USD"
    )
    agents["ada"].note(
        "notifications/usage", turn="t1", tokensIn=9_200, tokensOut=1_300, cost=0.05, currency="USD"
    )
    hub.say(
        group,
        "The freeze starts at noon. Please acknowledge.",
        ben,
        priority="attention",
        to=["user", "ada"],
        conversation={"kind": "channel"},
    )
    agents["ada"].ask("tools/list")
    speak(hub, group, tokens)
    hub.say(group, "I would rather tell you first: #412 slips to Friday.", tokens["ada"], to=["user"])
    return group, list(agents.values())


def shoot(hub: HubProcess, group: str, folder: Path) -> None:
    """Take every picture."""
    with chromium() as browser:
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport=WIDE,
                color_scheme=scheme,
                locale="en-GB",
                device_scale_factor=2 if "--sharp" in sys.argv else 1,
            )
            page = context.new_page()
            page.goto(hub.link())
            page.goto(f"{hub.url}/#/g/{group}")
            page.wait_for_selector(".strip-line")
            page.wait_for_timeout(500)

            def take(name: str, page: Page = page, scheme: str = scheme) -> None:
                if wanted(f"{name}-{scheme}"):
                    page.wait_for_timeout(450)
                    page.screenshot(path=folder / f"room-{name}-{scheme}.png")

            page.locator(".main .composer textarea").fill("@lin can you write the upgrade notes?")
            take("talk")
            page.locator(".main .composer textarea").fill("")
            page.locator("article", has_text="which branch").first.locator(".strip-line").click()
            take("inspector")
            page.locator("article", has_text="which branch").first.locator(".replies").click()
            take("thread")
            page.keyboard.press("Escape")
            page.keyboard.press("Escape")
            page.keyboard.press("Control+k")
            take("palette")
            page.keyboard.press("Escape")
            for view in ("People", "Traces", "Ledger", "Dashboard"):
                page.get_by_role("link", name=view, exact=True).click()
                page.wait_for_timeout(300)
                if view == "Traces":
                    page.locator(".trace-entry").first.click()
                if view == "Dashboard":
                    page.get_by_role("button", name="Last hour").click()
                take(view.lower())
            context.close()
        context = browser.new_context(
            viewport=PHONE,
            color_scheme="light",
            locale="en-GB",
            has_touch=True,
            is_mobile=True,
            device_scale_factor=2,
        )
        page = context.new_page()
        page.goto(hub.link())
        page.goto(f"{hub.url}/#/g/{group}")
        page.wait_for_selector(".strip-line")
        page.wait_for_timeout(600)
        page.screenshot(path=folder / "room-phone.png")
        page.get_by_role("button", name="Open the sidebar").tap()
        page.wait_for_timeout(400)
        if wanted("phone-drawer"):
            page.screenshot(path=folder / "room-phone-drawer.png")
        context.close()


def shoot_work(hub: HubProcess, group: str, bob: Agent, folder: Path) -> None:
    """The card of a running turn, and what its program asks on a phone."""
    event_id = work(hub, group, bob)
    with chromium() as browser:
        for name, shape in (("work-light", {"viewport": WIDE}), ("permission-phone", PHONE_SHAPE)):
            if not wanted(name):
                continue
            if name == "permission-phone":
                ask(bob, event_id)
            context = browser.new_context(color_scheme="light", locale="en-GB", **shape)
            page = context.new_page()
            page.goto(hub.link())
            page.goto(f"{hub.url}/#/g/{group}")
            page.locator(".strip-line").last.wait_for()
            show_work(bob, event_id, 1 if name == "work-light" else 2)
            card = page.locator(".activity.running summary")
            card.wait_for()
            if name == "work-light":
                card.click()
                page.wait_for_timeout(300)
                page.locator(".history").evaluate("one => one.scrollTo(0, one.scrollHeight)")
            page.wait_for_timeout(600)
            page.screenshot(path=folder / f"room-{name}.png")
            context.close()


def main() -> int:
    """Start a hub, play a morning, take pictures."""
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    folder = Path(given[0]) if given else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        hub = HubProcess(Path(scratch))
        hub.start()
        agents: list[Agent] = []
        try:
            group, agents = play(hub)
            shoot(hub, group, folder)
            shoot_work(hub, group, agents[1], folder)
            take_all(folder)
        finally:
            for agent in agents:
                agent.__exit__()
            hub.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
