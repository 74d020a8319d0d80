"""`tacit relay`: run a relay, and the few things its operator does."""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import functools
import logging
import re
import signal
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import uvloop
from click.core import ParameterSource

from tacit.a2acp.commands import relay_parts
from tacit.a2acp.commands.relay_place import RelayPlace, open_node, relay_stream
from tacit.base import callers
from tacit.base.commands.clock import TRUST, clock_of, show_clock
from tacit.base.commands.folders import beside_hub
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.commands.stream_options import stream_options
from tacit.base.commands.terminal import bold
from tacit.base.errors import Refused, Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import Moment, rfc3339
from tacit.base.shown_addresses import without_secret
from tacit.relay import accounts
from tacit.relay.io import registry
from tacit.relay.io.server import RelayServer, RelaySettings
from tacit.relay.settings import RelayLimits
from tacit.wire import address, frames
from tacit.wire.encoding import b64, unb64

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from tacit.relay.io.jetstream.opening import RelayStream

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_PASSWORD: Final = re.compile(r"://[^/@]*:[^/@]*@")
_THIS_MACHINE: Final = ("127.0.0.0/8", "::1")


def _data_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--data",
        type=click.Path(path_type=Path),
        default=lambda: beside_hub("relay"),
        show_default="~/.local/share/tacit-relay",
        help="The relay's folder.",
    )(function)


@click.group(invoke_without_command=True)
@_data_option
@click.option("--domain", help="The name in addresses: agent:<user>@<domain>. Default: localhost:<port>.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=7434, show_default=True, help="Where to listen."
)
@click.option("--public-url", help="How others reach this relay. Default: from the domain.")
@click.option("--tls-cert", type=click.Path(exists=True, path_type=Path), help="Certificate (PEM).")
@click.option("--tls-key", type=click.Path(exists=True, path_type=Path), help="Its private key (PEM).")
@click.option(
    "--trust", type=click.Path(exists=True, path_type=Path), help="Extra CA for other relays (PEM)."
)
@click.option(
    "--mail",
    default="log",
    show_default=True,
    envvar="TACIT_RELAY_MAIL",
    show_envvar=True,
    help="`log`, or smtp(s)://user:password@host?from=A; with a password by the variable alone.",
)
@click.option("--open-federation", is_flag=True, help="Talk to every relay that is not denied.")
@click.option(
    "--federation-network",
    "federation_networks",
    multiple=True,
    metavar="ADDRESS",
    help="Let other relays be in this network (address or network), and not at public addresses only.",
)
@click.option(
    "--trust-proxy",
    "trusted_proxies",
    multiple=True,
    metavar="ADDRESS",
    help="Believe this proxy (address or network) about who calls.",
)
@click.option("--behind-proxy", is_flag=True, help="Believe a proxy on this machine about who calls.")
@click.option("--packets-per-minute", default=60, show_default=True, help="Rate limit for each sender.")
@click.option("--burst", default=120, show_default=True, help="How much of the rate may come at once.")
@click.option(
    "--per-tag", default=100, show_default=True, help="Stored packets for each thread of a recipient."
)
@click.option(
    "--new-recipients-per-hour", default=20, show_default=True, help="First contacts for each sender."
)
@click.option(
    "--nats",
    multiple=True,
    metavar="URL",
    help="Keep the state in streams of these NATS servers, for several nodes; the folder is a cache then.",
)
@functools.partial(stream_options, name="TACIT_RELAY")
@json_option
@click.pass_context
def relay(context: click.Context, **options: Any) -> None:
    """Run a blind relay for sealed packets, or look after one.

    Without a subcommand the relay starts and runs until it is stopped.
    """
    if context.invoked_subcommand is None:
        _serve(**options)
    else:
        context.obj = options["data"], _stream(**options)


@reported
def _stream(**options: Any) -> RelayStream | None:
    return relay_stream(options)


def _pass_place(command: Callable[..., Any]) -> Callable[..., Any]:
    """Say to a command where the relay's state is; its own `--data` may name another folder."""

    def placed(given: tuple[Path, RelayStream | None], *words: Any, **options: Any) -> Any:
        return command(RelayPlace(*given), *words, **options)

    return click.pass_obj(functools.update_wrapper(placed, command))


@reported
def _serve(*, as_json: bool, **options: Any) -> None:
    settings, stream = _settings(**options), relay_stream(options)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    store, seed = open_node(settings.data, stream, TimeService()) if stream is not None else (None, None)
    parts = relay_parts.parts(
        settings.data, public_url=settings.public_url, mail=_mail(options["mail"]), seed=seed
    )
    uvloop.run(_run(RelayServer(settings, parts, store), settings, as_json=as_json))


def _mail(address: str) -> str:
    source = click.get_current_context().get_parameter_source("mail")
    if source is ParameterSource.COMMANDLINE and _PASSWORD.search(address):
        raise Refused(
            "bad_mail",
            "a password on a command line is seen by everybody on this machine: give the address of the mail "
            "server in the variable TACIT_RELAY_MAIL",
        )
    return address


def _settings(**options: Any) -> RelaySettings:
    host, port = options["host"], options["port"]
    domain = options["domain"] or f"localhost:{port}"
    if not address.is_domain(domain):
        raise Refused(
            "bad_domain", "a domain is a lower-case DNS name with an optional port", row="A2ACP-010"
        )
    tls = _tls(options["tls_cert"], options["tls_key"])
    plain = tls is None and not options["public_url"] and domain.partition(":")[0] in _LOOPBACK
    if tls is None and host not in _LOOPBACK and not options["public_url"]:
        raise Refused(
            "no_tls", "give --tls-cert and --tls-key, or --public-url https://... of a proxy that has them"
        )
    scheme = "http" if plain or (options["public_url"] or "").startswith("http://") else "https"
    return RelaySettings(
        data=options["data"],
        domain=domain,
        host=host,
        port=port,
        base_url=without_secret(options["public_url"] or "", "--public-url").rstrip("/"),
        limits=RelayLimits(
            packets_per_minute=options["packets_per_minute"],
            burst=options["burst"],
            per_tag=options["per_tag"],
            new_recipients_per_hour=options["new_recipients_per_hour"],
        ),
        open_federation=options["open_federation"],
        federation_networks=_networks(options["federation_networks"]),
        trusted_proxies=_proxies(options["trusted_proxies"], on_this_machine=options["behind_proxy"]),
        tls=tls,
        trust=_trust(options["trust"]),
        scheme=scheme,
    )


def _networks(listed: tuple[str, ...]) -> tuple[str, ...]:
    callers.check_networks(listed, "--federation-network")
    return listed


def _proxies(named: tuple[str, ...], *, on_this_machine: bool) -> tuple[str, ...]:
    callers.check_networks(named, "--trust-proxy")
    return (*named, *(_THIS_MACHINE if on_this_machine else ()))


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        tls.load_cert_chain(certificate, key)
    except OSError:  # an SSLError is one
        raise Refused("bad_tls", "--tls-cert and --tls-key are no certificate with its key (PEM)") from None
    return tls


def _trust(authority: Path | None) -> ssl.SSLContext | None:
    if authority is None:
        return None
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError:  # an SSLError is one
        raise Refused("bad_tls", "--trust is no certificate (PEM)") from None


async def _run(server: RelayServer, settings: RelaySettings, *, as_json: bool) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    await server.start()
    text = f"relay for {bold(settings.domain)} at {settings.public_url}; join at {settings.public_url}/join"
    show({"domain": settings.domain, "url": settings.public_url, "port": server.port}, text, as_json=as_json)
    waits = [loop.create_task(stopped.wait()), loop.create_task(server.failed.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for task in waits:
        task.cancel()
    await server.stop()
    if server.failed.is_set():
        raise Unavailable("the relay had to stop; its log says why")


@relay.command()
@click.argument("username")
@click.option("--renew", is_flag=True, help="A code for an existing account whose agent needs new keys.")
@click.option("--reset", is_flag=True, help="With --renew: its key statements may begin their numbers anew.")
@json_option
@_pass_place
@reported
def invite(place: RelayPlace, username: str, *, renew: bool, reset: bool, as_json: bool) -> None:
    """Make a one-time code with which USERNAME's agent can register without a browser."""
    accounts.check_username(username)
    code = accounts.code_text(SystemEntropy().draw(accounts.CODE_BYTES))
    expires = Moment(TimeService().now() + RelayLimits().invite_valid)

    def change(file: apsw.Connection) -> None:
        known = registry.account_of(file, username) is not None
        if known != renew:
            hint = "this account exists; --renew gives its agent new keys" if known else "no such account"
            raise Refused("username_taken" if known else "not_found", hint, row="A2ACP-014")
        purpose = "enrol" if renew else "invite"
        registry.add_code(
            file,
            code=code,
            purpose=purpose,
            username=username,
            expires=expires,
            may_reset=renew and reset,
        )

    place.change(change)
    value = {"username": username, "code": code, "expires_at": rfc3339(expires)}
    show(value, f"code for {bold(username)}, valid once until {rfc3339(expires)}:\n{code}", as_json=as_json)


@relay.command("accounts")
@json_option
@_pass_place
@reported
def list_accounts(place: RelayPlace, *, as_json: bool) -> None:
    """List the accounts of this relay (for its operator; no endpoint does this)."""
    with place.read() as file:
        rows = file.execute(
            "SELECT a.username, a.state, g.account IS NOT NULL, count(q.position), ifnull(sum(q.size),0)"
            " FROM accounts a LEFT JOIN agents g ON g.account=a.id LEFT JOIN queue q ON q.recipient=a.id"
            " GROUP BY a.id ORDER BY a.username"
        ).fetchall()
    found = [
        {"username": name, "state": state, "agent": bool(agent), "queued": queued, "bytes": size}
        for name, state, agent, queued, size in rows
    ]
    lines = [
        f"{one['username']:<32} {one['state']:<8} {one['queued']:>6} waiting {one['bytes']:>10} B"
        for one in found
    ]
    show({"accounts": found}, "\n".join(lines) or "no accounts yet", as_json=as_json)


@relay.command("account")
@click.argument("username")
@click.option(
    "--revoke-passkey", metavar="ID", help="This passkey opens nothing any more, nor does its session."
)
@click.option("--cancel-recovery", is_flag=True, help="The mailed recovery code is worth nothing.")
@click.option("--end-sessions", is_flag=True, help="Sign the account out in every browser.")
@json_option
@_pass_place
@reported
def one_account(
    place: RelayPlace,
    username: str,
    *,
    revoke_passkey: str | None,
    cancel_recovery: bool,
    end_sessions: bool,
    as_json: bool,
) -> None:
    """Show one account's passkeys and a recovery that runs; revoke, cancel or sign out.

    Its agent is told of what was changed when it connects next.
    """
    now = TimeService().now()
    done: list[str] = []

    def change(file: apsw.Connection) -> None:
        done.clear()
        account = _account(file, username)
        if revoke_passkey is not None:
            registry.drop_passkey(file, account, _passkey(file, account, revoke_passkey).credential_id)
            done.append("passkey_revoked")
        if cancel_recovery:
            if not registry.drop_codes(file, "recovery", username):
                raise Refused("not_found", "no recovery runs", row="A2ACP-019")
            done.append("recovery_cancelled")
        if end_sessions:
            registry.end_sessions(file, account, now)
            done.append("sessions_ended")
        for kind in done:
            registry.add_notice(file, account, frames.encode(frames.NoticeFrame(kind, rfc3339(now))))

    if revoke_passkey is not None or cancel_recovery or end_sessions:
        place.change(change)
    with place.read() as file:
        account = _account(file, username)
        opens = registry.pending_code(file, purpose="recovery", username=username, now=now)
        found = {
            "username": username,
            "passkeys": [one.shown() for one in registry.passkeys(file, account)],
            "recovery_opens_at": rfc3339(Moment(opens)) if opens is not None else None,
            "done": done,
        }
    show(found, _account_lines(found), as_json=as_json)


def _account(file: apsw.Connection, username: str) -> int:
    known = registry.account_of(file, username)
    if known is None:
        raise Refused("not_found", "no such account", row="A2ACP-014")
    return known[0]


def _passkey(file: apsw.Connection, account: int, identifier: str) -> registry.Passkey:
    """The passkey whose id is or begins with what was typed."""
    fitting = [
        one for one in registry.passkeys(file, account) if b64(one.credential_id).startswith(identifier)
    ]
    if len(fitting) != 1:
        hint = "no such passkey" if not fitting else "more than one passkey begins so; give more of its id"
        raise Refused("not_found", hint, row="A2ACP-011")
    return fitting[0]


def _account_lines(found: dict[str, Any]) -> str:
    lines = [one.replace("_", " ") for one in found["done"]]
    lines += [
        f"passkey {one['id'][:16]:<16}  made {one['made_at'] or 'earlier'}  used {one['used_at'] or 'never'}"
        for one in found["passkeys"]
    ]
    if not found["passkeys"]:
        lines.append("no passkeys: this account came by an invitation")
    if found["recovery_opens_at"]:
        lines.append(f"a recovery runs; its code works from {found['recovery_opens_at']}")
    return "\n".join(lines)


@relay.command()
@TRUST
@json_option
@_pass_place
@reported
def clock(place: RelayPlace, *, trust: bool, as_json: bool) -> None:
    """Show whether the relay believes this machine's clock, and say that it is right.

    A clock that leapt by more than a day lets no mail go. It is believed again when it comes back, when the
    relay has run for a day with it, or when you say so.
    """
    show_clock(clock_of(place.data), trust=trust, as_json=as_json)


@relay.command()
@json_option
@_pass_place
@reported
def stats(place: RelayPlace, *, as_json: bool) -> None:
    """Count what the relay holds."""
    queries = {
        "accounts": "SELECT count(*) FROM accounts WHERE state='active'",
        "agents": "SELECT count(*) FROM agents",
        "queued_packets": "SELECT count(*) FROM queue",
        "queued_bytes": "SELECT ifnull(sum(size),0) FROM queue",
        "outgoing_packets": "SELECT count(*) FROM outgoing",
        "blocked": "SELECT count(*) FROM blocked",
        "peers": "SELECT count(*) FROM peers WHERE policy='allowed'",
    }
    with place.read() as file:
        found = {name: file.execute(sql).get for name, sql in queries.items()}
    show(found, "\n".join(f"{name:<18} {value}" for name, value in found.items()), as_json=as_json)


@relay.command()
@click.argument("who")
@click.option("--undo", is_flag=True, help="Let the address in again.")
@json_option
@_pass_place
@reported
def block(place: RelayPlace, who: str, *, undo: bool, as_json: bool) -> None:
    """Shut an address out of this relay, here or on another one."""
    found = str(address.parse_typed(who))
    sql = "DELETE FROM blocked WHERE address=?" if undo else "INSERT OR IGNORE INTO blocked VALUES (?)"
    place.change(lambda file: file.execute(sql, (found,)) and None)
    show(
        {"address": found, "blocked": not undo},
        f"{found} is {'let in' if undo else 'shut out'}",
        as_json=as_json,
    )


@relay.command()
@click.argument("domain")
@click.option("--deny", is_flag=True, help="Never talk to this relay.")
@click.option("--key", help="Its public key (base64url); replaces a pinned one.")
@json_option
@_pass_place
@reported
def peer(place: RelayPlace, domain: str, *, deny: bool, key: str | None, as_json: bool) -> None:
    """Allow another relay to exchange packets with this one."""
    if not address.is_domain(domain):
        raise Refused(
            "bad_domain", "a domain is a lower-case DNS name with an optional port", row="A2ACP-010"
        )
    raw = unb64(key) if key else None
    if key and (raw is None or len(raw) != 32):
        raise Refused("bad_key", "a relay key has 32 bytes in base64url", row="A2ACP-255")
    policy = "denied" if deny else "allowed"
    place.change(lambda file: registry.set_peer(file, domain, policy, raw))
    show({"domain": domain, "policy": policy}, f"{domain} is {policy}", as_json=as_json)
