"""Judge a bridged parser by trees, without target trees.

The source parser parses the source side of held-out sentence pairs, and links carry its arcs to the
target side: an arc is carried if both of its words are linked, and a root if its word is. The
agreement is the share of the carried arcs that the bridged parser finds in the target sentence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.layout import LinkArray, is_held_out
from treebridge.bridge.settings import CollectSettings
from treebridge.corpus.bitext import Pair
from treebridge.corpus.punctuation import is_only_punctuation
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.trees import given_heads
from treebridge.encode.encoder import Encoder
from treebridge.parse.padding import Rows
from treebridge.parse.parser import Parser

PAIRS = 1000  # judged at most
MIN_ARCS = 200  # fewer say too little
SHORTEST, LONGEST = 3, 60  # words on either side
RESAMPLES = 1000  # of the bootstrap
Bools = NDArray[np.bool_]
LinkedPair = tuple[Pair, LinkArray]


def held_out_pairs(
    pairs: Iterable[LinkedPair], settings: CollectSettings, most: int = PAIRS
) -> list[LinkedPair]:
    """The first held-out pairs of suitable length; no bridge is fitted on them."""
    found: list[LinkedPair] = []
    for _ in without_held_out(pairs, settings, found, most):
        if len(found) == most:
            break
    return found


def without_held_out(
    pairs: Iterable[LinkedPair],
    settings: CollectSettings,
    held: list[LinkedPair],
    most: int = PAIRS,
) -> Iterator[LinkedPair]:
    """Yield the pairs that are not held out, and add suitable ones that are to `held`."""
    for number, (pair, links) in enumerate(pairs):
        if not is_held_out(number, settings):
            yield pair, links
        elif (
            len(held) < most
            and len(links)
            and all(SHORTEST <= len(side) <= LONGEST for side in pair)
        ):
            held.append((pair, links))


@dataclass(frozen=True)
class Carried:
    """Source arcs on target words, one entry per arc."""

    sentence: NDArray[np.int64]
    word: NDArray[np.int64]
    head: NDArray[np.int64]  # 0 is the root
    label: NDArray[np.str_]
    tag: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.word)


@dataclass(frozen=True)
class Trial:
    """Held-out target sentences, encoded once, with the arcs carried over to them."""

    sentences: list[Sentence]
    vectors: list[Rows]  # of the target encoder, unmapped
    carried: Carried

    @classmethod
    def prepare(cls, pairs: Sequence[LinkedPair], teacher: Parser, target: Encoder) -> Trial | None:
        """Parse the source sides with the source parser and encode the target sides.

        None if the source parser needs gold tags, or if too few arcs are carried over.
        """
        if teacher.settings.tags == "gold" or not pairs:
            return None
        source = teacher.load_encoder().encode([pair.source for pair, _ in pairs])
        words = [Sentence.from_words(pair.source) for pair, _ in pairs]
        parsed = teacher.parse_vectors(words, [item.vectors for item in source])
        carried = carry_arcs([one.sentence for one in parsed], pairs)
        if len(carried) < MIN_ARCS:
            return None
        return cls(
            [Sentence.from_words(pair.target) for pair, _ in pairs],
            [item.vectors for item in target.encode([pair.target for pair, _ in pairs])],
            carried,
        )

    def read_by(self, encoder: Encoder) -> Trial:
        """The same trial with vectors of another encoder of the target language."""
        encoded = encoder.encode([sentence.forms for sentence in self.sentences])
        return replace(self, vectors=[item.vectors for item in encoded])

    @property
    def words(self) -> int:
        """Number of target words, without punctuation."""
        return sum(not is_only_punctuation(w) for sent in self.sentences for w in sent.forms)

    def digest(self) -> str:
        """A hash of the sentences and the carried arcs."""
        digest = hashlib.sha256(repr([sentence.forms for sentence in self.sentences]).encode())
        for column in vars(self.carried).values():
            digest.update(repr(column.tolist()).encode())
        return digest.hexdigest()

    def judge(self, bridged: Parser) -> Agreement:
        """Parse the target sentences and compare the trees with the carried arcs."""
        parsed = bridged.parse_vectors(self.sentences, self.vectors)
        carried = self.carried
        places = list(zip(carried.sentence.tolist(), carried.word.tolist(), strict=True))
        trees = [one.sentence for one in parsed]
        heads = np.array([trees[k].heads[word] for k, word in places], np.int64)
        labels = np.array([trees[k].deprels[word] for k, word in places], np.str_)
        tags = np.array([trees[k].upos[word] for k, word in places], np.str_)
        right = heads == carried.head
        sure = np.array([parsed[k].arcs[word] for k, word in places], np.float64)
        return Agreement(
            carried,
            self.words,
            right,
            right & (labels == carried.label),
            tags == carried.tag,
            heads,
            labels,
            sure,
        )


def carry_arcs(trees: Sequence[Sentence], pairs: Sequence[LinkedPair]) -> Carried:
    """The arcs of source trees whose two words are linked, on target words; no punctuation."""
    found: list[tuple[int, int, int, str, str]] = []
    for number, (tree, (pair, links)) in enumerate(zip(trees, pairs, strict=True)):
        to_target = {int(i): int(j) for i, j in links}
        for i, j in to_target.items():
            head = tree.heads[i]
            if is_only_punctuation(pair.target[j]) or (head and head - 1 not in to_target):
                continue
            there = to_target[head - 1] + 1 if head else 0
            found.append((number, j, there, tree.deprels[i], tree.upos[i]))
    return _as_columns(found)


def known_arcs(trees: Sequence[Sentence]) -> Carried:
    """The annotated arcs of trees, as if they had been carried over; no punctuation."""
    return _as_columns(
        [
            (number, word, head, tree.deprels[word], tree.upos[word])
            for number, tree in enumerate(trees)
            for word, head in enumerate(given_heads(tree))
            if head is not None and not is_only_punctuation(tree.forms[word])
        ]
    )


def _as_columns(arcs: Sequence[tuple[int, int, int, str, str]]) -> Carried:
    sentence, word, heads, labels, tags = list(zip(*arcs, strict=True)) or [()] * 5
    return Carried(
        np.array(sentence, np.int64),
        np.array(word, np.int64),
        np.array(heads, np.int64),
        np.array(labels, np.str_),
        np.array(tags, np.str_),
    )


@dataclass(frozen=True)
class Agreement:
    """Which carried arcs a bridged parser finds: heads, heads with labels, and tags."""

    carried: Carried
    words: int  # in the same sentences, without punctuation
    heads: Bools  # [arcs]
    labelled: Bools  # [arcs]
    tags: Bools  # [arcs]
    chosen_heads: NDArray[np.int64]  # [arcs], by the parser
    chosen_labels: NDArray[np.str_]  # [arcs]
    confidence: NDArray[np.float64]  # [arcs], in the chosen heads

    def __len__(self) -> int:
        return len(self.carried)

    @property
    def uas(self) -> float:
        """Carried heads found, in percent."""
        return percent(self.heads)

    @property
    def las(self) -> float:
        """Carried heads found with their labels, in percent."""
        return percent(self.labelled)

    @property
    def upos(self) -> float:
        """Carried tags found, in percent."""
        return percent(self.tags)

    def interval(self) -> tuple[float, float]:
        """A 95 % bootstrap interval of the LAS, over sentences."""
        return _interval(self._counts(self.labelled), self._counts(np.ones(len(self), bool)))

    def gain_over(self, other: Agreement) -> tuple[float, float, float]:
        """Difference in LAS on the same arcs, with its 95 % interval (paired bootstrap)."""
        gain = self.labelled.astype(np.int64) - other.labelled
        low, high = _interval(self._counts(gain), self._counts(np.ones(len(self), bool)))
        return self.las - other.las, low, high

    def by_label(self) -> dict[str, dict[str, float]]:
        """Label → its number of carried arcs, LAS and word order, the most frequent first."""
        labels, counts = np.unique(self.carried.label, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        precedes = (self.carried.word + 1 < self.carried.head) & (self.carried.head > 0)
        found = {}
        for k in order:
            here = self.carried.label == labels[k]
            found[str(labels[k])] = {
                "arcs": int(counts[k]),
                "LAS": percent(self.labelled[here]),
                "before": percent(precedes[here]),  # dependents that precede their head
            }
        return found

    def as_dict(self) -> dict[str, Any]:
        """The figures as saved in config.json and printed by `--json`."""
        low, high = self.interval()
        return {
            "sentences": len(np.unique(self.carried.sentence)),
            "arcs": len(self),
            "coverage": 100 * len(self) / max(1, self.words),
            "UAS": self.uas,
            "LAS": self.las,
            "UPOS": self.upos,
            "LAS_low": low,
            "LAS_high": high,
            "labels": self.by_label(),
        }

    def _counts(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Sum of the values in each sentence that has carried arcs."""
        _, index = np.unique(self.carried.sentence, return_inverse=True)
        return np.asarray(np.bincount(index, values), np.float64)


def percent(right: NDArray[Any]) -> float:
    """The share of true values, in percent; NaN if there are none at all."""
    return 100 * float(right.mean()) if len(right) else float("nan")


def _interval(part: NDArray[np.float64], whole: NDArray[np.float64]) -> tuple[float, float]:
    """A 95 % interval of 100 · Σ part / Σ whole, resampling sentences."""
    if not len(part):
        return float("nan"), float("nan")
    drawn = np.random.default_rng(0).integers(len(part), size=(RESAMPLES, len(part)))
    shares = 100 * part[drawn].sum(1) / whole[drawn].sum(1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)
