"""Pictures of the personal agent's own page, light, dark and on a phone; `tools/screenshots.py` takes them too.

python tools/agent_screenshots.py            those that the docs show, into docs/images
python tools/agent_screenshots.py FOLDER     every view, elsewhere
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page  # noqa: E402

from tacit.agent.consent.answering import Answer  # noqa: E402
from tests.web.agent_stage import AgentStage  # noqa: E402
from tests.web.stage import chromium  # noqa: E402

WIDE = {"viewport": {"width": 1180, "height": 860}}
PHONE = {
    "viewport": {"width": 390, "height": 800},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
IMAGES = ROOT / "docs" / "images"
SHOWN = {"cards", "thread", "first-minute"}
SHAPES = {
    "light": {**WIDE, "color_scheme": "light"},
    "dark": {**WIDE, "color_scheme": "dark"},
    "phone": {**PHONE, "color_scheme": "light"},
}


def shares_all(stage: AgentStage, who: object) -> None:
    """Everything that is asked for."""
    question = stage.question(who, "consent")
    given = dict.fromkeys(one["field"] for one in question["fields"])
    stage.do(who.answer(question["question_id"], Answer(share=given, via="page")))


def play(stage: AgentStage) -> str:
    """A dinner that is proposed, one that waits for consent, and somebody new; the first one's thread."""
    stage.do(stage.anna.profile({"dietary": "vegetarian", "budget_range": "GBP 20-40"}))
    stage.do(stage.ben.profile({"dietary": "no shellfish"}))
    thread_id = stage.do(stage.anna.ask("dinner with ben on Friday evening"))["thread_id"]
    shares_all(stage, stage.anna)
    shares_all(stage, stage.ben)
    stage.question(stage.anna, "checkpoint")
    stage.do(stage.anna.ask("lunch with ben on Sunday"))
    stage.stranger("eve", "dinner with anna on Friday evening")
    stage.do(stage.both.settled())
    return thread_id


def shoot(browser: Browser, stage: AgentStage, thread_id: str, folder: Path) -> None:
    """Every picture, in every shape."""
    for shape, given in SHAPES.items():
        context = browser.new_context(locale="en-GB", timezone_id="Europe/London", **given)
        page = context.new_page()
        page.goto(stage.link())
        page.wait_for_selector(".ask.kind-consent")

        def take(name: str, page: Page = page, shape: str = shape) -> None:
            if name in SHOWN or folder != IMAGES:
                page.wait_for_timeout(400)
                page.screenshot(path=folder / f"agent-{name}-{shape}.png")

        take("cards")
        page.goto(f"{stage.page.address}#/agent/threads")
        page.wait_for_selector(".thread-row")
        take("threads")
        page.goto(f"{stage.page.address}#/agent/threads/{thread_id}")
        page.wait_for_selector(".thread-history li")
        take("thread")
        page.goto(f"{stage.page.address}#/agent/people")
        page.wait_for_selector(".qr")
        take("people")
        context.close()


def shoot_first_minute(browser: Browser, stage: AgentStage, folder: Path) -> None:
    """What a new owner meets."""
    stage.do(stage.anna.profile({"timezone": None, "general_location_area": None}))
    for shape, given in SHAPES.items():
        context = browser.new_context(locale="en-GB", timezone_id="Europe/London", **given)
        page = context.new_page()
        page.goto(stage.link())
        page.get_by_label("What are you called?").fill("Anna")
        page.wait_for_timeout(400)
        page.screenshot(path=folder / f"agent-first-minute-{shape}.png")
        context.close()


def take_all(folder: Path) -> None:
    """Play, and take every picture into a folder."""
    with tempfile.TemporaryDirectory() as scratch, AgentStage(Path(scratch)) as stage, chromium() as browser:
        shoot(browser, stage, play(stage), folder)
        shoot_first_minute(browser, stage, folder)


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    given.mkdir(parents=True, exist_ok=True)
    take_all(given)
