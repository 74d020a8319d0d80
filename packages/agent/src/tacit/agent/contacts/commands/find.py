"""`tacit agent me`, `add` and `find`: an address as a QR code, somebody else's pasted, people looked for.

A2ACP-022, A2ACP-023, A2ACP-024.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tacit.agent.contacts.vcards import MOST_BYTES
from tacit.agent.terminal.commands.asking import call, invocation
from tacit.agent.terminal.commands.values import plain, who
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.output_place import OutputPlace
from tacit.base.commands.terminal import bold, styled
from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from tacit.base import agent_owner_results as results


@click.command("me")
@click.option(
    "--png",
    type=OutputPlace(lambda: "tacit-address.png"),
    metavar="FILE|DIR/",
    help="Also write the QR code there, as a picture.",
)
@click.option(
    "--svg", type=OutputPlace(lambda: "tacit-address.svg"), metavar="FILE|DIR/", help="The same as SVG."
)
@json_option
@reported
def me_command(*, png: Path | None, svg: Path | None, as_json: bool) -> None:
    """Your address and fingerprint, as a QR code and as a text to paste: `tacit agent add` takes it."""
    import segno

    found = call(operations.ME)
    code = segno.make(found.uri, error="m", micro=False)
    for file, scale in ((png, 8), (svg, 4)):
        if file is not None:
            try:
                code.save(str(file), kind="png" if file is png else "svg", scale=scale, border=4)
            except OSError as error:
                raise Unavailable(f"the code was not written to {file}: {error.strerror}") from None
    if not as_json and sys.stdout.isatty():
        code.terminal(compact=True, border=2)
    text = f"{bold(who(found.address))}\nfingerprint {found.fingerprint}\n{found.uri}"
    show(found, text, as_json=as_json)


@click.command("add")
@click.argument("text", required=False)
@json_option
@reported
def add_command(text: str | None, *, as_json: bool) -> None:
    """Add somebody by the text of their QR code, known by the key that it names.

    Without TEXT it is read from standard input. Compare the safety number with theirs, then say so:
    `tacit agent contact NAME@RELAY verified`.
    """
    given = text if text is not None else sys.stdin.read(4096)
    _added(call(operations.ADD, uri=given), as_json=as_json)


def _added(found: results.AddedContact, *, as_json: bool) -> None:
    lines = [
        f"{bold(who(found.address))} is added, known by this key",
        f"fingerprint   {found.fingerprint}",
        f"safety number {found.safety_number}",
        styled(f"the same number on both sides? tacit agent contact {who(found.address)} verified", "dim"),
    ]
    show(found, "\n".join(lines), as_json=as_json)


@click.command("find")
@click.argument("account", metavar="[NAME@DOMAIN]", required=False)
@click.option(
    "--vcard",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Look through this address book, on this device.",
)
@click.option("--add", "and_add", is_flag=True, help="Add the one that was found.")
@click.option("--private", is_flag=True, help="Also ask a domain of your own network.")
@json_option
@reported
def find_command(
    account: str | None, *, vcard: Path | None, and_add: bool, private: bool, as_json: bool
) -> None:
    """Find somebody's agent by their e-mail address or handle (WebFinger), or in an address book.

    What is found is shown; nothing is added unasked. Of an address book nothing leaves this device.
    """
    if (account is None) == (vcard is None):
        raise click.UsageError("give either NAME@DOMAIN or --vcard FILE")
    found = call(operations.FIND, account=account, private=private) if vcard is None else _matched(vcard)
    listed = found.found
    if not as_json or not and_add:
        show(found, "\n".join(_line(one) for one in listed) or "nobody in it names an agent", as_json=as_json)
    addable = [one for one in listed if one.fingerprint and not one.known]
    if and_add or (len(addable) == 1 and not as_json and sys.stdin.isatty() and click.confirm("Add it?")):
        _add_one(addable, as_json=as_json)


def _matched(vcard: Path) -> results.FoundContacts:
    from tacit.a2acp.post.io.store import FILE, AgentStore
    from tacit.agent.contacts.io import finding

    try:
        with vcard.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unavailable(f"cannot read {vcard}: {error.strerror}") from None
    folder = invocation().folder
    if not (folder / FILE).exists():
        return operations.MATCH.answer(finding.match(None, data))
    store = AgentStore(folder)
    try:
        return operations.MATCH.answer(finding.match(store, data))
    finally:
        store.close()


def _line(one: results.FoundContact) -> str:
    state = "already a contact" if one.known else f"tacit agent add '{one.uri}'"
    if not one.known and not one.fingerprint:
        state = f"names no key; by its relay's word: tacit agent contact {who(one.address)} add"
    number = f"\n  fingerprint {one.fingerprint}" if one.fingerprint else ""
    return f"{plain(one.name)}  {bold(who(one.address))}{number}\n  {styled(state, 'dim')}"


def _add_one(addable: list[results.FoundContact], *, as_json: bool) -> None:
    if len(addable) != 1:
        raise Refused(
            "which_one",
            "there is not exactly one to add that names its key: use `tacit agent add` with the text of one",
            row="A2ACP-022",
        )
    _added(call(operations.ADD, uri=addable[0].uri), as_json=as_json)
