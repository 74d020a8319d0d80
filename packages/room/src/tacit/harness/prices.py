"""What tokens cost: prices by model, with the day on which they were noted, and the cost of a turn by them.

What an agent says that a turn cost goes before any price; where it only counts tokens they are priced, and
where it counts none they are estimated by the bytes that went in and out, and marked so. An estimate is a
lower bound: what an agent adds to a prompt and reads with its own tools nobody sees. Opens no file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import Refused
from tacit.harness.drivers.port import Price, TokenUsage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.harness.drivers.port import TurnOutcome

BYTES_PER_TOKEN: Final = 4
_MOST: Final = 1e6
_DATED: Final = re.compile(r"[-@]\d{6,8}\Z|-latest\Z")


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by model."""

    as_of: str
    """The day on which they were noted."""
    source: str
    models: Mapping[str, Price] = field(default_factory=dict[str, Price])

    def of(self, model: str) -> Price | None:
        """A model's price, by its name with or without its maker and its date; None when it is not known."""
        name = model.rsplit("/", 1)[-1].casefold()
        return self.models.get(name) or self.models.get(_DATED.sub("", name))


def price_list(document: Mapping[str, Any]) -> PriceList:
    """The prices of a document; `Refused` with what is wrong with it."""
    rows: object = document.get("models")
    as_of: object = document.get("as_of")
    if not isinstance(rows, dict) or not isinstance(as_of, str):
        raise Refused("invalid_request", "a list of prices has `as_of`, a day, and [models]")
    models: dict[str, Price] = {}
    for name, row in cast("dict[str, object]", rows).items():
        numbers = cast("list[object]", row) if isinstance(row, list) else []
        given = [one for one in numbers if isinstance(one, int | float) and not isinstance(one, bool)]
        fits = len(given) == len(numbers) and len(given) in {2, 3}
        if not fits or not all(0 <= one < _MOST for one in given):
            form = "[input, output] or [input, output, cached]"
            raise Refused(
                "invalid_request", f"the price of {name} is {form}, in dollars for a million tokens"
            )
        fresh, out, *cached = given
        models[name.casefold()] = Price(float(fresh), float(out), float(cached[0] if cached else fresh))
    return PriceList(as_of, str(document.get("source", "")), models)


def estimated(prompt_bytes: int, said_bytes: int) -> TokenUsage:
    """Tokens by what went in and out, where nobody counted them."""
    return TokenUsage(-(-prompt_bytes // BYTES_PER_TOKEN), -(-said_bytes // BYTES_PER_TOKEN))


def priced(outcome: TurnOutcome, price: Price | None, prompt_bytes: int) -> TurnOutcome:
    """The outcome with tokens and cost, as far as anybody can say."""
    usage, is_estimated = outcome.usage, outcome.estimated
    if usage == TokenUsage() and outcome.cost_usd is None and outcome.failure is None:
        usage, is_estimated = estimated(prompt_bytes, len(outcome.text.encode())), True
    cost = outcome.cost_usd
    if cost is None and price is not None:
        cost = price.cost(usage)
    return replace(outcome, usage=usage, cost_usd=cost, estimated=is_estimated)
