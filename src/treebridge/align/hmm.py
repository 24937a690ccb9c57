"""The `hmm` engine: two hidden Markov models, one a direction, that are trained to agree.

Liang, Taskar, Klein (2006), *Alignment by Agreement*: what both directions believe is counted, the
product of their posteriors. They start from a few iterations of fast_align, and word probabilities
are estimated as there. Each word then picks by the geometric mean of the two posteriors. Rare
words share what is known of words that begin alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numba as nb
import numpy as np

from treebridge.align.aligner import Aligner, Choices, Report, quiet
from treebridge.align.chain import CLASSES, class_widths, make_room, pick_probabilities
from treebridge.align.counting import PARTS, Block, Knowledge, blocks, expected_counts
from treebridge.align.dirichlet import normalize
from treebridge.align.encoded import Encoded, Floats
from treebridge.align.fast_align import FastAlignSettings, train
from treebridge.align.table import MISSING, PairTable, equal_ranges, find_all
from treebridge.align.threads import Threads

UNSEEN = 1e-12  # added to every word's probability: no sentence is impossible


@dataclass(frozen=True)
class HmmSettings:
    """Chosen on the development files; docs/benchmarks.md has the figures."""

    warm_up: int = 4  # iterations of fast_align before
    iterations: int = 4
    null: float = 0.05
    alpha: float = 0.01
    threshold: float = 0.3  # of the two posteriors' geometric mean, for a word to pick
    jump_smoothing: float = 0.001  # the share of jumps that may be of any class
    rare: int = 5  # words seen less often are taken for one with others that begin alike
    letters: int = 4  # with the same so many letters
    common: int = 5  # words seen so often but together once are no translations
    double: bool = False  # 64 bits a number: for comparisons, at twice the memory


class Chains(NamedTuple):
    """How words move, in both directions."""

    jumps: Floats  # [2, CLASSES]: the probability of a single jump
    null: float


class Hmm(Aligner):
    """Both directions, trained by agreement."""

    engine = "hmm"

    @classmethod
    def fit(
        cls,
        corpus: Encoded,
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
        """The jumps that training arrived at."""
        return Chains(np.array(self.trained["jumps"]), self.settings.null)

    def choices(self, corpus: Encoded, threads: Threads, report: Report = quiet) -> Choices:
        """Every word picks the word that the two directions together believe in most, if enough."""
        corpus = self.own(corpus)
        choices = Choices.none(corpus)
        sides = corpus.source, corpus.target
        for block in blocks(corpus):

            def pick(part: tuple[int, int], block: Block = block) -> None:
                unused = np.zeros((2, CLASSES))
                fill_posteriors(
                    block, *part, self.table, *sides, self.known, self.chains, False, unused
                )
                _pick(block, *part, *sides, self.settings.threshold, *choices)

            threads.map(pick, equal_ranges(block.at, PARTS))
            report("align", (block.first + len(block.at) - 1) / len(corpus))
        return choices


def _expect(
    corpus: Encoded,
    table: PairTable,
    known: Knowledge,
    chains: Chains,
    counts: Knowledge,
    threads: Threads,
    report: Report,
    progress: tuple[int, int],
) -> Floats:
    """Fill the counts; return the expected jumps of both directions."""
    step, steps = progress

    def posteriors(block: Block, first: int, last: int) -> Floats:
        jumps = np.zeros((2, CLASSES))
        sides = corpus.source, corpus.target
        fill_posteriors(block, first, last, table, *sides, known, chains, True, jumps)
        return jumps

    jumps = expected_counts(
        corpus, counts, posteriors, threads, lambda share: report("train", (step + share) / steps)
    )
    return sum(jumps, np.zeros((2, CLASSES)))


def _group_rare(corpus: Encoded, settings: HmmSettings) -> Encoded:
    """Rare words by their first letters: what is known of one form is known of the others."""
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
    """A guess to begin with: the next word's translation comes next."""
    near = np.exp(-0.5 * np.abs(np.arange(CLASSES) - (CLASSES // 2 + 1.0)))
    return np.stack([near + 0.005] * 2)


def estimate_jumps(counts: Floats, smoothing: float) -> Floats:
    """The probability of a jump of each class, from expected counts [2, CLASSES]."""
    total = counts.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0
    jumps: Floats = (counts / total + smoothing) / class_widths()
    return jumps


@nb.njit(cache=True, nogil=True)
def _size(first, last, source, target):
    size = 1
    for n in range(first, last):
        size = max(size, source.at[n + 1] - source.at[n], target.at[n + 1] - target.at[n])
    return size


@nb.njit(cache=True, nogil=True)
def fill_posteriors(block, first, last, table, source, target, known, chains, agree, jumps):
    """Fill in the posteriors of some sentences, or their products; add up the expected jumps."""
    size = _size(block.first + first, block.first + last, source, target)
    room = make_room(size)
    emit_forward, emit_reverse = np.empty((size, size)), np.empty((size, size))
    null_forward, null_reverse = np.empty(size), np.empty(size)
    forward, reverse = np.empty((size, size)), np.empty((size, size))
    for k in range(first, last):
        n = block.first + k
        s, t = source.at[n], target.at[n]
        rows, columns = source.at[n + 1] - s, target.at[n + 1] - t
        if rows == 0 or columns == 0:
            continue
        slots = block.slots[block.at[k] : block.at[k + 1]]
        cells = block.posteriors[block.at[k] : block.at[k + 1]]
        find_all(n, table, source, target, slots)
        for i in range(rows):
            for j in range(columns):
                slot = slots[i * columns + j]
                emit_forward[j, i] = emit_reverse[i, j] = UNSEEN
                if slot != MISSING:
                    emit_forward[j, i] += known.pairs[slot, 0]
                    emit_reverse[i, j] += known.pairs[slot, 1]
        for j in range(columns):
            word = target.words[t + j]
            null_forward[j] = UNSEEN + (known.null_target[word] if word >= 0 else 0.0)
        for i in range(rows):
            word = source.words[s + i]
            null_reverse[i] = UNSEEN + (known.null_source[word] if word >= 0 else 0.0)
        pick_probabilities(
            columns, rows, emit_forward, null_forward,
            chains.jumps[0], chains.null, room, forward, jumps[0],
        )  # fmt: skip
        pick_probabilities(
            rows, columns, emit_reverse, null_reverse,
            chains.jumps[1], chains.null, room, reverse, jumps[1],
        )  # fmt: skip
        for j in range(columns):
            rest = 1.0
            for i in range(rows):
                rest -= forward[j, i]
            block.null_target[t + j - target.at[block.first]] = max(rest, 0.0)
        for i in range(rows):
            rest = 1.0
            for j in range(columns):
                rest -= reverse[i, j]
            block.null_source[s + i - source.at[block.first]] = max(rest, 0.0)
        for i in range(rows):
            for j in range(columns):
                a, b = forward[j, i], reverse[i, j]
                cells[i * columns + j, 0] = a * b if agree else a
                cells[i * columns + j, 1] = a * b if agree else b


@nb.njit(cache=True, nogil=True)
def _pick(block, first, last, source, target, threshold, forward, reverse):
    for k in range(first, last):
        n = block.first + k
        s, t = source.at[n], target.at[n]
        rows, columns = source.at[n + 1] - s, target.at[n + 1] - t
        best_of_row, best_of_column = np.full(rows, threshold), np.full(columns, threshold)
        for i in range(rows):
            for j in range(columns):
                cell = block.at[k] + i * columns + j
                mean = math.sqrt(block.posteriors[cell, 0] * block.posteriors[cell, 1])
                if mean > best_of_column[j]:
                    best_of_column[j] = mean
                    forward[t + j] = i
                if mean > best_of_row[i]:
                    best_of_row[i] = mean
                    reverse[s + i] = j
