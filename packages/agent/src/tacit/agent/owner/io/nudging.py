"""Carrying nudges: to the desktop, and by `apprise` to whatever the owner uses (extra `nudge`).

A way is `desktop` or an address that apprise reads; such an address is a secret, so it lies in the vault and
is shown by its kind alone. That a question was told of is kept before anything leaves: killed in between,
the owner gets none for it rather than two. A way that fails costs nobody else anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

from tacit.agent.kernel import records
from tacit.agent.owner import nudges
from tacit.base.errors import Refused
from tacit.base.faults import place_of
from tacit.base.install_hint import install_hint
from tacit.base.moment import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.base.strict_json import Json

_log: Final = logging.getLogger("tacit.agent")
SETTING: Final = "nudges"
TOLD: Final = "nudged"
DESKTOP: Final = "desktop"
MOST_WAYS: Final = 16
LONGEST: Final = 2000
PATIENCE: Final = 30.0
LOOK_AGAIN: Final = 60.0
"""Seconds after which the clock is looked at again: quiet hours end, clocks are set."""
NO_DESKTOP: Final = "this machine has no program that shows a message on the desktop (notify-send)"


def _setting(agent: AgentCore, name: str) -> Json:
    value_id = agent.journal.book.settings.get(name)
    return agent.vault.value(value_id) if value_id else None


async def _set(agent: AgentCore, name: str, value: Json) -> None:
    await agent.decide(lambda ws: ws.say(records.Set(name, ws.keep("", value))))


def _open(agent: AgentCore) -> list[str]:
    book = agent.journal.book
    found = [one for one in map(book.questions.get, list(book.questions)) if one is not None and one.is_open]
    return [one.question_id for one in sorted(found, key=lambda one: one.asked_at)]


def _kept(agent: AgentCore) -> Fields:
    setting = _setting(agent, SETTING)
    return setting if isinstance(setting, dict) else {}


def _ways(kept: Fields) -> list[str]:
    return [str(one) for one in kept.get("ways", ())]


def shown(agent: AgentCore) -> Fields:
    """How the owner is nudged, without the secret of any way."""
    kept = _kept(agent)
    ways = [one if one == DESKTOP else nudges.redacted(one) for one in _ways(kept)]
    return {
        "ways": [{"number": number, "way": way} for number, way in enumerate(ways, 1)],
        "quiet": kept.get("quiet") or None,
        "on": bool(ways) and not kept.get("off"),
    }


async def command(agent: AgentCore, do: str, value: str = "") -> Fields:
    """What an owner does about nudges: list, add, remove, quiet, off, on, try."""
    kept = _kept(agent)
    match do:
        case "list":
            pass
        case "add":
            await agent.revise(
                SETTING, lambda kept: {**kept, "ways": _with(_ways(kept), value), "off": False}
            )
        case "remove":
            await agent.revise(SETTING, lambda kept: {**kept, "ways": _without(_ways(kept), value)})
        case "quiet":
            hours = nudges.quiet_hours(value).shown() if value else ""
            await agent.revise(SETTING, lambda kept: {**kept, "quiet": hours})
        case "off" | "on":
            await agent.revise(SETTING, lambda kept: {**kept, "off": do == "off"})
        case "try":
            return {**shown(agent), "tried": await _tried(_ways(kept))}
        case _:
            raise Refused("bad_command", "nudges are listed, added, removed, quiet, off, on or tried")
    return shown(agent)


def _with(ways: list[str], way: str) -> list[str]:
    if way in ways:
        return ways
    if len(ways) >= MOST_WAYS:
        raise Refused("too_many", f"at most {MOST_WAYS} ways; remove one first")
    if way == DESKTOP:
        if _desktop_words(nudges.TITLE, nudges.TRIED) is None:
            raise Refused("no_desktop", NO_DESKTOP)
    elif len(way) > LONGEST or _apprise().Apprise.instantiate(way, asset=_asset()) is None:
        raise Refused("bad_way", "give `desktop`, or an address that apprise reads (KIND://…)")
    return [*ways, way]


def _without(ways: list[str], which: str) -> list[str]:
    index = int(which) - 1 if which.isascii() and which.isdecimal() else -1
    found = ways[index] if 0 <= index < len(ways) else which
    if found not in ways:
        raise Refused("unknown_way", "give its number, as `tacit agent nudge list` shows it")
    return [one for one in ways if one != found]


async def _tried(ways: Sequence[str]) -> list[bool]:
    return list(await asyncio.gather(*(_carried(one, nudges.TRIED) for one in ways)))


# -- deciding and sending


async def once(agent: AgentCore) -> float:
    """Tell what is to be told now; the seconds after which to look again."""
    kept = _kept(agent)
    ways = _ways(kept)
    if not ways or kept.get("off"):
        return LOOK_AGAIN
    waiting = _open(agent)
    setting = _setting(agent, TOLD)
    told = {str(name) for name in setting} if isinstance(setting, list) else set[str]()
    found = nudges.nudge(waiting, told)
    if found is None:
        return LOOK_AGAIN
    now = agent.clock.now()
    hours = nudges.quiet_hours(str(kept["quiet"])) if kept.get("quiet") else None
    until = nudges.quiet_until(now, hours, agent.settings.zone())
    if until is not None:
        return min(LOOK_AGAIN, max(0.0, (until - now) / SECOND))
    # What is no longer open is never told of again: only the open ones are kept.
    await _set(agent, TOLD, [*(one for one in waiting if one in told), *found.questions])
    sent = await asyncio.gather(*(_carried(one, found.text()) for one in ways))
    if not all(sent):
        _log.warning("a nudge could not be carried by %d of %d ways", sent.count(False), len(ways))
    return LOOK_AGAIN


async def run(agent: AgentCore) -> None:
    """While the agent runs: with each question that opens, and when quiet hours end."""
    with agent.changes.followed() as follower:
        while True:
            try:
                wait = await once(agent)
            except Exception as fault:  # noqa: BLE001 - a nudge that fails is no reason to stop arranging
                _log.error("nudges failed: %s", place_of(fault))
                wait = LOOK_AGAIN
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait or 0.05):
                    while (await follower.next()).get("change") not in {"question", "everything", "settings"}:
                        pass


async def _carried(way: str, text: str) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            return await (_on_desktop(text) if way == DESKTOP else _by_apprise(way, text))
    except (Refused, OSError, TimeoutError) as fault:
        _log.warning("a nudge could not be carried: %s", type(fault).__name__)
        return False
    except Exception as fault:  # noqa: BLE001 - 250 services of others; their texts may hold the secret
        _log.warning("a nudge could not be carried: %s", place_of(fault))
        return False


def _desktop_words(title: str, text: str) -> list[str] | None:
    """The program that shows a message here, with its words; None where there is none."""
    if sys.platform == "darwin" and (found := shutil.which("osascript")):
        return [found, "-e", f'display notification "{text}" with title "{title}"']
    if found := shutil.which("notify-send"):
        return [found, "--app-name", title, title, text]
    return None


async def _on_desktop(text: str) -> bool:
    words = _desktop_words(nudges.TITLE, text)
    if words is None:
        return False
    nothing = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*words, stdin=nothing, stdout=nothing, stderr=nothing)
    try:
        return await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()


def _apprise() -> Any:
    try:
        import apprise
    except ImportError:
        hint = install_hint("agent", "nudge")
        missing = f"`desktop` works at once; for other ways add their library with: {hint}"
        raise Refused("no_apprise", missing) from None
    # Their words may name the address, which is a secret.
    for name in ("apprise", "urllib3"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return apprise


def _asset() -> Any:
    """As apprise shall behave: no plugins and no files of its own, and no pictures."""
    apprise = _apprise()
    return apprise.AppriseAsset(
        plugin_paths=[], storage_mode=apprise.PersistentStoreMode.MEMORY, app_id=nudges.TITLE, app_desc="",
        app_url="", image_url_mask="", image_url_logo="",
    )  # fmt: skip


async def _by_apprise(way: str, text: str) -> bool:
    apprise = _apprise()
    carrier = apprise.Apprise(asset=_asset())
    if not carrier.add(way):
        return False
    return bool(await carrier.async_notify(title=nudges.TITLE, body=text))
