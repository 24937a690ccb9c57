"""Whether trees of one's own make a parser better, judged by the trees themselves.

Each fold is parsed by a parser that was refined on the other folds. Unknown heads, labels and tags
do not count, nor do words tagged PUNCT or SYM, as in the convention `paper`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import given_heads
from treebridge.parse.calibration import Temperatures
from treebridge.parse.judge import tree_temperatures
from treebridge.parse.parser import Parser

FOLDS = 2  # together they take as long as refining on all trees
ENOUGH = 10  # trees for an interval
DRAWS = 2000
METRICS = ("UPOS", "UAS", "LAS")
UNCORRECTED = 98.0  # LAS of the parser's own output; no parser is that good on new text
_LEFT_OUT = ("PUNCT", "SYM")

Counts = NDArray[np.int64]  # [sentences, metrics, 2]: correct and all
Refine = Callable[[Sequence[Sentence], int], Parser]  # trees and the number of the fold


@dataclass(frozen=True)
class Validation:
    """Scores on the user's trees, before refining and after refining on the other folds."""

    trees: int
    folds: int
    before: dict[str, float]
    after: dict[str, float] = field(default_factory=dict)  # empty if there are too few trees
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)  # 95 %, of the gains
    temperatures: Temperatures | None = None  # that calibrate the refined parser

    @property
    def gains(self) -> dict[str, float]:
        """By how much refining changes each score."""
        return {name: self.after[name] - self.before[name] for name in self.after}

    def figures(self) -> dict[str, Any]:
        """The scores, for JSON."""
        scores = {name: value for name, value in asdict(self).items() if name != "temperatures"}
        return {**scores, "gains": self.gains, "uncorrected": self.uncorrected}

    @property
    def uncorrected(self) -> bool:
        """Whether the trees look like the parser's own output."""
        return self.before.get("LAS", 0.0) >= UNCORRECTED


def cross_validate(parser: Parser, trees: Sequence[Sentence], refine: Refine | None) -> Validation:
    """Score a parser on trees, and what `refine` makes of it; None only scores it as it is."""
    before = _counts(parser, trees)
    if refine is None or len(trees) < FOLDS:
        return Validation(len(trees), 0, _scores(before))
    after = np.zeros_like(before)
    heats: list[Temperatures | None] = []
    for fold in range(FOLDS):
        held = np.arange(len(trees)) % FOLDS == fold
        learned = refine([tree for tree, out in zip(trees, held, strict=True) if not out], fold)
        kept = [tree for tree, out in zip(trees, held, strict=True) if out]
        after[held] = _counts(learned, kept)
        heats.append(tree_temperatures(learned, kept))
    return Validation(
        len(trees),
        FOLDS,
        _scores(before),
        _scores(after),
        _intervals(before, after) if len(trees) >= ENOUGH else {},
        _mean_temperatures([heat for heat in heats if heat]),
    )


def _mean_temperatures(heats: Sequence[Temperatures]) -> Temperatures | None:
    """The geometric mean over folds; None if all had too few trees."""
    return Temperatures(*np.exp(np.log(heats).mean(0)).tolist()) if heats else None


def _counts(parser: Parser, trees: Sequence[Sentence]) -> Counts:
    found = (parsed.sentence for parsed in parser.parse(trees, retag=True))
    return np.array([_count(*pair) for pair in zip(trees, found, strict=True)])


def _count(gold: Sentence, found: Sentence) -> list[tuple[int, int]]:
    tags = heads = labels = all_tags = all_heads = all_labels = 0
    known = zip(gold.upos, given_heads(gold), gold.deprels, found, strict=True)
    for tag, head, label, word in known:
        if tag in _LEFT_OUT:
            continue
        all_tags += tag != "_"
        tags += tag == word.upos
        if head is None:
            continue
        all_heads += 1
        heads += head == word.head
        all_labels += label != "_"
        labels += head == word.head and label == word.deprel
    return [(tags, all_tags), (heads, all_heads), (labels, all_labels)]


def _scores(counts: Counts) -> dict[str, float]:
    """What can be scored: a metric without annotation has no score."""
    totals = counts.sum(0).tolist()
    return {
        name: 100 * correct / every
        for name, (correct, every) in zip(METRICS, totals, strict=True)
        if every
    }


def _intervals(before: Counts, after: Counts) -> dict[str, tuple[float, float]]:
    """Of the gains, by a bootstrap over sentences."""
    gain, every = (after - before)[..., 0], before[..., 1]  # [sentences, metrics]
    drawn = np.random.default_rng(0).integers(0, len(gain), (DRAWS, len(gain)))
    values = 100 * gain[drawn].sum(1) / np.maximum(every[drawn].sum(1), 1)  # [draws, metrics]
    low, high = np.percentile(values, [2.5, 97.5], axis=0).tolist()
    scored = _scores(before)
    ends = zip(METRICS, low, high, strict=True)
    return {name: (below, above) for name, below, above in ends if name in scored}
