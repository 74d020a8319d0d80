"""Agents at work, from the page: run one, see its branch, merge and discard, stop, restart, remove; on a phone too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.harness.io.test_worktrees import git

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from tests.web.conftest import Visits
    from tests.web.stage import HubProcess

SLOW = 45_000
WRITER = """#!/bin/sh
cat > /dev/null
echo "of $1" > app.txt
echo "I wrote it down as $1."
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "importer"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / "app.txt").write_text("first\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    writer = tmp_path / "writer.sh"
    writer.write_text(WRITER)
    writer.chmod(0o755)
    return folder


def card(page: Page, name: str) -> Locator:
    return page.locator(".agent-card", has_text=f"@{name}")


def run(page: Page, project: Path, name: str, folder: Path | None = None) -> None:
    page.get_by_role("button", name="Run an agent here").click()
    form = page.get_by_role("form", name="Run an agent here")
    form.get_by_label("Name, as others").fill(name)
    form.get_by_label("What runs it").select_option("command")
    form.get_by_label("Folder on the hub's machine").fill(str(folder or project))
    form.get_by_label("Program and its arguments").fill(f"--text {project.parent / 'writer.sh'} {name}")
    form.get_by_label("A git worktree").check()
    form.get_by_role("button", name="Start").click()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_an_agent_is_run_from_the_page_and_its_work_is_merged(
    visit: Visits, hub: HubProcess, project: Path, size: tuple[int, int]
) -> None:
    group = hub.group("Cockpit")
    page = visit(group, viewport={"width": size[0], "height": size[1]})
    page.goto(f"{hub.url}/#/g/{group}/agents")
    for name in ("ada", "bob"):
        run(page, project, name)
        expect(card(page, name).locator(".word").first).to_have_text("online", timeout=SLOW)
        hub.say(group, f"@{name} write it")
        expect(card(page, name)).to_contain_text("1 uncommitted file", timeout=SLOW)
    assert (project / "app.txt").read_text() == "first\n"
    ada, bob = card(page, "ada"), card(page, "bob")
    ada.get_by_role("button", name="Changes").click()
    expect(ada.locator(".diff")).to_contain_text("+of ada")
    ada.get_by_role("button", name="Merge into main").click()
    ada.get_by_role("button", name="Merge ada's work into main").click()
    expect(page.get_by_text("merged ada's work into main").first).to_be_visible()
    assert (project / "app.txt").read_text() == "of ada\n"
    # What is asked twice is asked anew when the branch stands otherwise: bob's is behind now.
    expect(bob.locator(".branch-line")).to_contain_text("2 behind", timeout=SLOW)
    bob.get_by_role("button", name="Changes").click()
    bob.get_by_role("button", name="Merge into main").click()
    bob.get_by_role("button", name="Merge bob's work into main").click()
    expect(page.get_by_text("bob's work and main both changed app.txt").first).to_be_visible()
    assert (project / "app.txt").read_text() == "of ada\n"
    bob.get_by_role("button", name="Stop").click()
    expect(bob.locator(".word").first).to_have_text("stopped", timeout=SLOW)
    bob.get_by_role("button", name="Discard").click()
    bob.get_by_role("button", name="Discard 2 behind, 1 uncommitted file").click()
    expect(bob.locator(".branch-line")).to_have_count(0)
    bob.get_by_role("button", name="Log").click()
    expect(bob.locator(".agent-log")).to_contain_text("posted")
    bob.get_by_role("button", name="Remove").click()
    bob.get_by_role("button", name="Remove bob from the crew").click()
    expect(bob.get_by_role("button", name="Log")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_fault_is_said_at_the_form_and_a_guest_sees_no_buttons(
    visit: Visits, hub: HubProcess, project: Path
) -> None:
    group = hub.group("Guests")
    visit.expects_faults = True
    page = visit(group)
    page.goto(f"{hub.url}/#/g/{group}/agents")
    run(page, project, "ada", project.parent)
    expect(card(page, "ada")).to_contain_text("in no git repository", timeout=SLOW)
    expect(card(page, "ada").locator(".word").first).to_have_text("needs you")
    run(page, project, "cy", project / "nowhere")
    expect(page.get_by_role("alert")).to_contain_text("there is no folder")
    guest = visit(group, hub.person(group, "ben"))
    guest.goto(f"{hub.url}/#/g/{group}/agents")
    expect(card(guest, "ada")).to_be_visible()
    assert guest.locator(".agent-card button").count() == 0
    expect(guest.get_by_role("button", name="Run an agent here")).to_have_count(0)
