"""What every command needs: where the hub is, as whom to speak, and how to print.

Order of sources: option, environment, then the files that `tacit up` and `tacit actor add` left behind. A
token from such a file is sent only to what proves that it is the hub of the data folder
(`tacit.base.io.proving`); one that was given by option or environment is sent to the address that was given.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

import click

from tacit.base.commands.table import GivenOptions
from tacit.base.commands.terminal import Terminal
from tacit.base.errors import Refused, Unavailable
from tacit.base.hub_proof import ADDRESS_FILE, proof_key
from tacit.base.io.private_file import write_private
from tacit.base.shown_addresses import without_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.client import Event, SocketHub

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_URL = "http://127.0.0.1:7433"
OWNER_FILE = "owner.token"


def tokens_file() -> Path:
    """Where the tokens of actors added on this machine are kept."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "tacit" / "tokens.json"


@dataclass(slots=True)
class CliSession(GivenOptions):
    """One run of the command line."""

    retry_for: float = 5.0
    out: Terminal = field(default_factory=Terminal)
    err: Terminal = field(default_factory=lambda: Terminal(is_error=True))
    _hub: SocketHub | None = None

    @property
    def url(self) -> str:
        """Where the hub is: as given, as the data folder says, or at a hub's default address."""
        given = self.given_url or self._noted().get("url") or DEFAULT_URL
        return without_secret(given, "the hub's address").rstrip("/")

    def _noted(self) -> dict[str, str]:
        """Where the hub of the data folder said that it listens; empty before its first start."""
        path = self.data / ADDRESS_FILE
        try:
            noted = json.loads(path.read_text(encoding="utf-8"))
            return {name: str(noted[name]) for name in ("url", "public_url")}
        except FileNotFoundError:
            return {}
        except PermissionError:
            raise Refused("permission_denied", f"{path} belongs to another account") from None
        except (LookupError, TypeError, ValueError) as error:
            raise Refused(
                "invalid_request",
                f"{path} cannot be read: remove it, and the hub writes it anew when it starts; or give --url",
            ) from error

    def hub(self, group_id: str | None = None) -> SocketHub:
        """A client under the chosen credential; for `--as NAME` the group decides which token."""
        if self._hub is None:
            self._hub = self._client(self._token(group_id))
        return self._hub

    def owner(self, retry_for: float | None = None) -> SocketHub:
        """A client under the owner's credential, closed by the caller."""
        return self._client(self._owner_token(), retry_for)

    def _client(self, token: str | None, retry_for: float | None = None) -> SocketHub:
        from tacit.client.socket_hub import SocketHub

        return SocketHub(
            self.url, token, retry_for=retry_for or self.retry_for, proven_by=self.proof_for(token)
        )

    def proof_for(self, token: str | None) -> bytes | None:
        """The key of the proof that a hub owes before it is sent a token.

        None for a token that was given by hand, on a machine that has no hub's data folder, and for the token
        of an agent that was kept for a hub on another machine.
        """
        if token is None or token == self.token:
            return None
        try:
            owner_token = (self.data / OWNER_FILE).read_text(encoding="ascii").strip()
        except (FileNotFoundError, PermissionError):
            return None
        return proof_key(owner_token) if token == owner_token or self._is_here() else None

    def _is_here(self) -> bool:
        """Is the address one of this machine's own, or of the data folder's hub?"""
        host = urlsplit(self.url).hostname or ""
        return host.startswith("127.") or host in {"localhost", "::1"} or self.url in self._noted().values()

    def page_link(self, made: dict[str, Any]) -> str:
        """The address of a sign-in link: under the hub's public name, or as this run calls the hub."""
        return (made["public_url"] or self.url) + made["path"]

    def credential(self, group_id: str | None) -> str | None:
        """The token under which this run speaks."""
        return self._token(group_id)

    def _token(self, group_id: str | None) -> str | None:
        if self.token:
            return self.token
        if self.speaker and self.speaker != "user":
            found = kept_tokens().get(self.url, {}).get(group_id or "", {}).get(self.speaker)
            if found is None:
                raise Refused(
                    "permission_denied",
                    f"no token of {self.speaker} is kept here for this group; give one with --token, or let "
                    f"the owner run `tacit actor token GROUP {self.speaker}`",
                )
            return found
        return self._owner_token()

    def _owner_token(self) -> str | None:
        if self.token and not self.speaker:
            return self.token
        path = self.data / OWNER_FILE
        if self.url.startswith("https:") and self.url not in self._noted().values():
            raise Refused(
                "permission_denied",
                f"{self.url} is not an address of the hub of {self.data}, so its owner's token is not sent "
                "there; for another hub give --token",
            )
        try:
            return path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            raise Unavailable(
                f"no hub has been started with the data folder {self.data}; run `tacit up`, or give "
                "--token and --url"
            ) from None
        except PermissionError:
            raise Refused("permission_denied", f"{path} belongs to another account") from None

    def resolve_group(self, name: str) -> str:
        """A group's id from its id or its title."""
        if self.token or not self.speaker:
            groups = self.hub().groups()
        else:
            with self.owner() as owner:
                groups = owner.groups()
        found = [one for one in groups if one["group_id"] == name]
        found = found or [one for one in groups if one["title"].casefold() == name.casefold()]
        if len(found) > 1:
            ids = ", ".join(one["group_id"] for one in found)
            raise Refused("invalid_request", f"several groups have this title; name one by its id: {ids}")
        if not found:
            raise Refused("group_not_found", "no such group; `tacit group list` shows all")
        return str(found[0]["group_id"])

    def resolve_event(self, group_id: str, name: str) -> Event:
        """An event from its id or its number in the ledger."""
        number = name.removeprefix("#")
        if not number.isdigit():
            return self.hub(group_id).event(group_id, name)
        page = self.hub(group_id).events(group_id, since_seq=max(0, int(number) - 1), limit=1)
        if not page.events or page.events[0].seq != int(number):
            raise Refused("event_not_found", f"there is no event {name} that you may see")
        return page.events[0]

    def print_json(self, value: Any) -> None:
        """One line of JSON for machines."""
        import msgspec

        sys.stdout.write(msgspec.json.encode(value, enc_hook=str).decode() + "\n")
        sys.stdout.flush()

    def answer(self, value: Any, show: Callable[[], None]) -> None:
        """Print for a machine or for a person."""
        if self.as_json:
            self.print_json(value)
        else:
            show()

    def close(self) -> None:
        """Let go of the connection."""
        if self._hub is not None:
            self._hub.close()
            self._hub = None


def pass_session(command: Callable[Concatenate[CliSession, P], R]) -> Callable[P, R]:
    """Give a command the session of this run, made of the options before its first use."""

    @functools.wraps(command)
    def with_session(*words: P.args, **options: P.kwargs) -> R:
        context = click.get_current_context()
        return command(context.find_object(CliSession) or _begun(context), *words, **options)

    return with_session


def _begun(context: click.Context) -> CliSession:
    """A session in the place of the options given; those of a command below this one reach it too."""
    given = context.ensure_object(GivenOptions)
    session = CliSession(given.given_url, given.token, given.speaker, given.data, given.as_json)
    above: click.Context | None = context
    while above is not None:
        if above.obj is given:
            above.obj = session
        above = above.parent
    context.find_root().call_on_close(session.close)
    return session


def kept_tokens() -> dict[str, dict[str, dict[str, str]]]:
    """Tokens by hub, group and actor."""
    try:
        return json.loads(tokens_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise Refused(
            "invalid_request", f"{tokens_file()} is broken: mend or remove it; tokens can be given again"
        ) from error


def keep_token(url: str, group_id: str, actor_id: str, token: str) -> None:
    """Remember a token for `--as`; the file is for this account's eyes only."""
    path = tokens_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    tokens = kept_tokens()
    tokens.setdefault(url, {}).setdefault(group_id, {})[actor_id] = token
    write_private(path, json.dumps(tokens, indent=1).encode())
