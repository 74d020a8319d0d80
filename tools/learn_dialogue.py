"""Learn the table by which a line without a name finds whom it is for: `tacit.attention.read.grade_table`.

python -m tools.learn_dialogue LOG [--every N] [--write]

LOG is a chat that people annotated with who answers whom, in the form that `bench/chatlog.py` reads. The table
in the tree was learnt from the training part of "irc-disentanglement" (Kummerfeld et al., A Large-Scale Corpus
for Conversation Disentanglement, ACL 2019, CC-BY-4.0): 153 days of #ubuntu, 59,217 annotated lines. None of its
words are in the table. scikit-learn is needed here and nowhere else.

Every line goes through the product's own fold and reader; each candidate of a line that calls nobody gives one
row of cues, true when the annotation aims the line at the candidate. Gradient boosting makes small trees of
them, and trees and leaves are whole numbers. Every third day, beginning with the third, is never learnt from:
the benchmark judges on those (`python -m bench.attention --log LOG --first 2 --every 3`). The seed is fixed: the
same log gives the same table.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from bench import chatlog
from tacit.attention import Roster, RosterAgent, RosterPerson, decide
from tacit.attention.read import grade
from tacit.attention.read.calls import in_passing
from tacit.attention.read.cues import CUES, LookBack, OtherSide
from tacit.attention.read.form import prose
from tacit.attention.read.near_names import nearly_inside
from tacit.attention.state import records
from tacit.attention.state.fold import Attention
from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.ledger.envelope import Event
from tools.places import rooms

SEED = 20261118
UNSEEN, OF = 2, 3
"""Days with this number, counted from 0 and modulo this, are judged and not learnt from."""
TREES, LEAVES, RATE, FEWEST, CALM = 32, 8, 0.3, 60, 2.0
IDLE = 0.6
"""What a line counts that the annotation aims at nobody: people left small remarks unlabelled."""
TABLE = rooms()["attention"] / "read" / "grade_table.py"


class Rows:
    """The cues of candidates, with what is true of them."""

    def __init__(self) -> None:
        self.cues: list[tuple[int, ...]] = []
        self.true: list[bool] = []
        self.weight: list[float] = []
        self.day: list[int] = []


def look(day: list[dict[str, Any]], number: int, rows: Rows) -> None:
    """Every candidate of every labelled line of a day that calls nobody; everybody is taken for an agent."""
    truth = chatlog.aims(day)
    principals = {row["by"]: chatlog.person_id(row["by"]) for row in day}
    names = sorted(principals.items())
    roster = Roster.of([], [RosterPerson(one, (name,)) for name, one in names])
    as_agents = Roster.of([RosterAgent(one, (name,)) for name, one in names])
    attention = Attention()
    for row in day:
        at = Moment(chatlog.BEGINS + int(row["at_s"] * SECOND))
        event = Event(
            v=1, id=f"e{row['n']}", ts=rfc3339(at), seq=int(row["n"]), kind="chat.message", group_id="g",
            scope_key="", by=principals[row["by"]], data={"text": row["text"]},
        )  # fmt: skip
        state = attention.state_for(event, records.moment_of(event))
        parsed = decide(event, roster, state).parsed
        assert parsed is not None
        attention.apply(event, at, parsed)
        settled = parsed.target.is_aimed or parsed.asks_room or parsed.nearly
        if not row["annotated"] or settled or not state.floor:
            continue
        said = prose(row["text"])
        author = parsed.author.id
        inside = (in_passing(said, as_agents) or nearly_inside(said, as_agents)) - {author}
        seen = LookBack(state.floor, author, as_agents.agents, at)
        aimed = {principals[name] for name in truth[row["n"]]}
        for who in seen.candidates(sorted(inside)):
            rows.cues.append(seen.cues(who, seen.others.get(who) or OtherSide(), inside))
            rows.true.append(who in aimed)
            rows.weight.append(1.0 if aimed else IDLE)
            rows.day.append(number)


def learnt(rows: Rows) -> list[Any]:
    """The table, from the days that are not kept for judging."""
    chosen = np.array(rows.day) % OF != UNSEEN
    model = HistGradientBoostingClassifier(
        max_iter=TREES, max_leaf_nodes=LEAVES, learning_rate=RATE, min_samples_leaf=FEWEST,
        l2_regularization=CALM, early_stopping=False, random_state=SEED,
    )  # fmt: skip
    cues, true, weight = np.array(rows.cues, dtype=np.int32), np.array(rows.true), np.array(rows.weight)
    model.fit(cues[chosen], true[chosen], weight[chosen])
    trees = [_tree(one[0].nodes, 0) for one in model._predictors]  # noqa: SLF001 - the only way to the trees
    return [round(1000 * float(model._baseline_prediction.ravel()[0])), *trees]  # noqa: SLF001


def _tree(nodes: Any, place: int) -> Any:
    node = nodes[place]
    if node["is_leaf"]:
        return round(1000 * float(node["value"]))
    left, right = _tree(nodes, int(node["left"])), _tree(nodes, int(node["right"]))
    return [int(node["feature_idx"]), int(np.floor(node["num_threshold"])), left, right]


def by_confidence(rows: Rows) -> None:
    """What each confidence gives of the lines without a name, on days that the table has not seen."""
    unseen = np.array(rows.day) % OF == UNSEEN
    found = np.array(
        [grade.confidence(cues) if kept else 0.0 for cues, kept in zip(rows.cues, unseen, strict=True)]
    )
    true, aimed = np.array(rows.true), np.array(rows.weight) == 1.0
    for least in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8):
        hit = found >= least
        print(
            f"  from {least:.2f}: {true[hit].sum() / true[unseen].sum():.3f} of the candidates' lines, "
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


def main() -> int:
    """Learn, say how good it is, and write the table if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--every", type=int, default=1, help="look at every so-many-th day only")
    parser.add_argument("--write", action="store_true", help="write the table into the tree")
    options = parser.parse_args()
    rows = Rows()
    days = list(enumerate(chatlog.days_of(chatlog.read_log(options.log))))[:: options.every]
    for number, day in days:
        look(day, number, rows)
    print(
        f"{len(days)} days, {len(rows.true)} candidates, {sum(rows.true)} of them meant, {len(CUES)} cues",
        flush=True,
    )
    trees = learnt(rows)
    if options.write:
        text = written(trees)
        TABLE.write_text(text, encoding="utf-8")
        print(f"{TABLE.name}: {len(text)} characters", flush=True)
    grade.trees[:] = trees
    by_confidence(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
