"""`tacit agent guest`: asking people without an agent, by a link; every word is shown before it goes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tacit.agent.guests.answers import CHOICES
from tacit.agent.terminal.commands.asking import call
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.output_place import OutputPlace
from tacit.base.commands.terminal import Terminal, bold
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base import agent_results as results

_STATES = {
    "waiting": "the relay has not got it yet",
    "open": "open",
    "revoked": "taken back",
    "over": "over",
}


@click.group()
def guest() -> None:
    """Ask people without an agent: a link, a text to copy or a mail; nothing of them is remembered."""


def _line(one: results.GuestLine) -> str:
    said = f"  {len(one.answers)} answered, counts: {one.counts or 'none'}" if one.answers else ""
    return f"{one.guest_id}  {one.name or '(forgotten)'}  {_STATES[one.state]}{said}"


def _answer(one: results.GuestAnswerResult) -> list[str]:
    how = "by the link" if one.source == "link" else "pasted by you"
    counts = "counts" if one.counts else "counts for nothing"
    if not one.readable:
        return [f"{one.at}  {how}: cannot be read; {counts}"]
    words = [text for text in (*one.answers, one.suggestion) if text]
    return [
        f"{one.at}  {how}: {one.choice or 'in words'}; {counts}",
        *(f"    | {text}" for text in words),
    ]


def _text(one: results.Guest) -> str:
    lines = [f"{one.name or '(forgotten)'}: {_STATES[one.state]}, until {one.until}"]
    for answer in one.answers:
        lines += _answer(answer)
    if one.text:
        lines += ["", "Send this to them:", "", one.text]
    return "\n".join(lines)


@guest.command("ask")
@click.argument("name")
@click.argument("text")
@click.option("--question", "questions", multiple=True, help="Something to be answered in words; up to five.")
@click.option("--share", multiple=True, metavar="FIELD", help="A field of your profile for this message.")
@click.option("--from", "signed", default="", metavar="NAME", help="How you sign.")
@click.option("--days", default=7, show_default=True, help="How long the link lasts, at most seven.")
@click.option("--group", default="", metavar="ID", help="About what stands there; counts toward its quorum.")
@json_option
@reported
def guest_ask(
    name: str,
    text: str,
    *,
    questions: tuple[str, ...],
    share: tuple[str, ...],
    signed: str,
    days: int,
    group: str,
    as_json: bool,
) -> None:
    """Make a link for NAME, and the words to send it with; you send them, nobody else has them."""
    found = call(
        operations.GUEST_ASK,
        name=name,
        text=text,
        questions=list(questions),
        share=list(share),
        signed=signed,
        days=days,
        group=group,
    )
    show(found, _text(found), as_json=as_json)


@guest.command("list")
@json_option
@reported
def guest_list(*, as_json: bool) -> None:
    """Whom you asked, and what they answered."""
    found = call(operations.GUESTS)
    show(found, "\n".join(map(_line, found.guests)) or "nobody was asked by a link yet", as_json=as_json)


@guest.command("show")
@click.argument("guest_id", metavar="ID")
@json_option
@reported
def guest_show(guest_id: str, *, as_json: bool) -> None:
    """One of them: every answer, and which one counts."""
    found = call(operations.GUEST, guest_id=guest_id)
    show(found, _text(found), as_json=as_json)


@guest.command("revoke")
@click.argument("guest_id", metavar="ID")
@json_option
@reported
def guest_revoke(guest_id: str, *, as_json: bool) -> None:
    """Take the link back: what came by it counts for nothing any more."""
    found = call(operations.GUEST_REVOKE, guest_id=guest_id)
    show(found, _text(found), as_json=as_json)


@guest.command("forget")
@click.argument("guest_id", metavar="ID")
@json_option
@reported
def guest_forget(guest_id: str, *, as_json: bool) -> None:
    """Take the link back, and let go of every word about this guest."""
    show(call(operations.GUEST_FORGET, guest_id=guest_id), f"forgotten: {guest_id}", as_json=as_json)


@guest.command("paste")
@click.argument("guest_id", metavar="ID")
@click.argument("text")
@click.option("--as", "choice", type=click.Choice(CHOICES), help="What it means, if it is read wrongly.")
@click.option("--answer", "answers", multiple=True, help="The answer to each question, in their order.")
@click.option("--suggestion", help="What they suggest instead.")
@click.option("--keep", is_flag=True, help="Keep it as it is read; without, at a terminal, you are asked.")
@json_option
@reported
def guest_paste(
    guest_id: str,
    text: str,
    *,
    choice: str | None,
    answers: tuple[str, ...],
    suggestion: str | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Read a reply that reached you another way; it counts once you say that it is read rightly."""
    given: dict[str, object] = {
        "choice": choice,
        "answers": list(answers) or None,
        "suggestion": suggestion,
    }
    found = call(operations.GUEST_PASTE, guest_id=guest_id, text=text, keep=keep, **given)
    if not keep and not as_json and sys.stdin.isatty():
        Terminal().print(_reading(found))
        if click.confirm("Is that what it says?", err=True):
            found = call(operations.GUEST_PASTE, guest_id=guest_id, text=text, keep=True, **given)
    show(found, _reading(found), as_json=as_json)


def _reading(found: results.ReadReply) -> str:
    words = [text for text in (*found.answers, found.suggestion) if text]
    read = found.choice or ("in words" if words else "unclear: say it with --as")
    kept = "kept" if found.kept else "not kept yet: --keep, or correct it with --as, --answer"
    return "\n".join([f"read as: {bold(read)}  ({kept})", *(f"    | {text}" for text in words)])


@guest.command("result")
@click.argument("guest_id", metavar="ID")
@click.option(
    "--ics",
    type=OutputPlace(lambda: "appointment.ics"),
    metavar="FILE|DIR/",
    help="Write the calendar entry there.",
)
@json_option
@reported
def guest_result(guest_id: str, *, ics: Path | None, as_json: bool) -> None:
    """For one who said yes: a text to send, and the calendar entry."""
    found = call(operations.GUEST_RESULT, guest_id=guest_id)
    if ics is not None:
        if not found.ics:
            raise Refused("no_time", "what was agreed has no definite time")
        ics.write_bytes(found.ics.encode())
    show(found, found.text, as_json=as_json)


@guest.command("mail")
@click.argument("guest_id", metavar="ID")
@click.argument("to", metavar="MAIL-ADDRESS")
@click.option("--fingerprint", default="", help="Of the mail as it was shown: sends it.")
@json_option
@reported
def guest_mail(guest_id: str, to: str, *, fingerprint: str, as_json: bool) -> None:
    """Show the mail to a guest, and send it by your own server once you agree to every word."""
    found = call(operations.GUEST_MAIL, guest_id=guest_id, to=to, fingerprint=fingerprint)
    if not fingerprint and not as_json and sys.stdin.isatty():
        Terminal().print(_mail(found))
        if click.confirm("Send exactly this?", err=True):
            found = call(operations.GUEST_MAIL, guest_id=guest_id, to=to, fingerprint=found.fingerprint)
    show(found, _mail(found), as_json=as_json)


def _mail(found: results.GuestMail) -> str:
    if found.sent:
        return f"sent to {found.to}"
    head = f"From: {found.from_}\nTo: {found.to}\nSubject: {found.subject}\n\n{found.text}"
    more = "\n(and appointment.ics)" if found.ics else ""
    return f"{head}{more}\n\nnot sent yet: --fingerprint {found.fingerprint}"


@guest.command("mail-server")
@click.argument("url", metavar="[URL|none|-]", required=False)
@json_option
@reported
def guest_mail_server(url: str | None, *, as_json: bool) -> None:
    """Show or set your mail server: smtp(s)://user:password@host?from=me@example.org.

    It holds a password: `-` asks for it, or reads it from standard input, so that no shell remembers it.
    """
    if url == "-":
        asked = click.prompt("Server", hide_input=True, err=True) if sys.stdin.isatty() else ""
        url = str(asked or sys.stdin.readline()).strip()
    found = call(operations.GUEST_MAIL_SERVER, url="" if url == "none" else url)
    shown = f"{found.host}, as {found.from_}" if found.host else "no mail server is set"
    show(found, shown, as_json=as_json)
