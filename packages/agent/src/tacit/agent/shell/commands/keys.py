"""How an agent's keys are kept on this device: under the system's keyring, a passphrase, or plain by choice.

A2ACP-212. A passphrase comes from `--passphrase-file`, from TACIT_AGENT_PASSPHRASE, or is asked for on a
terminal; nobody is asked where nobody sits. Without any of these, keys are made only by an explicit
`--plain-keys`.
"""

from __future__ import annotations

import base64
import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.base.errors import Refused, Unavailable
from tacit.base.install_hint import install_hint
from tacit.base.io.system import SystemEntropy
from tacit.seal import key_protection
from tacit.seal.key_protection import KEYRING, PASSPHRASE

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.a2acp.post.io.store import AgentStore

PLAIN: Final = "plain"
_SERVICE: Final = "tacit-agent"
_WAYS: Final = (
    "say how this agent's keys are kept: --passphrase-file FILE or TACIT_AGENT_PASSPHRASE, a system keyring"
    " (`keyring`), or --plain-keys for an agent that starts by itself"
)


def _from_file(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Unavailable(f"cannot read the passphrase file {path}: {why}") from None
    if not lines or not lines[0]:
        raise Refused("no_passphrase", f"the first line of {path} is empty")
    return lines[0]


def _given(path: Path | None, variable: str) -> str | None:
    return _from_file(path) if path is not None else os.environ.get(variable) or None


def _asked(text: str, *, confirm: bool) -> str | None:
    if not sys.stdin.isatty():
        return None
    return str(click.prompt(text, hide_input=True, confirmation_prompt=confirm, err=True))


class _Keyring:
    """The system's keyring, by the `keyring` library; `Refused` where there is none."""

    def __init__(self) -> None:
        try:
            import keyring
        except ImportError:
            hint = install_hint("agent", "keyring")
            raise Refused(
                "no_keyring", f"the keyring's library is not installed; add it with: {hint}"
            ) from None
        self._library: Any = keyring
        # Below one stand those that keep nothing, and those that keep it in the open.
        if keyring.get_keyring().priority < 1:
            raise Refused("no_keyring", "this system has no keyring that could keep a secret")

    def get(self, name: str) -> bytes:
        try:
            found = self._library.get_password(_SERVICE, name)
        except self._library.errors.KeyringError as error:
            raise Unavailable(f"the keyring does not answer: {type(error).__name__}") from None
        if found is None:
            raise Refused("wrong_keyring", "this keyring does not hold the secret of this agent's folder")
        return base64.b64decode(found)

    def put(self, name: str, secret: bytes) -> None:
        try:
            self._library.set_password(_SERVICE, name, base64.b64encode(secret).decode("ascii"))
        except self._library.errors.KeyringError as error:
            raise Unavailable(f"the keyring did not take the secret: {type(error).__name__}") from None

    def forget(self, name: str) -> None:
        try:
            self._library.delete_password(_SERVICE, name)
        except self._library.errors.KeyringError as error:
            raise Unavailable(f"the keyring still holds a secret of no use: {type(error).__name__}") from None


def unlock(store: AgentStore, passphrase_file: Path | None) -> None:
    """Open the keys of a folder, if they are protected."""
    protection = store.secrets.protection()
    if protection is None:
        return
    if protection.method == KEYRING:
        store.secrets.unlock(_Keyring().get(protection.name))
        return
    given = _given(passphrase_file, "TACIT_AGENT_PASSPHRASE") or _asked(
        "Passphrase of this agent", confirm=False
    )
    if given is None:
        raise Refused(
            "keys_locked", "give this agent's passphrase: --passphrase-file FILE or TACIT_AGENT_PASSPHRASE"
        )
    store.secrets.unlock(given.encode())


def keep_new(store: AgentStore, passphrase_file: Path | None, *, plain: bool) -> None:
    """Decide how the keys of a new folder are kept, before any are made; what was decided stays."""
    if store.has_keys() or store.secrets.protection() is not None or plain:
        return
    given = _given(passphrase_file, "TACIT_AGENT_PASSPHRASE")
    if given is None:
        try:
            keep_by_keyring(store)
        except Refused:
            given = _asked("Passphrase for this agent's keys", confirm=True)
            if given is None:
                raise Refused("keys_unprotected", _WAYS) from None
        else:
            return
    keep_by_passphrase(store, given)


def keep_by_passphrase(store: AgentStore, passphrase: str) -> None:
    """Keep the keys under a passphrase."""
    entropy = SystemEntropy()
    found = key_protection.begin(PASSPHRASE, entropy.draw(16), passphrase.encode(), entropy)
    with store.transaction():
        store.secrets.protect(*found)


def keep_by_keyring(store: AgentStore) -> None:
    """Keep the keys under a secret that the system's keyring holds."""
    ring, entropy = _Keyring(), SystemEntropy()
    secret = entropy.draw(32)
    protection, key = key_protection.begin(
        KEYRING, entropy.draw(16), secret, entropy, passes=0, memory_bytes=0
    )
    # The keyring has it first: a folder whose key nobody holds would be lost.
    ring.put(protection.name, secret)
    with store.transaction():
        store.secrets.protect(protection, key)


def change(store: AgentStore, method: str, new_passphrase_file: Path | None) -> str:
    """Keep the keys another way; the name of the way."""
    before = store.secrets.protection()
    if method == PLAIN:
        with store.transaction():
            store.secrets.protect(None, None)
    elif method == KEYRING:
        keep_by_keyring(store)
    else:
        given = _given(new_passphrase_file, "TACIT_AGENT_NEW_PASSPHRASE") or _asked(
            "New passphrase", confirm=True
        )
        if given is None:
            raise Refused(
                "no_passphrase",
                "give the new passphrase: --new-passphrase-file or TACIT_AGENT_NEW_PASSPHRASE",
            )
        keep_by_passphrase(store, given)
    store.rewrite()
    if before is not None and before.method == KEYRING:
        _Keyring().forget(before.name)
    return method
