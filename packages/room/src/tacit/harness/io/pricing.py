"""What an agent's tokens cost: from the command line, a file of one's own, or the list that comes with Tacit.

A budget in dollars binds only where dollars can be counted, so an agent whose price nobody knows is refused
one before it runs.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.base.errors import Refused
from tacit.harness.drivers.catalogue import entry
from tacit.harness.drivers.port import Price
from tacit.harness.prices import PriceList, price_list

if TYPE_CHECKING:
    from tacit.harness.team import TeamMember


def known_prices(file: str, base: Path) -> PriceList:
    """The list in a file, or the one that comes with Tacit."""
    try:
        if file:
            text = (base / Path(file).expanduser()).read_text(encoding="utf-8")
        else:
            text = resources.files("tacit.harness").joinpath("prices.toml").read_text(encoding="utf-8")
        return price_list(tomllib.loads(text))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Refused("invalid_request", f"the prices in {file} cannot be read") from error


def price_for(member: TeamMember, model: str, base: Path) -> Price | None:
    """The price of an agent's model; `Refused` where a budget in dollars could not be kept without it."""
    if (member.price_in is None) != (member.price_out is None):
        raise Refused("driver_option", "--price-in and --price-out go together")
    if member.price_in is not None and member.price_out is not None:
        return Price(member.price_in, member.price_out, member.price_in)
    prices = known_prices(member.prices, base)
    found = prices.of(model) if model else None
    if found is None and member.budget.cost_usd is not None and not entry(member.driver).says_cost:
        which = f"the price of {model} is not in the list of {prices.as_of}" if model else "no model is named"
        way = "give --price-in and --price-out, in dollars for a million tokens (0 where it costs nothing or"
        way += " the program says itself what a turn cost), --prices FILE, or a budget in tokens or turns"
        raise Refused("driver_option", f"a budget in dollars needs a price, and {which}: {way}")
    return found
