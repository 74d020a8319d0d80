"""`tacit agent brain`: which models read and write for your agent, what they may cost, and a try.

The choice is a setting of the agent; a key never is: a variable or a file of yours holds it. What a driver's
options mean is the harness's matter, so the definition is looked at there before it is kept.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct, convert, structs

from tacit.agent.brain.commands.models import required_models
from tacit.agent.brain.configured import (
    LARGE,
    MEDIUM,
    RULES,
    SMALL,
    TIERS,
    Budget,
    Configured,
    Definition,
    configured,
    plain,
)
from tacit.agent.terminal.commands.asking import call, invocation
from tacit.agent.terminal.commands.values import plain as one_line
from tacit.base import agent_operations as operations
from tacit.base.commands.outcome import json_option, reported, show
from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.base import agent_owner_results as results
    from tacit.base.language_model import ModelReply
    from tacit.base.strict_json import JsonObject

SECONDARY: Final = "secondary"
OFF: Final = "off"
DRIVERS: Final = ("openai", "codex", "claude", "acp", "command")
WHAT: Final = {
    SMALL: "Who reads what others write; the rules unless you choose.",
    MEDIUM: "Who reads your sentences, and words a proposal.",
    LARGE: "Who words several options, and is asked when others are unsure.",
    SECONDARY: "Who stands in when a tier's own model stays away.",
}
OPTIONS: Final = frozenset(
    {"base_url", "key_env", "key_file", "use_my_config", "retries", "text", "price_in", "price_out"}
)
SENTENCE: Final = "Dinner with Robin on Friday evening, somewhere quiet, not too late."
_STANDING: Final = "You read what a person wants to arrange, for the person's own agent."
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "category": {"type": "string"},
        "confidence": {"type": "number"},
    },
    "required": ["summary", "category", "confidence"],
    "additionalProperties": False,
}


class _Tried(Struct, frozen=True):
    """What a model answered, and what that took."""

    model: str
    answer: str
    seconds: float
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class _Away(Struct, frozen=True):
    """Why a model gave no answer, and whether that will stay so."""

    model: str
    away: str
    lasting: bool


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
@reported
def brain(context: click.Context, *, as_json: bool) -> None:
    """Which models think for your agent. Without any, it works by its rules, and costs nothing."""
    if context.invoked_subcommand is None:
        found = call(operations.BRAIN)
        show(found, "\n".join(_lines(found)), as_json=as_json)


def _chosen() -> Configured:
    return configured(call(operations.BRAIN).brain)


def _keep(chosen: Configured, *, as_json: bool) -> None:
    """Keep a choice that can work: models that can be opened, and a price where dollars are bounded."""
    models = required_models(_data())
    for one in (*chosen.tiers.values(), chosen.secondary):
        if not isinstance(one, Definition):
            continue
        opened = models.open(plain(one))
        if chosen.budget.usd_per_day is not None and not opened.knows_cost:
            way = "give --price-in and --price-out (0 where it costs nothing or says what it cost)"
            way += ", or a budget in tokens"
            raise Refused(
                "bad_brain", f"a budget in dollars needs a price, and {opened.name} has none: {way}"
            )
    found = call(operations.BRAIN, setting=plain(chosen))
    show(found, "\n".join(_lines(found)), as_json=as_json)


def _lines(found: results.BrainResult) -> list[str]:
    chosen = configured(found.brain)
    lines: list[str] = []
    for tier in TIERS:
        below = "" if tier in chosen.tiers or tier == SMALL else "  (as below it)"
        lines.append(f"{tier:<10}{_named(chosen.tier(tier))}{below}")
    lines.append(f"{SECONDARY:<10}{_named(chosen.secondary) if chosen.secondary else 'none'}")
    usd, tokens = chosen.budget.usd_per_day, chosen.budget.tokens_per_day
    most = [f"${usd:g}"] if usd is not None else []
    most += [f"{tokens:,} tokens"] if tokens is not None else []
    lines.append(f"{'budget':<10}{' and '.join(most) + ' a day' if most else 'none'}")
    lines.append(f"{'today':<10}{_spent(found.spent)}")
    return lines


def _named(definition: Definition | None) -> str:
    if definition is None:
        return RULES
    options = dict(definition.options)
    command = options.pop("command", None)
    program = " ".join(map(str, command)) if isinstance(command, list) else ""
    more = [f"{name}={value}" for name, value in sorted(options.items())]
    return one_line(" ".join(filter(None, (definition.driver, definition.model, program, *more))))


def _spent(spent: results.SpentResult) -> str:
    return f"{spent.tokens:,} tokens, ${spent.usd:.4f}"


def _driver_options(command: Callable[..., None]) -> Callable[..., None]:
    options = (
        click.argument("program", nargs=-1, type=click.UNPROCESSED),
        click.option("--model", default="", metavar="NAME", help="The model to ask for."),
        click.option("--base-url", default="", metavar="URL", help="Where it is, when not at its maker's."),
        click.option("--key-env", default="", metavar="VARIABLE", help="The variable that holds its key."),
        click.option(
            "--key-file", default="", metavar="FILE", help="The file that holds its key; yours alone to read."
        ),
        click.option("--use-my-config", is_flag=True, help="With your own account of Codex or Claude Code."),
        click.option("--retries", type=int, help="Repeats inside the driver; the agent has its own."),
        click.option("--text", is_flag=True, help="The program gets plain text and prints its answer."),
        click.option("--price-in", type=float, metavar="USD", help="Dollars for a million tokens in."),
        click.option("--price-out", type=float, metavar="USD", help="Dollars for a million tokens out."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _tier_command(name: str) -> None:
    kinds = (*DRIVERS, OFF) if name == SECONDARY else (RULES, *DRIVERS, OFF)

    @brain.command(name, help=WHAT[name])
    @click.argument("driver", type=click.Choice(kinds))
    @_driver_options
    @json_option
    @reported
    def choose(
        driver: str,
        *,
        as_json: bool,
        program: tuple[str, ...],
        model: str,
        **given: str | float | bool | None,
    ) -> None:
        chosen = _chosen()
        definition = _definition(driver, model, program, given) if driver in DRIVERS else None
        if name == SECONDARY:
            _keep(structs.replace(chosen, secondary=definition), as_json=as_json)
            return
        tiers = {tier: one for tier, one in chosen.tiers.items() if tier != name}
        if driver != OFF:
            tiers[name] = definition or RULES
        _keep(structs.replace(chosen, tiers=tiers), as_json=as_json)

    del choose


def _is_left_out(value: object) -> bool:
    return value is None or value is False or value == ""  # a price of nothing is one


def _definition(
    driver: str, model: str, program: tuple[str, ...], given: Mapping[str, str | float | bool | None]
) -> Definition:
    options: JsonObject = {
        name: value for name, value in given.items() if name in OPTIONS and not _is_left_out(value)
    }
    if options.get("key_file"):
        options["key_file"] = str(Path(str(options["key_file"])).expanduser().absolute())
    if program:
        first, *rest = program
        # The agent runs elsewhere: a path is meant from where it was typed.
        options["command"] = [str(Path(first).absolute()) if "/" in first else first, *rest]
    return convert({"driver": driver, "model": model, "options": options}, Definition)


for _name in (*TIERS, SECONDARY):
    _tier_command(_name)


@brain.command()
@click.option("--usd", type=float, help="Dollars a day.")
@click.option("--tokens", type=int, help="Tokens a day.")
@click.option("--none", "unbounded", is_flag=True, help="No budget.")
@json_option
@reported
def budget(usd: float | None, tokens: int | None, *, unbounded: bool, as_json: bool) -> None:
    """What a day's models may take; then the rules go on."""
    if unbounded == (usd is not None or tokens is not None):
        raise click.UsageError("say --usd, --tokens or both, or --none")
    _keep(structs.replace(_chosen(), budget=Budget(usd, tokens)), as_json=as_json)


@brain.command("try")
@click.option("--tier", type=click.Choice((*TIERS, SECONDARY)), help="Default: every model that is chosen.")
@json_option
@reported
def try_(*, tier: str | None, as_json: bool) -> None:
    """A harmless thought by each model: answer, time and cost.

    It is a thought beside the agent's own: it stands in no budget, and nothing of yours is in it.
    """
    chosen = _chosen()
    found: dict[str, Definition | str | None] = {**chosen.tiers, SECONDARY: chosen.secondary}
    models = {
        name: one for name, one in found.items() if isinstance(one, Definition) and tier in {None, name}
    }
    if not models:
        raise Refused("no_model", "no model is chosen here: `tacit agent brain medium DRIVER --model NAME`")
    tried = {name: asyncio.run(_tried(plain(one))) for name, one in models.items()}
    lines = [line for name, each in tried.items() for line in _tried_lines(name, each)]
    shown = {name: structs.asdict(each) for name, each in tried.items()}
    show({"sentence": SENTENCE, "tried": shown}, "\n".join([SENTENCE, *lines]), as_json=as_json)


async def _tried(definition: JsonObject) -> _Tried | _Away:
    from tacit.base.language_model import ModelAway, Prompt

    with tempfile.TemporaryDirectory() as folder:
        model = required_models(Path(folder)).open(definition)
        begun = time.monotonic()
        try:
            reply: ModelReply = await model.complete(Prompt("try", _STANDING, SENTENCE, _SCHEMA))
        except ModelAway as away:
            return _Away(model.name, str(away), away.lasting)
        finally:
            await model.close()
    seconds = round(time.monotonic() - begun, 2)
    return _Tried(model.name, reply.text, seconds, reply.input_tokens, reply.output_tokens, reply.cost_usd)


def _tried_lines(name: str, tried: _Tried | _Away) -> list[str]:
    if isinstance(tried, _Away):
        return ["", f"{name}: {tried.model} is away: {tried.away}"]
    cost = f"${tried.cost_usd:.4f}" if tried.cost_usd is not None else "price not known"
    tokens = f"{tried.input_tokens} tokens in, {tried.output_tokens} out"
    return ["", f"{name}: {tried.model}, {tried.seconds:g} s, {tokens}, {cost}", one_line(tried.answer)]


def _data() -> Path:
    return invocation().folder
