"""Decoding: sentences per second where the arg-max is a tree and where it never is.

python benchmarks/decode.py [sentences]

The peers, on the hard sentences, do not promise one root: networkx (on 100 of them) and, if
somebody has installed it, ufal.chu_liu_edmonds (C++; GPL, so no dependency of ours).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from treebridge.parse.mst import decode, decode_batch, single_root_mst

Matrix = NDArray[np.float32]
BATCH = 64


def log_probabilities(n: int, tree: bool, rng: np.random.Generator) -> Matrix:
    """Scores of a confident parser whose arg-max is a random tree, or has a cycle."""
    heads = np.zeros(n + 1, int)
    order = rng.permutation(n) + 1
    for i in range(1, n):
        heads[order[i]] = order[rng.integers(i)]
    if not tree:  # every third word and its neighbour take each other for the head
        words = np.arange(1, n, 3)
        heads[words], heads[words + 1] = words + 1, words
    logits = rng.normal(size=(n + 1, n + 1))
    logits[np.arange(n + 1), heads] += 8
    return (logits - np.log(np.exp(logits).sum(1, keepdims=True))).astype(np.float32)


def batches(sentences: list[Matrix]) -> list[tuple[Matrix, NDArray[np.int64]]]:
    """Sentences of about the same length side by side, as the parser has them."""
    sentences = sorted(sentences, key=len)
    out = []
    for start in range(0, len(sentences), BATCH):
        part = sentences[start : start + BATCH]
        padded = np.zeros((len(part), len(part[-1]), len(part[-1])), np.float32)
        for row, scores in zip(padded, part, strict=True):
            row[: len(scores), : len(scores)] = scores
        out.append((padded, np.array([len(scores) - 1 for scores in part])))
    return out


def rate(work: Callable[[], object], sentences: int, repeats: int = 5) -> float:
    """Sentences per second of processor time in the best of a few runs: others may be busy too."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return sentences / min(times)


def by_networkx(sentences: Iterable[Matrix]) -> None:
    for scores in sentences:
        graph = nx.DiGraph()
        for word in range(1, len(scores)):
            for head in range(len(scores)):
                if head != word:
                    graph.add_edge(head, word, weight=float(scores[word, head]))
        nx.maximum_spanning_arborescence(graph)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    rng = np.random.default_rng(1)
    # About the lengths of EWT: mean 15, a third up to 8 words, a few over 50.
    lengths = np.clip(rng.gamma(1.4, 11, count).astype(int), 2, 100)
    print(f"{count} sentences of {lengths.mean():.1f} words on average, longest {lengths.max()}")
    decode(np.zeros((2, 2), np.float32))  # compiled, or read from numba's cache
    rates = {}
    for tree in (True, False):
        sentences = [log_probabilities(n, tree, rng) for n in lengths]
        work = batches(sentences)
        rates[tree] = rate(lambda work=work: [decode_batch(*one) for one in work], count)  # type: ignore[misc]
        kind = "every arg-max is a tree" if tree else "no arg-max is a tree"
        print(
            f"decode_batch, {kind}: {rates[tree]:,.0f} sentences/s, {1e6 / rates[tree]:.1f} µs each"
        )
    ours = rate(lambda: [single_root_mst(scores) for scores in sentences], count)
    theirs = rate(lambda: by_networkx(sentences[:100]), 100, 1)
    print(
        f"one by one, no arg-max is a tree: {ours:,.0f} sentences/s; "
        f"networkx {theirs:,.0f}, ratio {ours / theirs:,.0f}"
    )
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds
    except ImportError:
        print("ufal.chu_liu_edmonds left out: not installed")
    else:
        doubles = [scores.astype(np.float64) for scores in sentences]
        for scores in doubles:
            scores[0] = np.nan  # its sign for arcs that do not exist
            np.fill_diagonal(scores, np.nan)
        theirs = rate(lambda: [chu_liu_edmonds(scores) for scores in doubles], count)
        roots = sum(list(chu_liu_edmonds(scores)[0]).count(0) != 1 for scores in doubles)
        print(
            f"ufal.chu_liu_edmonds {theirs:,.0f}, ratio {ours / theirs:.1f}; "
            f"{roots} of its {count} trees have several roots"
        )
    long = log_probabilities(500, False, rng)
    print(f"500 words, no tree: {1e3 / rate(lambda: decode(long), 1):.1f} ms")


if __name__ == "__main__":
    main()
