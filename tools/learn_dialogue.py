"""Learn the table by which a line without a name finds whom it is for: `tacit.attention.read.grade_table`.

python -m tools.learn_dialogue LOG [--every N] [--judge N] [--write]

LOG is a chat that people annotated with who answers whom, in the form that `bench/chatlog.py` reads. The table
in the tree was learnt from the training part of "irc-disentanglement" (Kummerfeld et al., A Large-Scale Corpus
for Conversation Disentanglement, ACL 2019, CC-BY-4.0): 153 days of #ubuntu, 59,217 annotated lines. None of its
words are in the table. scikit-learn is needed here and nowhere else.

Every line goes through the product's own fold and reader; each candidate of a line that calls nobody gives one
row of cues, true when the annotation aims the line at the candidate. Gradient boosting makes small trees of
them, and trees and leaves are whole numbers. The fold counts a line as spoken to whoever the table finds, so the
table has a part in its own cues: it is learnt twice, the second time from cues that tables made which had not
seen the day. Days are never split between learning and judging. The seed is fixed: the same log gives the same
table.

`--judge N` runs the benchmark on every N-th day, each with a table that was learnt without it.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench import chatlog
from sklearn.ensemble import HistGradientBoostingClassifier

from tacit.attention import Person, Roster, decide
from tacit.attention.read import grade
from tacit.attention.read.calls import in_passing
from tacit.attention.read.cues import CUES, LookBack
from tacit.attention.read.dialogue import wording_of
from tacit.attention.read.prose import prose
from tacit.attention.state.fold import Attention
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.ledger.envelope import Event

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED = 20261117
FOLDS = 5
TREES, LEAVES, RATE, FEWEST, CALM = 32, 12, 0.22, 60, 5.0
IDLE = 0.5
"""What a line counts that the annotation aims at nobody: people left small remarks unlabelled."""
FIRST = [[10, 0, [8, 0, -3000, [0, 10, 500, -3000]], [2, 15, 1000, -3000]]]
"""The rule of thumb with which the first look begins: whoever last spoke to the author, or was spoken to."""
TABLE = Path(__file__).parent.parent / "src" / "tacit" / "attention" / "read" / "grade_table.py"


class Rows:
    """The cues of candidates, with what is true of them."""

    def __init__(self) -> None:
        self.cues: list[tuple[int, ...]] = []
        self.true: list[bool] = []
        self.weight: list[float] = []
        self.day: list[int] = []


def look(day: list[dict[str, Any]], number: int, rows: Rows) -> None:
    """Every candidate of every labelled line of a day that calls nobody."""
    truth = chatlog.aims(day)
    principals = {row["by"]: chatlog.person_id(row["by"]) for row in day}
    roster = Roster.of([], [Person(one, (name,)) for name, one in sorted(principals.items())])
    attention = Attention()
    for row in day:
        at = Moment(chatlog.BEGINS + int(row["at_s"] * SECOND))
        event = Event(
            v=1, id=f"e{row['n']}", ts=rfc3339(at), seq=int(row["n"]), kind="chat.message", group_id="g",
            scope_key="", by=principals[row["by"]], data={"text": row["text"]},
        )  # fmt: skip
        state = attention.state_for(event)
        parsed = decide(event, roster, state).parsed
        assert parsed is not None
        attention.apply(event, at, parsed)
        if not (row["annotated"] and parsed.follows):
            continue
        said = prose(row["text"])
        author = parsed.author.id
        wording = wording_of(said, parsed.intent, in_passing(said, roster) - {author})
        seen = LookBack(state.floor, author, wording, at)
        aimed = {principals[name] for name in truth[row["n"]]}
        for one in parsed.follows:
            rows.cues.append(seen.cues(one.who))
            rows.true.append(one.who in aimed)
            rows.weight.append(1.0 if aimed else IDLE)
            rows.day.append(number)


def learnt(rows: Rows, days: Iterable[int] | None = None) -> list[Any]:
    """A table from the rows of these days, or of all."""
    cues, true = np.array(rows.cues, dtype=np.int32), np.array(rows.true)
    weight, day = np.array(rows.weight), np.array(rows.day)
    chosen = np.isin(day, list(days)) if days is not None else np.ones(len(day), dtype=bool)
    model = HistGradientBoostingClassifier(
        max_iter=TREES, max_leaf_nodes=LEAVES, learning_rate=RATE, min_samples_leaf=FEWEST,
        l2_regularization=CALM, early_stopping=False, random_state=SEED,
    )  # fmt: skip
    model.fit(cues[chosen], true[chosen], weight[chosen])
    trees = [_tree(one[0].nodes, 0) for one in model._predictors]  # noqa: SLF001 - the only way to the trees
    return [round(1000 * float(model._baseline_prediction.ravel()[0])), *trees]  # noqa: SLF001


def _tree(nodes: Any, place: int) -> Any:
    node = nodes[place]
    if node["is_leaf"]:
        return round(1000 * float(node["value"]))
    left, right = _tree(nodes, int(node["left"])), _tree(nodes, int(node["right"]))
    return [int(node["feature_idx"]), int(np.floor(node["num_threshold"])), left, right]


def seen_by(days: list[list[dict[str, Any]]], tables: list[list[Any]]) -> Rows:
    """The rows of all days, each looked at with the table of its fold."""
    rows = Rows()
    for number, day in enumerate(days):
        grade.trees[:] = tables[number % len(tables)]
        look(day, number, rows)
    return rows


def without(rows: Rows, days: int) -> list[list[Any]]:
    """One table for each fold, learnt from the days of the others."""
    return [learnt(rows, {one for one in range(days) if one % FOLDS != fold}) for fold in range(FOLDS)]


def at_precision(rows: Rows, tables: list[list[Any]]) -> None:
    """What each confidence gives of the lines without a name, on days that the table has not seen."""
    grades = []
    for cues, day in zip(rows.cues, rows.day, strict=True):
        grade.trees[:] = tables[day % len(tables)]
        grades.append(grade.confidence(cues))
    found, true, aimed = np.array(grades), np.array(rows.true), np.array(rows.weight) == 1.0
    for least in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8):
        hit = found >= least
        print(
            f"  from {least:.2f}: {true[hit].sum() / true.sum():.3f} of the candidates' lines, "
            f"{true[hit & aimed].mean():.3f} right"
        )


def written(trees: list[Any]) -> str:
    """The module of the table."""
    lines = textwrap.wrap(json.dumps(trees).replace(" ", ""), 100, break_on_hyphens=False)
    body = "\n".join(f'    "{one}"' for one in lines)
    return (
        '"""The learnt table of `grade`; made by `tools/learn_dialogue.py`, which names the data. Not by hand."""\n\n'
        "from __future__ import annotations\n\nfrom typing import Final\n\n"
        f"TABLE: Final = (\n{body}\n)\n"
    )


def judge(days: list[list[dict[str, Any]]], tables: list[list[Any]], every: int) -> None:
    """The benchmark on every so-many-th day, each with the table of its fold."""
    rows: list[list[dict[str, Any]]] = []
    for number, day in enumerate(days):
        if number % every == 0:
            rows.append(day)
    numbers = [number for number in range(len(days)) if number % every == 0]

    def begins(place: int) -> None:
        grade.trees[:] = tables[numbers[place] % len(tables)]

    chatlog.show(chatlog.judgement(rows, threaded=False, out=None, begins=begins))


def main() -> int:
    """Learn, say how good it is, and write the table if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--every", type=int, default=1, help="learn from every so-many-th day only")
    parser.add_argument("--judge", type=int, default=0, help="run the benchmark on every so-many-th day")
    parser.add_argument("--write", action="store_true", help="write the table into the tree")
    options = parser.parse_args()
    days = chatlog.days_of(chatlog.read_log(options.log))[:: options.every]
    rough = seen_by(days, [FIRST])
    rows = seen_by(days, without(rough, len(days)))
    print(
        f"{len(days)} days, {len(rows.true)} candidates, {sum(rows.true)} of them meant, {len(CUES)} cues",
        flush=True,
    )
    if options.write:
        text = written(learnt(rows))
        TABLE.write_text(text, encoding="utf-8")
        print(f"{TABLE.name}: {len(text)} characters", flush=True)
    tables = without(rows, len(days))
    at_precision(rows, tables)
    if options.judge:
        judge(days, tables, options.judge)
    return 0


if __name__ == "__main__":
    sys.exit(main())
