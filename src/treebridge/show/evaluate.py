"""Scores on the terminal."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from treebridge.parse.score import LENGTHS, Scores
from treebridge.parse.tally import Tally
from treebridge.recipes.evaluate import Evaluation
from treebridge.show.advice import show_advice


def show_evaluation(evaluation: Evaluation, *, detail: bool = False) -> None:
    """Print the scores, gold labels unknown to the parser, and what to do next."""
    console = Console()
    title = f"{evaluation.system} against {evaluation.gold}"
    show_scores(evaluation.scores, title, console, detail=detail)
    if unseen := evaluation.unseen:
        some = ", ".join(label for label, _ in unseen.most_common(5))
        labels = f"{len(unseen)} gold label{'s' * (len(unseen) > 1)} ({unseen.total():,} words)"
        more = ", …" if len(unseen) > 5 else ""
        console.print(f"{labels} did not occur in training: {some}{more}", highlight=False)
    if evaluation.verdict:
        console.print(f"parser: {evaluation.verdict}", highlight=False)
    if evaluation.advice:
        show_advice(evaluation.advice, console)


def show_scores(scores: Scores, title: str, console: Console, *, detail: bool = False) -> None:
    """Print scores as a table; with `detail`, also by label and arc length."""
    counts = f"{scores.words:,} words in {scores.sentences:,} sentences"
    console.print(Text(f"{title}\nconvention {scores.convention}, {counts}", "bold"))
    table = Table(box=None)
    for name in scores.values:
        table.add_column(name, justify="right")
    table.add_row(*(f"{value:.2f}" for value in scores.values.values()))
    console.print(table)
    if detail:
        labels = sorted(scores.labels.items(), key=lambda item: (-item[1].gold, item[0]))
        console.print(Text("\nlabelled arcs, by label", "bold"))
        console.print(_tallies("label", dict(labels)))
        console.print(Text("\nunlabelled arcs, by length", "bold"))
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


def as_dict(evaluation: Evaluation, *, detail: bool = False) -> dict[str, Any]:
    """The same figures, as printed by `--json`."""
    scores = evaluation.scores
    figures: dict[str, Any] = {
        "convention": scores.convention,
        "sentences": scores.sentences,
        "words": scores.words,
        **scores.values,
    }
    if detail:
        figures["labels"] = {key: _row(scores.labels[key]) for key in sorted(scores.labels)}
        figures["lengths"] = {key: _row(scores.lengths[key]) for key in LENGTHS}
    if evaluation.unseen is not None:
        figures["unseen_labels"] = dict(evaluation.unseen.most_common())
    if evaluation.verdict is not None:
        figures["verdict"] = evaluation.verdict
    if evaluation.advice is not None:
        figures["advice"] = asdict(evaluation.advice)
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
