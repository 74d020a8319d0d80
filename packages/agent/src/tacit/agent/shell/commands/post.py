"""Commands of `tacit agent` for the post alone: keys, registration, contacts, sending, listening."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import ssl
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, cast

import click

from tacit.a2acp.post.io.outbox import decode_fields
from tacit.a2acp.post.io.post import Post
from tacit.a2acp.post.io.store import require_agent
from tacit.a2acp.post.settings import CHOICES
from tacit.agent.shell.commands import keys as agent_keys
from tacit.agent.terminal.commands.asking import invocation
from tacit.base.commands.clock import TRUST, show_clock
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.output_place import OutputPlace
from tacit.base.commands.terminal import Terminal, bold, styled
from tacit.base.errors import Corrupt, PeerFault, Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.private_file import write_private
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import rfc3339
from tacit.base.visible import visible
from tacit.seal import identity
from tacit.seal.key_protection import KEYRING, PASSPHRASE
from tacit.wire import address

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from tacit.a2acp.post.io.inbox import Arrived

P = ParamSpec("P")
_MAKING: Final = frozenset({"register", "restore"})
"""Commands that make an agent in a folder which has none."""


def _pass_post(command: Callable[Concatenate[Post, P], None]) -> Callable[P, None]:
    """Open the agent's folder for a command that really runs, not for its help."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        data, passphrase_file, trust, _ = invocation()
        tls = trusting(trust) if trust else None
        if command.__name__ not in _MAKING:
            require_agent(data)
        post = Post(data, clock=TimeService(), entropy=SystemEntropy(), trust=tls)
        try:
            agent_keys.unlock(post.store, passphrase_file)
            command(post, *args, **kwargs)
        finally:
            post.store.close()

    return run


def trusting(certificate: Path) -> ssl.SSLContext:
    """The usual authorities, and one more."""
    try:
        return ssl.create_default_context(cafile=certificate)
    except OSError:
        raise Refused(
            "bad_certificate", f"{certificate} holds no certificate in PEM that can be read"
        ) from None


_plain_keys_option = click.option(
    "--plain-keys",
    is_flag=True,
    envvar="TACIT_AGENT_PLAIN_KEYS",
    show_envvar=True,
    help="Keep the keys unencrypted, for an agent that starts by itself: whoever reads the folder is you.",
)


def _keep_new(post: Post, *, plain: bool) -> None:
    passphrase_file = invocation().passphrase_file
    agent_keys.keep_new(post.store, passphrase_file, plain=plain)


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


@click.command()
@click.argument("who", metavar="NAME@RELAY")
@click.option("--relay", "relay_url", help="The relay's URL. Default: https://<relay domain>.")
@click.option("--code", prompt=True, hide_input=True, help="Enrolment code or invitation.")
@click.option("--rotate", is_flag=True, help="Replace the keys; the old key signs the new one.")
@click.option(
    "--reset",
    is_flag=True,
    help="After a recovery: replace the keys and begin the numbers of the key statements anew.",
)
@_plain_keys_option
@json_option
@reported
@_pass_post
def register(
    post: Post,
    who: str,
    *,
    relay_url: str | None,
    code: str,
    rotate: bool,
    reset: bool,
    plain_keys: bool,
    as_json: bool,
) -> None:
    """Make keys on this device and register their public halves at a relay.

    The keys are kept under a passphrase, or under the system's keyring when the extra `keyring` is installed.
    """
    found = address.parse_typed(who)
    _keep_new(post, plain=plain_keys)

    async def work() -> Any:
        async with post:
            url = (relay_url or post.directory.base_url(found.domain)).rstrip("/")
            me = await post.directory.register(str(found), url, code.strip(), rotate=rotate, reset=reset)
            if not await post.publish():
                raise Unavailable(
                    "registered, but the relay has no prekeys yet: run `tacit agent listen --once`"
                )
            return me

    me = _run(work())
    number = identity.fingerprint(me.address, me.identity.signing_public)
    value = {"address": me.address, "fingerprint": number}
    show(value, f"registered as {bold(me.address)}\nfingerprint {number}", as_json=as_json)


@click.command()
@click.option(
    "--with",
    "method",
    type=click.Choice([PASSPHRASE, KEYRING, agent_keys.PLAIN]),
    help="How the keys are kept from now on. Default: say how they are kept.",
)
@click.option(
    "--new-passphrase-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The new passphrase, in its first line; or TACIT_AGENT_NEW_PASSPHRASE; or asked for.",
)
@json_option
@reported
@_pass_post
def protect(post: Post, *, method: str | None, new_passphrase_file: Path | None, as_json: bool) -> None:
    """Say or change how this agent's keys are kept on this device: passphrase, keyring or plain."""
    if method is not None:
        # A listening process goes on with the former key otherwise.
        lock = FolderLock(post.store.folder, purpose="tacit agent")
        try:
            agent_keys.change(post.store, method, new_passphrase_file)
        finally:
            lock.release()
    protection = post.store.secrets.protection()
    kept = protection.method if protection is not None else agent_keys.PLAIN
    show({"keys": kept}, f"keys: {kept}", as_json=as_json)


@click.command()
@json_option
@reported
@_pass_post
def keys(post: Post, *, as_json: bool) -> None:
    """Show this agent's address and the fingerprint others can compare."""
    me = post.store.me()
    number = identity.fingerprint(me.address, me.identity.signing_public)
    value = {"address": me.address, "fingerprint": number, "relay": me.relay_url}
    show(value, f"{me.address}\nfingerprint {number}\nrelay {me.relay_url}", as_json=as_json)


@click.command()
@click.argument("who", metavar="NAME@RELAY")
@click.argument(
    "decision",
    type=click.Choice(["show", "add", "accept", "reject", "verified", "block", "unblock", "remove"]),
)
@json_option
@reported
@_pass_post
def contact(post: Post, who: str, decision: str, *, as_json: bool) -> None:
    """Add or judge a contact.

    `add` welcomes its packets; `accept` and `reject` answer a changed key; `verified` records that you
    compared the safety number; `block` drops its packets unread, ends what is being arranged with it and
    erases all that it ever said, its keys and what is remembered of it; `remove` erases the same, and the
    contact itself.
    """
    found = str(address.parse_typed(who))
    if decision == "add":
        post.inbox.welcome(found)
    elif decision in {"block", "unblock"}:
        post.inbox.block(found, blocked=decision == "block")
        if decision == "block":
            _forget(post, found)
    elif decision == "remove":
        post.inbox.remove(found)
        _forget(post, found)
        show({"address": found, "removed": True}, f"{found} is removed", as_json=as_json)
        return
    elif decision == "accept":
        post.inbox.welcome(found)
        known = post.store.contact(found)
        if known is not None and known.pin is not None and not known.pin.usable:
            post.decide(found, decision)
    elif decision != "show":
        post.decide(found, decision)
    _show_contact(post, found, as_json=as_json)


def _forget(post: Post, who: str) -> None:
    """Nothing that a blocked contact said stays, whoever holds the folder now (A2ACP-195, A2ACP-196)."""
    from tacit.agent.kernel.io.vault import erase
    from tacit.agent.shell.io.agent import Agent
    from tacit.base.io import agent_socket as socket

    async def close_threads() -> None:
        passphrase_file = invocation().passphrase_file
        unlocked = Agent(post.store.folder, unlock=lambda store: agent_keys.unlock(store, passphrase_file))
        async with unlocked as opened:
            await opened.forget(who)

    erase(post.store, who)
    try:
        socket.ask(post.store.folder, "forget", {"peer": who})
    except ConnectionError:
        try:
            _run(close_threads())
        except (Unavailable, Refused):
            # A listening process holds the folder, or there is no agent in it yet: what was said is gone,
            # and the threads end when the agent runs next.
            return


def _show_contact(post: Post, who: str, *, as_json: bool) -> None:
    known = post.store.contact(who)
    if known is None:
        raise Refused("unknown_contact", "this address is not among your contacts", row="A2ACP-020")
    pin = known.pin
    value: dict[str, Any] = {
        "address": who,
        "welcome": known.welcome,
        "blocked": known.reputation.blocked,
        "flagged": known.reputation.flagged,
        "key": str(pin.trust) if pin else "unknown",
        "safety_number": post.safety_number(who) if pin else None,
    }
    if pin is not None and pin.offered is not None:
        value["offered_safety_number"] = post.safety_number(who, offered=True)
    show(value, "\n".join(f"{name:<22} {item}" for name, item in value.items()), as_json=as_json)


@click.command()
@click.argument("name", type=click.Choice(sorted(CHOICES)))
@click.argument("value", required=False)
@json_option
@reported
@_pass_post
def setting(post: Post, name: str, value: str | None, *, as_json: bool) -> None:
    """Show or change a setting of this agent.

    `unknown_senders`: packets from somebody you have not accepted are kept until you decide (`ask`), taken
    (`accept`) or dropped (`reject`). `auto_block_malformed`: whoever sends twenty malformed packets within a
    day is blocked without asking you (`on`) or not (`off`).
    """
    if value is not None:
        if value not in CHOICES[name]:
            raise click.BadParameter(f"one of {', '.join(CHOICES[name])}", param_hint="VALUE")
        with post.store.transaction():
            post.store.choose(name, value)
    chosen = post.store.choice(name)
    show({name: chosen}, f"{name} {chosen}", as_json=as_json)


@click.command()
@TRUST
@json_option
@reported
@_pass_post
def clock(post: Post, *, trust: bool, as_json: bool) -> None:
    """Show whether this machine's clock is believed, and say that it is right.

    A clock that leapt by more than a day erases nothing and ends nothing. It is believed again when the relay
    says the same time, when the agent has run for a day with it, or when you say so.
    """
    show_clock(post.clock, trust=trust, as_json=as_json)


@click.command()
@click.argument("who", metavar="NAME@RELAY")
@click.argument("text")
@click.option("--thread", help="The thread to write in. Default: a new one.")
@click.option("--body", help="The packet's body as JSON, in place of TEXT in `context.text`.")
@click.option("--share", multiple=True, metavar="FIELD", help="Share this field of --body.")
@click.option("--consolidate", is_flag=True, help="Replace what waits unread in this thread's full queue.")
@click.option("--wait", default=10.0, show_default=True, help="Seconds to wait for the relay's answer.")
@json_option
@reported
@_pass_post
def send(
    post: Post,
    who: str,
    text: str,
    *,
    thread: str | None,
    body: str | None,
    share: tuple[str, ...],
    consolidate: bool,
    wait: float,
    as_json: bool,
) -> None:
    """Send a sealed `context` packet. It is kept until the relay has it, even if that is later.

    TEXT is your own word and goes as it is. Of a --body go the fields that your permissions always share and
    those named with --share; a field that is never shared is left out.
    """
    from tacit.agent.consent.io import by_hand

    to = str(address.parse_typed(who))
    fields = _body(text, body)
    thread_id = thread or post.outbox.new_thread()

    async def work() -> tuple[str, str | None]:
        async with post:
            identifier = by_hand.send(
                post,
                TimeService(),
                SystemEntropy(),
                to=to,
                thread_id=thread_id,
                body=fields,
                typed=body is None,
                share=share,
                replace_queue=consolidate,
            )
            ended = await _carry(post, identifier, wait)
            pending = post.outbox.pending(identifier)
            return identifier, f"{pending}: {ended}" if ended and pending == "waiting" else pending

    identifier, pending = _run(work())
    value = {"packet_id": identifier, "thread_id": thread_id, "status": pending or "accepted"}
    told = visible(pending or "accepted by the relay")
    show(value, f"{identifier} in {thread_id}: {told}", as_json=as_json)
    if pending is not None and not pending.startswith("waiting"):
        sys.exit(1)
    if pending is not None:
        sys.exit(3)


def _body(text: str, body: str | None) -> dict[str, Any]:
    if body is None:
        return {
            "intent": {"category": "message", "summary": text[:120], "urgency": "normal"},
            "context": {"text": text},
        }
    try:
        value = json.loads(body)
    except ValueError:
        raise Refused("bad_packet", "--body is not JSON", row="A2ACP-034") from None
    if not isinstance(value, dict):
        raise Refused("bad_packet", "--body is a JSON object", row="A2ACP-034")
    return cast("dict[str, Any]", value)


async def _carry(post: Post, identifier: str, wait: float) -> str | None:
    """Carry the packet ourselves, unless a listening process of this agent is already connected.

    Why the relay will have nothing of this device, if so: waiting is of no use then.
    """
    try:
        lock = FolderLock(post.store.folder, purpose="tacit agent")
    except Unavailable:
        lock = None
    connection = post.connection()
    running = asyncio.get_running_loop().create_task(connection.run()) if lock is not None else None
    try:
        async with asyncio.timeout(wait):
            # Another process may be the one that carries it: the file is what both can see.
            while post.outbox.pending(identifier) == "waiting":
                if running is not None and running.done():
                    return str(_why(running.exception()))
                await asyncio.sleep(0.02)
    except TimeoutError:
        return None
    finally:
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        if lock is not None:
            lock.release()
    return None


@click.command()
@click.option("--once", is_flag=True, help="Stop when nothing more is waiting.")
@click.option("--count", type=int, help="Stop after so many packets.")
@json_option
@reported
@_pass_post
def listen(post: Post, *, once: bool, count: int | None, as_json: bool) -> None:
    """Stay connected and print packets as they arrive; each is printed once, also over restarts."""
    lock = FolderLock(post.store.folder, purpose="tacit agent")
    try:
        _run(_listen(post, once=once, count=count, as_json=as_json))
    finally:
        lock.release()


async def _listen(post: Post, *, once: bool, count: int | None, as_json: bool) -> None:
    changed, stopped = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with post:
        connection = post.connection(changed.set)
        running = loop.create_task(connection.run())
        running.add_done_callback(lambda _: stopped.set())
        printed, quiet = 0, 0
        try:
            while not stopped.is_set():
                new = _print_new(post, as_json=as_json)
                printed += new
                if count is not None and printed >= count:
                    break
                quiet = 0 if new or not connection.connected.is_set() else quiet + 1
                if once and quiet >= 8:
                    break
                changed.clear()
                await asyncio.wait(
                    {loop.create_task(changed.wait()), loop.create_task(stopped.wait())},
                    timeout=0.25,
                    return_when=asyncio.FIRST_COMPLETED,
                )
        finally:
            running.cancel()
            (ended,) = await asyncio.gather(running, return_exceptions=True)
        if not isinstance(ended, asyncio.CancelledError):
            raise _why(ended)


def _why(ended: BaseException | None) -> Exception:
    """What to tell of a connection that ended by itself: it never does so without a reason."""
    while isinstance(ended, BaseExceptionGroup):
        ended = cast("BaseExceptionGroup[BaseException]", ended).exceptions[0]
    if isinstance(ended, (Refused, Unavailable, PeerFault, Corrupt)):
        return ended
    return Unavailable(f"the line to the relay has ended by a fault of this program: {type(ended).__name__}")


def _print_new(post: Post, *, as_json: bool) -> int:
    """Print, then remember how far; a crash between the two repeats a line rather than losing one."""
    noted = int(post.store.setting("noted", "0"))
    arrived = post.inbox.unhandled()
    for one in arrived:
        _print(one, as_json=as_json)
    notes = post.store.notes(noted)
    for _, text in notes:
        show({"note": text}, f"{styled('note', 'yellow')} {visible(text)}", as_json=as_json)
    if arrived or notes:
        with post.store.transaction():
            post.inbox.handled(arrived)
            if notes:
                post.store.choose("noted", str(notes[-1][0]))
    return len(arrived)


def _print(one: Arrived, *, as_json: bool) -> None:
    fields = decode_fields(one.payload)
    if as_json:
        click.echo(json.dumps({"ready": one.ready, "packet": fields}, sort_keys=True))
        return
    context = fields.get("context", {})
    text = context.get("text", json.dumps(context, ensure_ascii=False, sort_keys=True))
    out = Terminal()
    out.print(f"{bold(one.peer)} {styled(one.thread_id, 'dim')}")
    out.print(visible(str(text)))


@click.command("take-over")
@json_option
@reported
@_pass_post
def take_over(post: Post, *, as_json: bool) -> None:
    """Speak for the address from this device again; the other one is refused from the next login on."""
    post.take_over()
    owner = post.store.me().address
    show(
        {"address": owner},
        f"this device speaks for {bold(owner)} from its next connection on",
        as_json=as_json,
    )


@click.command()
@json_option
@reported
@_pass_post
def repairs(post: Post, *, as_json: bool) -> None:
    """Show packets that could not be opened at first, and what became of them.

    `repaired`: it was sealed and sent again, and has arrived. `could not be delivered`: it was given up.
    """
    found = post.inbox.repairs.known()
    rows = [{**asdict(one), "at": rfc3339(one.at)} for one in found]
    arrows = {"in": "from", "out": "to"}
    lines = [
        f"{rfc3339(one.at)[:19]}Z {one.packet_id} {arrows[one.direction]} {one.peer}: {one.state}"
        for one in found
    ]
    show({"repairs": rows}, "\n".join(lines) or "every packet could be opened", as_json=as_json)


def _passphrase(given: str | None, *, confirm: bool) -> str:
    found = given or os.environ.get("TACIT_BACKUP_PASSPHRASE")
    return found or click.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm)


def _backup_name() -> str:
    moment = rfc3339(TimeService().now())[:19].replace("-", "").replace(":", "")
    return f"tacit-agent-{moment}Z.tacit-agent-backup"


@click.command()
@click.argument("file", type=OutputPlace(_backup_name), metavar="FILE|DIR/")
@click.option("--passphrase", help="Asked for when not given; or TACIT_BACKUP_PASSPHRASE.")
@json_option
@reported
@_pass_post
def backup(post: Post, file: Path, *, passphrase: str | None, as_json: bool) -> None:
    """Write an encrypted backup of this agent: identity, contacts, threads, settings.

    Into a folder, which is made when the path ends with a slash, it goes under the moment's name.
    """
    from tacit.agent.shell.io import carrying

    data = carrying.backup(post, _passphrase(passphrase, confirm=True))
    try:
        write_private(file, data)
    except OSError as error:
        raise Unavailable(f"the backup was not written to {file}: {error.strerror}") from None
    show({"file": str(file), "bytes": len(data)}, f"backup of {len(data)} bytes in {file}", as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--passphrase", help="Asked for when not given; or TACIT_BACKUP_PASSPHRASE.")
@_plain_keys_option
@json_option
@reported
@_pass_post
def restore(post: Post, file: Path, *, passphrase: str | None, plain_keys: bool, as_json: bool) -> None:
    """Become the agent of a backup on this device. Its keys are kept here as with `register`."""
    from tacit.agent.shell.io import carrying

    try:
        saved = file.read_bytes()
    except OSError as error:
        raise Unavailable(f"cannot read {file}: {error.strerror}") from None
    content = post.open_backup(saved, _passphrase(passphrase, confirm=False))
    _keep_new(post, plain=plain_keys)
    me = post.become(content)
    carrying.restore_journal(post.store.folder, content, clock=TimeService(), entropy=SystemEntropy())
    show({"address": me.address}, f"this device is now {bold(me.address)}", as_json=as_json)
