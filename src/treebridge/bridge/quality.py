"""Quality of a bridge, measured on held-out sentence pairs without any target tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.isotropy import unit
from treebridge.bridge.layout import Chooser, LinkArray
from treebridge.bridge.mapping import ROWS, csls, similarities
from treebridge.corpus.bitext import Pair

QUERIES, CANDIDATES = 2_000, 10_000
Vectors = NDArray[np.floating]


@dataclass
class HeldOut:
    """Occurrences from sentence pairs the bridge was not fitted on, as raw unit vectors."""

    target: NDArray[np.float32]
    source: NDArray[np.float32]
    target_words: list[str]
    source_words: list[str]

    def __len__(self) -> int:
        return len(self.target_words)


def collect_held_out(pairs: Iterable[tuple[Pair, LinkArray]], chooser: Chooser) -> HeldOut:
    """Encode held-out pairs until there are enough links."""
    chosen: list[tuple[Pair, list[tuple[int, int, str]]]] = []
    total = 0
    for number, (pair, links) in enumerate(pairs):
        if chooser.is_held_out(number) and (found := chooser.links(pair, links)):
            chosen.append((pair, found))
            total += len(found)
            if total >= CANDIDATES:
                break
    left = chooser.target.encode([pair.target for pair, _ in chosen])
    right = chooser.source.encode([pair.source for pair, _ in chosen])
    held = HeldOut(
        np.zeros((total, chooser.target.dim), np.float32),
        np.zeros((total, chooser.source.dim), np.float32),
        [],
        [],
    )
    row = 0
    for (pair, found), x, y in zip(chosen, left, right, strict=True):
        for i, j, word in found:
            held.target[row], held.source[row] = x.vectors[j], y.vectors[i]
            held.target_words.append(word)
            held.source_words.append(pair.source[i].lower())
            row += 1
    return held


def mean_cosine(x: Vectors, y: Vectors) -> float:
    """Mean cosine of paired rows."""
    if x.shape != y.shape or not len(x):
        return float("nan")
    total = 0.0
    for start in range(0, len(x), ROWS):
        left, right = (unit(v[start : start + ROWS].astype(np.float64)) for v in (x, y))
        total += float((left * right).sum())
    return total / len(x)


def retrieval(
    queries: Vectors, answers: list[str], candidates: Vectors, words: list[str], seed: int = 0
) -> dict[str, float]:
    """Retrieval of the aligned word: P@1 and P@5 in percent, by nearest neighbour and by CSLS.

    Any candidate whose word is answers[q] is a correct answer to query q.
    """
    if queries.shape[1] != candidates.shape[1] or not len(queries):
        return {}
    chosen = np.random.default_rng(seed).permutation(len(queries))[:QUERIES]
    x = unit(queries[chosen].astype(np.float64)).astype(np.float32)
    y = unit(candidates[:CANDIDATES].astype(np.float64)).astype(np.float32)
    names = np.array(words[:CANDIDATES])
    wanted = np.array([answers[q] for q in chosen])
    result = {}
    for name, scores in (("nn", similarities(x, y)), ("csls", csls(x, y))):
        top = np.vstack([_best(score) for score in scores])
        right = names[top] == wanted[:, None]
        result[f"{name}_p1"] = 100 * float(right[:, 0].mean())
        result[f"{name}_p5"] = 100 * float(right.any(1).mean())
    return result


def _best(scores: NDArray[np.floating], n: int = 5) -> NDArray[np.int64]:
    """The n highest-scoring columns of each row, best first."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return order[:, :n].copy()  # a view would keep the whole order in memory


def chance_level(answers: list[str]) -> float:
    """P@1 in percent of guessing at random, as a useless bridge would."""
    _, counts = np.unique(np.array(answers), return_counts=True)
    shares = counts / counts.sum()
    return 100 * float((shares**2).sum())


def verdict(p1: float, chance: float) -> str:
    """Quality in one line, from P@1 and the P@1 expected by chance, in percent."""
    if p1 < 3 * chance:
        return (
            f"useless: {p1:.1f} % of held-out words found, {chance:.1f} % expected by chance; "
            "check that source and target are not swapped and that the bitext is parallel"
        )
    if p1 < 40:
        return (
            f"weak: {p1:.1f} % of held-out words found; use more parallel text or better encoders"
        )
    if p1 < 60:
        return f"fair: {p1:.1f} % of held-out words found"
    return f"good: {p1:.1f} % of held-out words found"
