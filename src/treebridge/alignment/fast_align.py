"""fast_align: IBM model 2 with a diagonal prior and mean-field estimation, both directions at once.

Dyer, Chahuneau, Smith (2013), *A Simple, Fast, and Effective Reparameterization of IBM Model 2*.
Forward is the original's default: every target word picks a source word or NULL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba as nb
import numpy as np

from treebridge.alignment.aligner import NOTHING, Aligner, Choices, Report, quiet
from treebridge.alignment.counting import (
    PARTS,
    Block,
    Knowledge,
    expected_counts,
    largest,
    looked_up,
    open_sentence,
)
from treebridge.alignment.diagonal import better_tension, fill_prior, length_classes
from treebridge.alignment.dirichlet import normalize
from treebridge.alignment.indexed import IndexedPairs
from treebridge.alignment.table import PairTable, equal_ranges
from treebridge.alignment.threads import Threads

UNSEEN = 1e-9  # the probability of a word pair unseen in training, as in the original


@dataclass(frozen=True)
class FastAlignSettings:
    """The defaults of the original with its usual options (-d -o -v)."""

    iterations: int = 5  # the last one only decodes
    null: float = 0.08
    alpha: float = 0.01
    tension: float = 4.0
    double: bool = False  # 64-bit numbers, for comparisons; takes twice the memory


class Prior(NamedTuple):
    """The probability of NULL, and the diagonal tension of both directions."""

    null: float
    forward: float  # tension
    reverse: float


class FastAlign(Aligner):
    """fast_align in both directions."""

    engine = "fast-align"

    @classmethod
    def fit(
        cls,
        corpus: IndexedPairs,
        threads: Threads,
        report: Report = quiet,
        settings: FastAlignSettings | None = None,
    ) -> FastAlign:
        """Train by expectation maximisation, as the original does."""
        settings = settings or FastAlignSettings()
        table = PairTable.build(corpus, threads)
        known, prior = train(corpus, table, threads, report, settings)
        for words in (corpus.source_words, corpus.target_words):
            words.growing = False  # a word that came later would have an id beyond the table
        return cls(
            table,
            known,
            corpus.source_words,
            corpus.target_words,
            settings,
            {"tension_forward": prior.forward, "tension_reverse": prior.reverse},
            {"pairs": len(corpus), "words": corpus.tokens},
        )

    @property
    def prior(self) -> Prior:
        """The prior after training."""
        tensions = (self.trained["tension_forward"], self.trained["tension_reverse"])
        return Prior(self.settings.null, *tensions)

    def choices(self, corpus: IndexedPairs, threads: Threads, report: Report = quiet) -> Choices:
        """Make the most likely choice for every word; ties go to NULL, then the lowest position."""
        corpus = self.own(corpus)
        choices = Choices.none(corpus)
        sides = corpus.source, corpus.target
        for block in looked_up(corpus, self.table, self.known, UNSEEN, threads):

            def pick(part: tuple[int, int], block: Block = block) -> None:
                _pick(block, *part, *sides, self.known, self.prior, *choices)

            threads.map(pick, equal_ranges(block.at, PARTS))
            report("align", (block.first + len(block.at) - 1) / len(corpus))
        return choices


def train(
    corpus: IndexedPairs,
    table: PairTable,
    threads: Threads,
    report: Report,
    settings: FastAlignSettings,
) -> tuple[Knowledge, Prior]:
    """Run all iterations but the last, which only decodes."""
    known = Knowledge.filled(table, corpus, 1.0, settings.double)  # uniform, at any scale
    counts = Knowledge.filled(table, corpus, 0.0, settings.double)
    prior = Prior(settings.null, settings.tension, settings.tension)
    sides = corpus.source, corpus.target
    classes = length_classes(*sides[::-1]), length_classes(*sides)
    words = [max(float(lengths[:, 0] @ numbers), 1.0) for lengths, numbers in classes]
    steps = settings.iterations - 1
    for step in range(steps):
        features = _expect(corpus, table, known, prior, counts, threads, report, (step, steps))
        if step:
            means = (feature / total for feature, total in zip(features, words, strict=True))
            directions = zip(prior[1:], means, classes, strict=True)
            tensions = threads.map(lambda direction: better_tension(*direction), directions)
            prior = Prior(settings.null, *tensions)
        normalize(table, counts, settings.alpha, threads)
        known, counts = counts, known
        for array in counts:
            array.fill(0)
    return known, prior


def _expect(
    corpus: IndexedPairs,
    table: PairTable,
    known: Knowledge,
    prior: Prior,
    counts: Knowledge,
    threads: Threads,
    report: Report,
    progress: tuple[int, int],
) -> tuple[float, float]:
    """Fill the counts; return the features h of both directions, summed over all words."""
    step, steps = progress

    def posteriors(block: Block, first: int, last: int) -> tuple[float, float]:
        sides = corpus.source, corpus.target
        features: tuple[float, float] = _posteriors(block, first, last, *sides, known, prior)
        return features

    features = expected_counts(
        looked_up(corpus, table, known, UNSEEN, threads),
        corpus,
        counts,
        posteriors,
        threads,
        lambda share: report("train", (step + share) / steps),
    )
    return sum(f for f, _ in features), sum(r for _, r in features)


@nb.njit(cache=True, nogil=True)
def _posteriors(block, first, last, source, target, known, prior):
    """Fill in the posteriors of a range of sentences; return the sums of their features h."""
    forward = reverse = 0.0
    rows, columns = largest(block.first + first, block.first + last, source, target)
    weights = np.empty(max(rows, columns))
    for k in range(first, last):
        s, t, rows, columns, cells = open_sentence(block, k, source, target)
        if rows == 0 or columns == 0:
            continue
        for j in range(columns):
            null = known.null_target[target.words[t + j]] * prior.null
            total = null
            fill_prior(j + 1, columns, rows, prior.forward, weights)
            for i in range(rows):
                weights[i] *= (1 - prior.null) * cells[i * columns + j, 0]
                total += weights[i]
            block.null_target[t + j - target.at[block.first]] = null / total
            for i in range(rows):
                share = weights[i] / total
                cells[i * columns + j, 0] = share
                forward -= share * abs((i + 1) / rows - (j + 1) / columns)
        for i in range(rows):
            null = known.null_source[source.words[s + i]] * prior.null
            total = null
            fill_prior(i + 1, rows, columns, prior.reverse, weights)
            for j in range(columns):
                weights[j] *= (1 - prior.null) * cells[i * columns + j, 1]
                total += weights[j]
            block.null_source[s + i - source.at[block.first]] = null / total
            for j in range(columns):
                share = weights[j] / total
                cells[i * columns + j, 1] = share
                reverse -= share * abs((i + 1) / rows - (j + 1) / columns)
    return forward, reverse


@nb.njit(cache=True, nogil=True)
def _pick(block, first, last, source, target, known, prior, forward, reverse):
    """Choose the arg-max for every word of a range of sentences."""
    rows, columns = largest(block.first + first, block.first + last, source, target)
    weights = np.empty(max(rows, columns))
    for k in range(first, last):
        s, t, rows, columns, cells = open_sentence(block, k, source, target)
        if rows == 0 or columns == 0:
            continue
        for j in range(columns):
            word, best = target.words[t + j], NOTHING
            most = prior.null * (known.null_target[word] if word >= 0 else UNSEEN)
            fill_prior(j + 1, columns, rows, prior.forward, weights)
            for i in range(rows):
                weight = (1 - prior.null) * weights[i] * cells[i * columns + j, 0]
                if weight > most:
                    most, best = weight, i
            forward[t + j] = best
        for i in range(rows):
            word, best = source.words[s + i], NOTHING
            most = prior.null * (known.null_source[word] if word >= 0 else UNSEEN)
            fill_prior(i + 1, rows, columns, prior.reverse, weights)
            for j in range(columns):
                weight = (1 - prior.null) * weights[j] * cells[i * columns + j, 1]
                if weight > most:
                    most, best = weight, j
            reverse[s + i] = best
