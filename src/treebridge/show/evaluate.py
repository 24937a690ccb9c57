"""`treebridge evaluate`: how good are the trees of a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treebridge.corpus.conllu import Treebank, read_conllu
from treebridge.errors import TreebridgeError
from treebridge.parse.score import LENGTHS, Scores, Tally, score
from treebridge.parse.verdict import parser_verdict
from treebridge.show.progress import watch

if TYPE_CHECKING:  # torch is needed for a model only
    from treebridge.parse.parser import Parser


def evaluate_files(files: Sequence[str], *, convention: str, detail: bool, as_json: bool) -> None:
    """Print the scores of a system's file against a gold file."""
    if len(files) != 2:
        raise TreebridgeError(
            "evaluate needs two files, first the system's: treebridge evaluate system.conllu "
            "gold.conllu; or --model and one file"
        )
    system, gold = files
    if system == gold == "-":
        raise TreebridgeError("standard input can be one of the two files, not both")
    scores = score(
        watch("sentences")(read_conllu(gold, trees="required")),
        read_conllu(system, trees="required"),
        convention,
        names=(gold, system),
    )
    _print(scores, (system, gold), detail, as_json)


def evaluate_model(
    parser: Parser,
    model: str,
    files: Sequence[str],
    *,
    convention: str,
    detail: bool,
    as_json: bool,
) -> None:
    """Print the scores of a parser's trees for the sentences of a gold file."""
    if len(files) != 1:
        raise TreebridgeError("evaluate --model needs one file, of gold trees")
    gold = Treebank.read(files[0])
    parsed = parser.parse(watch("sentences")(gold), retag=True)
    names = (files[0], model)
    scores = score(gold, (one.sentence for one in parsed), convention, names=names)
    unseen = Counter(x for s in gold for x in s.deprels if x not in parser.labels)
    verdict = parser_verdict(parser.scores)
    _print(scores, (model, files[0]), detail, as_json, unseen, verdict)


def _print(
    scores: Scores,
    names: tuple[str, str],
    detail: bool,
    as_json: bool,
    unseen: Counter[str] | None = None,
    verdict: str | None = None,
) -> None:
    """Show scores; `unseen` are gold labels that the parser cannot know, with their words.

    `verdict` says what is wrong with the parser, if anything is.
    """
    if not scores.words:
        raise TreebridgeError("no words to score", file=names[1])
    if as_json:
        figures = as_dict(scores, detail=detail)
        if unseen is not None:
            figures["unseen_labels"] = dict(unseen.most_common())
        if verdict is not None:
            figures["verdict"] = verdict
        print(json.dumps(figures, ensure_ascii=False))
        return
    console = Console()
    show(scores, f"{names[0]} against {names[1]}", console, detail=detail)
    if unseen:
        some = ", ".join(label for label, _ in unseen.most_common(5))
        console.print(
            f"{len(unseen)} gold labels on {unseen.total():,} words never occurred in training: "
            f"{some}{', …' if len(unseen) > 5 else ''}",
            highlight=False,
        )
    if verdict:
        console.print(f"parser: {verdict}", highlight=False)


def show(scores: Scores, title: str, console: Console, *, detail: bool = False) -> None:
    """Print scores as a table, with `detail` also by label and by length of the arc."""
    counts = f"{scores.words:,} words in {scores.sentences:,} sentences"
    console.print(Text(f"{title}\nconvention {scores.convention}, {counts}", "bold"))
    table = Table(box=None)
    for name in scores.values:
        table.add_column(name, justify="right")
    table.add_row(*(f"{value:.2f}" for value in scores.values.values()))
    console.print(table)
    if detail:
        labels = sorted(scores.labels.items(), key=lambda item: (-item[1].gold, item[0]))
        console.print(Text("\nlabelled arcs by label", "bold"))
        console.print(_tallies("label", dict(labels)))
        console.print(Text("\narcs by length, whatever their label", "bold"))
        console.print(_tallies("length", scores.lengths))


def _tallies(first: str, rows: dict[str, Tally]) -> Table:
    table = Table(box=None)
    table.add_column(first, style="cyan", no_wrap=True)
    for name in ("gold", "system", "correct", "precision", "recall", "F1"):
        table.add_column(name, justify="right")
    for key, tally in rows.items():
        counts = (f"{n:,}" for n in (tally.gold, tally.system, tally.correct))
        figures = (f"{x:.1f}" for x in (tally.precision, tally.recall, tally.f1))
        table.add_row(Text(key), *counts, *figures)
    return table


def as_dict(scores: Scores, *, detail: bool = False) -> dict[str, Any]:
    """The same figures for machines."""
    figures: dict[str, Any] = {
        "convention": scores.convention,
        "sentences": scores.sentences,
        "words": scores.words,
        **scores.values,
    }
    if detail:
        figures["labels"] = {key: _row(scores.labels[key]) for key in sorted(scores.labels)}
        figures["lengths"] = {key: _row(scores.lengths[key]) for key in LENGTHS}
    return figures


def _row(tally: Tally) -> dict[str, float]:
    return {
        "gold": tally.gold,
        "system": tally.system,
        "correct": tally.correct,
        "precision": tally.precision,
        "recall": tally.recall,
        "f1": tally.f1,
    }
