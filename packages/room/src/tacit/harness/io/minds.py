"""The models behind the drivers, for a personal agent: its port `Models` (A2ACP-064, A2ACP-085, A2ACP-086).

A definition names a driver, a model and options, and no key: `key_env` names the variable that holds it,
`key_file` the file, which nobody else may read. What can never work is refused when it is opened; what is
merely missing now (a program, an account, the line) says so when it is asked. Everything a driver writes
lies in one folder for each definition, and of a thought nothing stays there.
"""

from __future__ import annotations

import asyncio
import os
import stat
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from tacit.base.errors import Refused
from tacit.base.language_model import ModelAway
from tacit.harness import minds
from tacit.harness.drivers import catalogue
from tacit.harness.drivers.files import folder_name
from tacit.harness.drivers.io.passing import empty
from tacit.harness.drivers.options import PASSING, DriverOptions
from tacit.harness.drivers.port import NotPermitted, Price, Proceed
from tacit.harness.io.pricing import known_prices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.language_model import ModelReply, Prompt
    from tacit.harness.drivers.catalogue import DriverEntry
    from tacit.harness.drivers.port import (
        BoundaryOrder,
        Driver,
        ObservedActivity,
        PermissionAnswer,
        PermissionRequest,
        ToolEnded,
        TurnEvent,
    )

_MOST_RETRIES: Final = 5
_KEY_BYTES: Final = 16_384
_NO_KEY: Final = "driver_key"


class MindOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to run a model: the options of a definition."""

    base_url: str = ""
    key_env: str = ""
    key_file: str = ""
    use_my_config: bool = False
    retries: int = 0
    """The agent's own back-off repeats; a repeat inside the driver would not be counted."""
    text: bool = False
    command: tuple[str, ...] = ()
    price_in: float | None = None
    price_out: float | None = None


_FLAGS: Final = {
    "base_url": "--base-url",
    "key_env": "--key-env",
    "key_file": "--key-env",
    "use_my_config": "--use-my-config",
    "retries": "--retries",
    "text": "--text",
}
"""Which option of a driver each is; the catalogue knows who takes it."""


def _bad(words: str) -> Refused:
    return Refused("bad_brain", words, row="A2ACP-081")


class DriverModels:
    """Opens models over the drivers. `folder` is the personal agent's own."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder / "minds"
        self._environment = os.environ if environment is None else environment
        self._tidying = asyncio.Lock()
        self._tidied = False

    def open(self, definition: Mapping[str, Any]) -> DriverModel:
        """The model of a definition; `Refused` (`bad_brain`) when it can never work."""
        try:
            entry = catalogue.entry(str(definition.get("driver", "")))
            options = msgspec.convert(definition.get("options") or {}, MindOptions)
        except msgspec.ValidationError as wrong:
            raise _bad(f"the options of this model are wrong: {wrong}") from None
        except Refused as refused:
            raise _bad(refused.message) from None
        model = str(definition.get("model") or "")
        _check(entry, model, options)
        state = self.folder / folder_name(
            msgspec.json.encode([entry.name, model, options], order="sorted").decode()
        )
        return DriverModel(self, entry, model, options, state, self._environment)

    async def tidy(self) -> None:
        """Once, before the first thought: remove what a killed process left of the thought it was in."""
        async with self._tidying:
            if not self._tidied and self.folder.is_dir():
                for state in sorted(self.folder.iterdir()):
                    await empty(state / PASSING)
            self._tidied = True


def _check(entry: DriverEntry, model: str, options: MindOptions) -> None:
    given = {name for name in _FLAGS if getattr(options, name)}
    if strange := sorted(name for name in given if _FLAGS[name] not in entry.takes):
        raise _bad(f"{entry.name} takes no {', '.join(strange)}")
    if model and "--model" not in entry.takes:
        raise _bad(f"{entry.name} chooses its model by itself")
    if entry.name == "openai" and not model:
        raise _bad("openai needs the name of a model")
    if options.command and not entry.program:
        raise _bad(f"{entry.name} runs no program of yours")
    if entry.name in {"acp", "command"} and not options.command:
        raise _bad(f"{entry.name} needs a program to run")
    if options.base_url and (wrong := _address_fault(options.base_url)):
        raise _bad(wrong)
    if options.key_env and options.key_file:
        raise _bad("a key is in a variable or in a file, not in both")
    if not 0 <= options.retries <= _MOST_RETRIES:
        raise _bad(f"a driver repeats a model call at most {_MOST_RETRIES} times by itself")
    prices = (options.price_in, options.price_out)
    if any(one is not None and not 0 <= one < 1e6 for one in prices) or (prices[0] is None) != (
        prices[1] is None
    ):
        raise _bad("price_in and price_out go together, in dollars for a million tokens")


def _address_fault(url: str) -> str:
    """What is wrong with an address; it may hold a password, so it is not quoted."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return "base_url is no address"
    if not known:
        return "base_url is no http address"
    return "a key or password does not belong into base_url" if "@" in parts.netloc or parts.query else ""


class DriverModel:
    """One model by one driver: each thought in a session of its own, which is gone with it."""

    def __init__(
        self,
        models: DriverModels,
        entry: DriverEntry,
        model: str,
        options: MindOptions,
        state: Path,
        environment: Mapping[str, str],
    ) -> None:
        self._models = models
        self._entry = entry
        self._model = model
        self._options = options
        self._state = state
        self._environment = environment
        self._driver: Driver | None = None

    @property
    def name(self) -> str:
        """The driver, and the model where one is named."""
        return f"{self._entry.name}/{self._model}" if self._model else self._entry.name

    @property
    def knows_cost(self) -> bool:
        """Whether a thought's cost is known: the agent says it, or its price is."""
        return self._entry.says_cost or self._price() is not None

    async def complete(self, prompt: Prompt) -> ModelReply:
        """One answer; `ModelAway` when there is none."""
        turn = minds.thought(prompt, uuid.uuid4().hex)
        driver = self._ready()
        await self._models.tidy()
        outcome = await driver.run(turn, _Alone())
        said = len(turn.prompt.encode()) + len(turn.standing.rules.encode())
        return minds.reply(outcome, model=self.name, price=self._price(), prompt_bytes=said)

    async def close(self) -> None:
        """End what runs."""
        if self._driver is not None:
            await self._driver.close()

    def _ready(self) -> Driver:
        if self._driver is None:
            try:
                self._driver = catalogue.build(self._entry.name, self._built())
            except Refused as refused:
                raise ModelAway(refused.message, lasting=True) from refused
        return self._driver

    def _built(self) -> DriverOptions:
        options = self._options
        return DriverOptions(
            str(self._state),
            model=self._model,
            base_url=options.base_url,
            key=self._key(),
            use_my_config=options.use_my_config,
            command=options.command,
            plain_text=options.text,
            model_retries=options.retries,
        )

    def _key(self) -> str:
        options, variable = self._options, self._options.key_env or self._entry.key_env
        if options.key_file:
            return _key_in(Path(options.key_file).expanduser())
        key = self._environment.get(variable, "") if variable else ""
        if variable and not key and (options.key_env or not (options.base_url or options.use_my_config)):
            raise Refused(_NO_KEY, f"{self._entry.name} has no account: {variable} is not set")
        return key

    def _price(self) -> Price | None:
        options = self._options
        if options.price_in is not None and options.price_out is not None:
            return Price(options.price_in, options.price_out, options.price_in)
        return known_prices("", self._state).of(self._model) if self._model else None


def _key_in(path: Path) -> str:
    """The key in a file that its owner alone may read."""
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise Refused(_NO_KEY, "others may read the file with the model's key: chmod 600 it")
            key = file.read(_KEY_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        key = ""
    if not key or len(key.split()) != 1:
        raise Refused(_NO_KEY, "the file with the model's key cannot be read, or holds none")
    return key


class _Alone:
    """Nobody watches a thought, and nobody is asked in it."""

    async def saw(self, event: TurnEvent) -> None:
        """Nothing."""

    async def at_boundary(self, ended: ToolEnded) -> BoundaryOrder:
        """Go on: what an agent of one's own may do by itself is its own matter."""
        del ended
        return Proceed()

    async def did(self, activity: ObservedActivity) -> None:
        """Nothing."""

    async def in_session(self, session_id: str) -> None:
        """It has none that could be continued."""

    async def asked(self, wanted: PermissionRequest) -> PermissionAnswer:
        """No."""
        del wanted
        return NotPermitted("nobody is asked in the middle of a thought: answer from what you were told")
