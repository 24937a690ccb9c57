"""The `hmm` engine: two hidden Markov models, one per direction, trained to agree.

Liang, Taskar, Klein (2006), *Alignment by Agreement*: the expected counts are products of the two
directions' posteriors. Training starts with a few iterations of fast_align and estimates word
probabilities in the same way. Each word then picks by the geometric mean of the two posteriors.
Rare words with the same prefix share their probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebridge.alignment.agreement import fill_posteriors, pick_by_both
from treebridge.alignment.aligner import Aligner, Choices, Report, quiet
from treebridge.alignment.chain import CLASSES, class_widths
from treebridge.alignment.counting import PARTS, Block, Knowledge, expected_counts, looked_up
from treebridge.alignment.dirichlet import normalize
from treebridge.alignment.fast_align import FastAlignSettings, train
from treebridge.alignment.indexed import Floats, IndexedPairs
from treebridge.alignment.table import PairTable, equal_ranges
from treebridge.alignment.threads import Threads


@dataclass(frozen=True)
class HmmSettings:
    """Settings tuned on development data; see docs/benchmarks.md."""

    warm_up: int = 4  # initial iterations of fast_align
    iterations: int = 4
    null: float = 0.05
    alpha: float = 0.01
    threshold: float = 0.3  # minimum geometric mean of the two posteriors for a pick
    jump_smoothing: float = 0.001  # added to the share of every class
    rare: int = 5  # words seen less often share an id by prefix
    letters: int = 4  # length of that prefix
    common: int = 5  # words at least this frequent that co-occur once are not translations
    double: bool = False  # 64-bit numbers, for comparisons; takes twice the memory


class Chains(NamedTuple):
    """Jump probabilities of both directions."""

    jumps: Floats  # [2, CLASSES]: probability of a single jump
    null: float


class Hmm(Aligner):
    """Hidden Markov models of both directions, trained by agreement."""

    engine = "hmm"

    @classmethod
    def fit(
        cls,
        corpus: IndexedPairs,
        threads: Threads,
        report: Report = quiet,
        settings: HmmSettings | None = None,
    ) -> Hmm:
        """Train by expectation maximisation on the agreement of the directions."""
        settings = settings or HmmSettings()
        rounds = settings.warm_up + settings.iterations
        corpus = _group_rare(corpus, settings)
        table = PairTable.build(corpus, threads, common=settings.common)
        known, _ = train(
            corpus,
            table,
            threads,
            lambda stage, share: report(stage, share * settings.warm_up / rounds),
            FastAlignSettings(
                iterations=settings.warm_up + 1, alpha=settings.alpha, double=settings.double
            ),
        )
        counts = Knowledge.filled(table, corpus, 0.0, settings.double)
        chains = Chains(first_jumps(), settings.null)
        for step in range(settings.warm_up, rounds):
            jumps = _expect(corpus, table, known, chains, counts, threads, report, (step, rounds))
            chains = Chains(estimate_jumps(jumps, settings.jump_smoothing), settings.null)
            normalize(table, counts, settings.alpha, threads)
            known, counts = counts, known
            for array in counts:
                array.fill(0)
        return cls(
            table,
            known,
            corpus.source_words,
            corpus.target_words,
            settings,
            {"jumps": chains.jumps.tolist()},
            {"pairs": len(corpus), "words": corpus.tokens},
        )

    @property
    def chains(self) -> Chains:
        """The jump probabilities after training."""
        return Chains(np.array(self.trained["jumps"]), self.settings.null)

    def choices(self, corpus: IndexedPairs, threads: Threads, report: Report = quiet) -> Choices:
        """Choose for every word by both directions' posteriors; NOTHING below the threshold."""
        corpus = self.own(corpus)
        choices = Choices.none(corpus)
        sides = corpus.source, corpus.target
        for block in looked_up(corpus, self.table, self.known, 0.0, threads):

            def pick(part: tuple[int, int], block: Block = block) -> None:
                unused = np.zeros((2, CLASSES))
                fill_posteriors(block, *part, *sides, self.known, self.chains, False, unused)
                pick_by_both(block, *part, *sides, self.settings.threshold, *choices)

            threads.map(pick, equal_ranges(block.at, PARTS))
            report("align", (block.first + len(block.at) - 1) / len(corpus))
        return choices


def _expect(
    corpus: IndexedPairs,
    table: PairTable,
    known: Knowledge,
    chains: Chains,
    counts: Knowledge,
    threads: Threads,
    report: Report,
    progress: tuple[int, int],
) -> Floats:
    """Fill the counts; return the expected numbers of jumps of both directions."""
    step, steps = progress

    def posteriors(block: Block, first: int, last: int) -> Floats:
        jumps = np.zeros((2, CLASSES))
        sides = corpus.source, corpus.target
        fill_posteriors(block, first, last, *sides, known, chains, True, jumps)
        return jumps

    jumps = expected_counts(
        looked_up(corpus, table, known, 0.0, threads),
        corpus,
        counts,
        posteriors,
        threads,
        lambda share: report("train", (step + share) / steps),
    )
    return sum(jumps, np.zeros((2, CLASSES)))


def _group_rare(corpus: IndexedPairs, settings: HmmSettings) -> IndexedPairs:
    """Group rare words by prefix, so that inflected forms share their probabilities."""
    vocabularies = (
        words.grouped(
            np.bincount(side.words, minlength=words.size), settings.rare, settings.letters
        )
        for side, words in (
            (corpus.source, corpus.source_words),
            (corpus.target, corpus.target_words),
        )
    )
    return corpus.with_words(*vocabularies)


def first_jumps() -> Floats:
    """Initial guess: the next word's translation comes next."""
    near = np.exp(-0.5 * np.abs(np.arange(CLASSES) - (CLASSES // 2 + 1.0)))
    return np.stack([near + 0.005] * 2)


def estimate_jumps(counts: Floats, smoothing: float) -> Floats:
    """Estimate the probability of a jump of each class from expected counts [2, CLASSES]."""
    total = counts.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0
    jumps: Floats = (counts / total + smoothing) / class_widths()
    return jumps
