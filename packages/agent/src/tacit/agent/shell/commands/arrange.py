"""`tacit agent`, the part that arranges things: ask, questions and answers, threads, settings.

Each command speaks to the running agent of the folder (`tacit agent run`), or is that agent for a moment.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.agent.brain.commands.models import models_for
from tacit.agent.scheduling.commands.facts import facts_in
from tacit.agent.shell.commands import arrange_show, keys, skill
from tacit.agent.shell.commands.page import OFF, page_option, page_served, show_way
from tacit.agent.shell.commands.post import trusting
from tacit.agent.shell.commands.process import stop_by, without_words
from tacit.agent.terminal.commands.asking import FILE, call, invocation, wait_option
from tacit.agent.terminal.commands.values import plain, value_text, when, who
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.terminal import Terminal, bold, styled
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.shell.io.agent import Agent
    from tacit.base import agent_results as results

_CARRIES: Final = frozenset({"ask", "answer", "tick", "stop", "resume", "change", "fork", "transfer"})
"""Commands after which something may have to leave, or may have come."""
_QUIET: Final = 0.7
"""Seconds without anything new after which there is nothing to fetch."""


def opened_agent() -> Agent:
    """This folder's agent, not yet open."""
    from tacit.agent.shell.io.agent import Agent

    invoked = invocation()
    return Agent(
        invoked.folder,
        models=models_for(invoked.folder),
        trust=trusting(invoked.trust) if invoked.trust else None,
        unlock=lambda store: keys.unlock(store, invoked.passphrase_file),
    )


def for_a_moment(command: str, given: dict[str, object], wait: float) -> object:
    """The answer to a command of this process as the agent for a moment."""
    return asyncio.run(_for_a_moment(command, given, wait))


async def _for_a_moment(command: str, given: dict[str, object], wait: float) -> object:
    from tacit.agent.owner.io import nudging
    from tacit.agent.shell.io import calls

    async with opened_agent() as opened:
        if command not in _CARRIES:
            return await calls.call(opened, command, given)
        connection = opened.connect()
        try:
            async with asyncio.timeout(wait):
                await connection.connected.wait()
        except TimeoutError:
            return await calls.call(opened, command, given)
        if command == "tick":
            await opened.carried(wait, quiet=_QUIET)
        found = await calls.call(opened, command, given)
        await opened.carried(wait)
        if command == "tick":
            await nudging.once(opened)
        return found


@click.command()
@page_option
@click.option("--beside", is_flag=True, hidden=True, help="Ends with standard input: a hub runs it.")
@reported
def run(*, beside: bool, page: str) -> None:
    """Hold the line to the relay and arrange what there is to arrange, until stopped."""
    with without_words():
        asyncio.run(_run(OFF if beside else page, beside=beside))


async def _run(page: str, *, beside: bool = False) -> None:
    from tacit.agent.owner.io import nudging
    from tacit.agent.shell.io import door

    stopped = asyncio.Event()
    stop_by(stopped, beside=beside)
    async with (
        opened_agent() as opened,
        door.served(opened, opened.folder),
        page_served(opened, page) as served,
    ):
        beside_it = [asyncio.ensure_future(nudging.run(opened))]
        if not beside:
            # A hub keeps what is printed here in a log, and logs name nobody.
            Terminal().print(
                f"{bold(opened.me)} is listening; ask it things with `tacit agent ask`, stop it with Ctrl-C"
            )
            show_way(served)
            beside_it.append(asyncio.ensure_future(_tell(opened)))
        try:
            await opened.run(stopped)
        finally:
            for one in beside_it:
                one.cancel()
            await asyncio.gather(*beside_it, return_exceptions=True)


async def _tell(opened: Agent) -> None:
    """What happens, one line each, while the agent runs in a terminal."""
    from tacit.agent.owner.io.notices import last_text

    with opened.changes.followed() as follower:
        while True:
            match await follower.next():
                case {"change": "question", "open": True, "kind": str(kind), "question_id": str(name)}:
                    asked = opened.journal.book.questions.get(name)
                    title = arrange_show.TITLES.get(kind, kind)
                    counterpart = who(asked.peer) if asked else ""
                    line = f"{styled('?', 'cyan')} {title} {counterpart}: `tacit agent pending`"
                case {"change": "notice", "thread_id": str(thread_id), "code": str(code)}:
                    text = last_text(opened, (await opened.notices())["notices"], thread_id, code)
                    line = f"{styled('·', 'yellow')} {thread_id} {plain(text)}"
                case _:
                    continue
            Terminal().print(line)


@click.command()
@click.option("--if-any", is_flag=True, help="Say nothing unless something waits for you, or has ended.")
@wait_option
@json_option
@reported
def tick(*, wait: float, if_any: bool, as_json: bool) -> None:
    """Fetch, answer and send what there is, once; for agents that do not run all the time."""
    found = call(operations.TICK, wait, news=if_any)
    if if_any and not found.pending and not found.news:
        return
    show(found, f"open threads: {found.open}, questions for you: {found.pending}", as_json=as_json)


@click.command()
@click.argument("text")
@click.option("--to", multiple=True, metavar="NAME@RELAY", help="With whom. Default: the contact TEXT names.")
@click.option("--urgent", is_flag=True, help="Answers are waited for two hours, not two days.")
@click.option("--facts", type=FILE, help="What another program knows: JSON, or - for standard input.")
@click.option("--quorum", type=int, metavar="N", help="Of a group, so many are enough.")
@click.option("--in-order", is_flag=True, help="Of a group, ask one after the other to confirm.")
@click.option("--after", metavar="ID", help="The group that this one follows, with other people.")
@wait_option
@json_option
@reported
def ask(
    text: str, *, to: tuple[str, ...], facts: Path | None, wait: float, as_json: bool, **how: Any
) -> None:
    """Have something arranged: "dinner with ben on Friday evening"; with several --to it is a group."""
    known, by_program = facts_in(facts), skill.by_skill()
    found = call(operations.ASK, wait, text=text, to=list(to), facts=known, by_program=by_program, **how)
    thread_id = found.thread_id
    lines = [f"{thread_id} {plain(text)}" for text in (found.notices or ())]
    lines = lines or [f"{thread_id} has begun; `tacit agent pending` says what it needs from you"]
    show(found, "\n".join(lines), as_json=as_json)


@click.command()
@json_option
@reported
def pending(*, as_json: bool) -> None:
    """What waits for your answer."""
    found = call(operations.PENDING)
    show(found, pending_text(found), as_json=as_json)


def pending_text(found: results.Questions) -> str:
    """What waits, each question with the command that answers it."""
    lines = [line for one in found.questions for line in arrange_show.question(one)]
    return "\n".join(lines).rstrip() or "nothing waits for you"


def _stands(found: results.ThreadState) -> str:
    return f"{found.thread_id} is {str(found.state or 'not begun').lower()}"


def _pairs(given: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in given:
        name, marked, value = one.partition("=")
        found[name] = _value(_typed(name, value)) if marked else None
    return found


def _typed(name: str, value: str) -> str:
    """A value, or with `-` one that is asked for: what is typed there is in no shell's history."""
    if value != "-":
        return value
    if sys.stdin.isatty():
        return str(click.prompt(name, err=True))
    line = sys.stdin.readline()
    if not line.strip():
        raise click.BadParameter(f"standard input has no line for {name}")
    return line.rstrip("\r\n")


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


@click.command()
@click.argument("question_id")
@click.option(
    "--share",
    multiple=True,
    metavar="FIELD[=VALUE]",
    help="Share it, as shown or with this value; `FIELD=-` asks for it, so that no shell remembers it.",
)
@click.option("--decline", multiple=True, metavar="FIELD", help="Do not share it; nobody hears why.")
@click.option("--decline-all", is_flag=True, help="Share nothing of what is asked.")
@click.option("--confirm", is_flag=True, help="Yes.")
@click.option("--alternative", type=int, metavar="N", help="Yes, to this alternative.")
@click.option("--tick", "ticks", multiple=True, metavar="ACTION", help="Yes, although it cannot be undone.")
@click.option("--counter", metavar="FIELD=VALUE", help="Something else instead.")
@click.option("--refuse", is_flag=True, help="No.")
@click.option("--excuse", type=click.Choice(["again", "leave"]), help="No, politely: another time, or not.")
@click.option("--choose", type=int, metavar="N", help="This one of the choices.")
@click.option("--dismiss", is_flag=True, help="Put it aside.")
@click.option("--message-id", metavar="ID", help="The person's message that says so; kept in the receipt.")
@wait_option
@json_option
@reported
def answer(
    question_id: str,
    *,
    share: tuple[str, ...],
    decline: tuple[str, ...],
    counter: str | None,
    ticks: tuple[str, ...],
    message_id: str | None,
    wait: float,
    as_json: bool,
    **plain: Any,
) -> None:
    """Answer a question of `tacit agent pending`."""
    pair: tuple[str, str] | None = None
    if counter is not None:
        name, marked, value = counter.partition("=")
        if not marked:
            raise click.BadParameter("FIELD=VALUE", param_hint="--counter")
        pair = (name, _typed(name, value))
    given = {
        "question_id": question_id,
        "share": _pairs(share),
        "decline": list(decline),
        "ticks": list(ticks),
        "counter": pair,
        "via": skill.via(message_id),
        **plain,
    }
    found = call(operations.ANSWER, wait, **given)
    state = found.state if found.thread_id else found.status
    where = found.thread_id or found.space_id
    show(found, f"{where} is {str(state or 'not begun').lower()}", as_json=as_json)


@click.command()
@click.option("--all", "every", is_flag=True, help="Also those that have ended.")
@json_option
@reported
def threads(*, every: bool, as_json: bool) -> None:
    """What is being arranged."""
    found = call(operations.THREADS, every=every)
    lines = [arrange_show.thread_line(one) for one in found.threads]
    show(found, "\n".join(lines) or "nothing is being arranged", as_json=as_json)


@click.command()
@click.argument("thread_id")
@json_option
@reported
def thread(thread_id: str, *, as_json: bool) -> None:
    """Everything about one thread."""
    found = call(operations.THREAD, thread_id=thread_id)
    show(found, "\n".join(arrange_show.thread(found)), as_json=as_json)


@click.command()
@click.argument("who", metavar="[NAME@RELAY]", required=False)
@json_option
@reported
def disclosures(who: str | None, *, as_json: bool) -> None:
    """Who got what of you, when, and what allowed it."""
    found = call(operations.DISCLOSURES, peer=who or "")
    lines = arrange_show.disclosures(found.disclosures)
    show(found, "\n".join(lines) or "nothing has left", as_json=as_json)


@click.command()
@click.argument("thread_id")
@json_option
@reported
def why(thread_id: str, *, as_json: bool) -> None:
    """What excluded each option of the last proposal."""
    found = call(operations.WHY, thread_id=thread_id)
    lines = arrange_show.excluded(found.excluded)
    show(found, "\n".join(lines) or "nothing was excluded", as_json=as_json)


@click.command()
@click.argument("thread_id")
@wait_option
@json_option
@reported
def stop(thread_id: str, *, wait: float, as_json: bool) -> None:
    """Want no more of a thread; the other side is told that, and not why."""
    found = call(operations.STOP, wait, thread_id=thread_id)
    show(found, _stands(found), as_json=as_json)


@click.command()
@click.argument("thread_id")
@wait_option
@json_option
@reported
def resume(thread_id: str, *, wait: float, as_json: bool) -> None:
    """Go on with a thread that stands still or is paused."""
    found = call(operations.RESUME, wait, thread_id=thread_id)
    show(found, _stands(found), as_json=as_json)


@click.command()
@click.argument("thread_id")
@click.argument("text")
@click.option("--scope", type=click.Choice(["changed", "expanded", "narrowed"]), default="changed")
@wait_option
@json_option
@reported
def change(thread_id: str, text: str, *, scope: str, wait: float, as_json: bool) -> None:
    """Make something else of an open thread; the other person is asked."""
    found = call(operations.CHANGE, wait, thread_id=thread_id, text=text, scope_change=scope)
    show(found, _stands(found), as_json=as_json)


@click.command()
@click.argument("thread_id")
@click.argument("texts", nargs=-1, required=True)
@wait_option
@json_option
@reported
def fork(thread_id: str, texts: tuple[str, ...], *, wait: float, as_json: bool) -> None:
    """Make two to five threads of one, each for itself from then on."""
    found = call(operations.FORK, wait, thread_id=thread_id, texts=list(texts))
    lines = [_stands(one) for one in found.threads]
    show(found, "\n".join(lines), as_json=as_json)


@click.command()
@json_option
@reported
def notices(*, as_json: bool) -> None:
    """What the agent has told you about its threads."""
    found = call(operations.NOTICES)
    lines = [f"{when(one.at)}  {one.thread_id} {one.text}" for one in found.notices]
    show(found, "\n".join(lines) or "nothing yet", as_json=as_json)


@click.command()
@click.argument("pairs", nargs=-1, metavar="KEY=VALUE…")
@json_option
@reported
def profile(pairs: tuple[str, ...], *, as_json: bool) -> None:
    """Tell your agent of yourself: timezone=Europe/London dietary=vegetarian.

    `KEY=` takes one away; `KEY=-` asks for the value, so that no shell remembers it.
    """
    changes: dict[str, Any] = {}
    for one in pairs:
        key, marked, value = one.partition("=")
        if not marked or not key:
            raise click.BadParameter("KEY=VALUE", param_hint="KEY=VALUE…")
        changes[key] = _value(_typed(key, value)) if value else None
    found = call(operations.PROFILE, changes=changes)
    lines = [f"{name:<24} {value_text(value)}" for name, value in sorted(found.profile.items())]
    show(found, "\n".join(lines) or "your agent knows nothing of you yet", as_json=as_json)


@click.command()
@click.argument("field", required=False)
@click.argument(
    "level", type=click.Choice(["always", "ask", "never", "onward", "not-onward"]), required=False
)
@click.option("--for", "counterpart", metavar="NAME@RELAY", help="For this contact alone.")
@json_option
@reported
def permissions(field: str | None, level: str | None, *, counterpart: str | None, as_json: bool) -> None:
    """Show what your agent may share, or change it for one field."""
    if field and not level:
        raise click.UsageError("say always, ask or never")
    given: dict[str, Any] = {"field": field, "level": level, "counterpart": counterpart}
    try:
        found = call(operations.PERMISSIONS, **given)
    except Refused as refused:
        if refused.code != "confirmation_needed":
            raise
        typed = click.prompt(f"{field} is never shared. Type its name to share it from now on", err=True)
        if typed.strip() != field:
            raise
        found = call(operations.PERMISSIONS, confirmed=True, **given)
    tiers = {"always": found.always_share, "ask": found.ask_first, "never": found.never_share}
    lines = [f"{bold(word.ljust(6))} {', '.join(names)}" for word, names in tiers.items()]
    for address, override in found.overrides.items():
        differing = [
            f"  {word:<6} {', '.join(names)}"
            for names, word in (
                (override.promote_to_always_share, "always"),
                (override.restrict_to_never_share, "never"),
            )
            if names
        ]
        if differing:
            lines += [f"for {who(address)} alone:", *differing]
    show(found, "\n".join(lines), as_json=as_json)


@click.command()
@click.argument("level", type=click.Choice(["low", "medium", "high"]), required=False)
@click.option(
    "--implicit",
    type=click.Choice(["prompt_once", "auto"]),
    help="What a wish of yours needs: asked for once, or (with high) sent unasked.",
)
@json_option
@reported
def autonomy(level: str | None, *, implicit: str | None, as_json: bool) -> None:
    """Show or change how much your agent does unasked."""
    found = call(operations.CHOOSE)
    for name, value in (("autonomy", level), ("implicit_consent", implicit)):
        if value:
            found = call(operations.CHOOSE, name=name, value=value)
    text = f"autonomy {found.autonomy}, implicit consent {found.implicit_consent}"
    show(found, text, as_json=as_json)


@click.group()
def action() -> None:
    """What your agent does once everybody has confirmed."""


@action.command("add", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("kind", type=click.Choice(["calendar", "webhook", "command"]))
@click.argument("what", nargs=-1, required=True, metavar="NAME|URL|ARGS…")
@click.option("--for", "kinds", multiple=True, metavar="EVENT", help="Only for such events: dinner, call, …")
@click.option("--final", is_flag=True, help="It cannot be undone: you are asked to tick it each time.")
@json_option
@reported
def action_add(
    name: str, kind: str, what: tuple[str, ...], *, kinds: tuple[str, ...], final: bool, as_json: bool
) -> None:
    """Let your agent write a calendar, call a web service or run a program."""
    definition: Fields = {"kind": kind, "for": list(kinds), "reversible": not final}
    key = {"calendar": "calendar", "webhook": "url", "command": "argv"}[kind]
    definition[key] = list(what) if kind == "command" else what[0]
    found = call(operations.ADD_HANDLER, name=name, definition=definition)
    show(found, "actions: " + ", ".join(found.actions), as_json=as_json)


@click.command()
@click.option(
    "--people",
    type=click.Choice(["2", "4"]),
    default="2",
    show_default=True,
    help="Two arrange a dinner, four a game night.",
)
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="Leave everything in this folder."
)
@click.option(
    "--pace", type=click.FloatRange(0, 5), help="Seconds between steps. Default: 0.6 at a terminal."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a step.")
@reported
def demo(*, people: str, keep: Path | None, pace: float | None, as_json: bool) -> None:
    """Watch two agents arrange a dinner, or four a game night, on this machine, in less than a minute.

    A relay on a free loopback port and agents with folders of their own play it: people are asked, and you
    see what leaves, why it may, and what all calendars say in the end. No network, no model.
    """
    from tacit.agent.shell.commands.demo import plays

    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise click.BadParameter("this folder holds something already", param_hint="--keep")
    plays.show(keep, pace, people=int(people), as_json=as_json)


@click.command()
@click.argument("packet_type", metavar="TYPE")
@click.option("--sent", is_flag=True, help="As this agent would send it. Default: as it takes it.")
@reported
def schema(packet_type: str, *, sent: bool) -> None:
    """The JSON Schema of a type of packet, for those who write agents of their own."""
    from tacit.a2acp.packets.published import json_schema
    from tacit.a2acp.packets.schemas import TYPES

    if packet_type not in TYPES:
        raise Refused("unknown_type", f"the types are {', '.join(TYPES)}", row="A2ACP-262")
    click.echo(json.dumps(json_schema(packet_type, sent=sent), indent=1))
