"""Spanning trees: against brute force, against networkx, and whatever the scores are, a tree."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from treebridge import TreebridgeError
from treebridge.corpus.trees import tree_problem
from treebridge.parse.mst import decode, decode_batch, single_root_mst

Matrix = NDArray[np.float64]


@cache
def all_trees(n: int) -> Matrix:
    """The heads of every single-root tree of n words: n^(n-1) of them."""
    found = [
        heads
        for heads in itertools.product(range(n + 1), repeat=n)
        if heads.count(0) == 1 and tree_problem(heads) is None
    ]
    assert len(found) == n ** (n - 1)
    return np.array(found)


def total(scores: Matrix, heads: NDArray[np.int64]) -> NDArray[np.float64]:
    """The score of a tree, or of each of many."""
    return scores[np.arange(1, len(scores)), heads].sum(-1)


@st.composite
def matrices(draw: st.DrawFn, max_words: int = 6, forbidden: bool = True) -> Matrix:
    """Scores of all kinds: whole numbers with many ties, log-probabilities, some forbidden."""
    n = draw(st.integers(1, max_words))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = {
        "ties": rng.integers(-2, 3, (n + 1, n + 1)).astype(float),
        "whole": rng.integers(-1000, 1000, (n + 1, n + 1)).astype(float),
        "log": np.log(rng.dirichlet(np.full(n + 1, 0.3), n + 1) + 1e-30),
    }[draw(st.sampled_from(["ties", "whole", "log"]))]
    scores[:, 0] += draw(st.sampled_from([0, 0, 500, -500]))  # many words want to be the root
    if forbidden:
        scores[rng.random(scores.shape) < draw(st.sampled_from([0, 0, 0.3, 0.8]))] = -np.inf
    return scores


@given(matrices())
def test_brute_force(scores: Matrix) -> None:
    best = total(scores, all_trees(len(scores) - 1)).max()
    for decoder in (decode, single_root_mst):
        heads = decoder(scores)
        assert tree_problem(heads.tolist()) is None
        if best == -np.inf:  # no tree is allowed, but one is given
            assert total(scores, heads) == best
        else:
            assert total(scores, heads) == pytest.approx(best, rel=1e-12, abs=1e-9)


def networkx_best(scores: Matrix) -> float:
    """The best over all choices of the one word that hangs from the root."""
    n = len(scores) - 1
    best = -np.inf
    for root in range(1, n + 1):
        graph = nx.DiGraph()
        graph.add_edge(0, root, weight=scores[root, 0])
        for word, head in itertools.permutations(range(1, n + 1), 2):
            graph.add_edge(head, word, weight=scores[word, head])
        tree = nx.maximum_spanning_arborescence(graph)
        best = max(best, sum(weight for _, _, weight in tree.edges(data="weight")))
    return best


@pytest.mark.parametrize("n", [7, 10, 14])
@pytest.mark.parametrize("kind", ["whole", "real"])
def test_networkx_on_larger_graphs(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    scores = rng.normal(size=(n + 1, n + 1)) * 10
    scores[:, 0] += 5
    scores = scores.round() if kind == "whole" else scores
    heads = single_root_mst(scores)
    assert tree_problem(heads.tolist()) is None
    assert total(scores, heads) == pytest.approx(networkx_best(scores))


@given(st.integers(1, 60), st.integers(0, 2**32), st.sampled_from([np.float32, np.float64]))
def test_both_ways_agree(n: int, seed: int, dtype: type) -> None:
    """Distinct scores have one best tree; arg-max first or not, square or without row 0."""
    scores = np.random.default_rng(seed).normal(size=(n + 1, n + 1)).astype(dtype)
    heads = single_root_mst(scores)
    assert tree_problem(heads.tolist()) is None
    assert (decode(scores) == heads).all()
    assert (decode(scores[1:]) == heads).all()


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_the_arg_max_is_kept_where_it_is_a_tree(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n) + 1
    heads = np.zeros(n, int)
    for i in range(1, n):
        heads[order[i] - 1] = order[rng.integers(i)]
    scores = rng.normal(size=(n + 1, n + 1))
    scores[np.arange(1, n + 1), heads] += 100
    assert (decode(scores) == heads).all()
    assert (single_root_mst(scores) == heads).all()


def test_small_differences_survive_in_a_long_sentence() -> None:
    """A constant that forbids a second root, 500 · 100 + 1 here, would swallow them."""
    n = 500
    scores = np.full((n + 1, n + 1), -100.0)
    scores[:, 0] = 0  # every word would rather be the root
    scores[7, 0] = 1e-12
    words = np.arange(8, n + 1)
    scores[words, words - 1] += 1e-12
    heads = single_root_mst(scores)
    assert tree_problem(heads.tolist()) is None
    assert heads[6] == 0 and (heads[7:] == words - 1).all()


@given(matrices(max_words=30), st.randoms(use_true_random=False))
def test_a_sentence_alone_and_in_a_batch(scores: Matrix, rng) -> None:
    """What stands in the padding, in row 0 and on the diagonal is never looked at."""
    n = len(scores) - 1
    batch = np.full((3, n + 4, n + 4), np.nan)
    inside = ~np.eye(n + 1, dtype=bool)
    inside[0] = False
    batch[1, : n + 1, : n + 1][inside] = scores[inside]
    heads = decode_batch(batch, [0, n, 0])
    assert (heads[1, :n] == decode(scores)).all()
    assert (heads[[0, 2]] == -1).all() and (heads[1, n:] == -1).all()


def test_a_batch_of_many_lengths_in_threads() -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 50, 300)
    batch = rng.normal(size=(300, 50, 50)).astype(np.float32)
    heads = decode_batch(batch, lengths)
    with ThreadPoolExecutor(3) as pool:
        parts = pool.map(decode_batch, np.split(batch, 3), np.split(lengths, 3))
    assert (np.concatenate(list(parts)) == heads).all()
    for row, n, scores in zip(heads, lengths, batch, strict=True):
        assert (row[:n] == decode(scores[: n + 1, : n + 1])).all() and (row[n:] == -1).all()
        assert n == 0 or tree_problem(row[:n].tolist()) is None


def test_one_word_none_and_five_hundred() -> None:
    assert decode(np.zeros((2, 2))).tolist() == [0]
    assert decode(np.full((1, 2), -np.inf)).tolist() == [0]
    assert decode(np.zeros((1, 1))).tolist() == single_root_mst(np.zeros((0, 1))).tolist() == []
    assert decode_batch(np.zeros((0, 3, 3))).shape == (0, 2)
    for scores in (np.zeros((501, 501)), np.full((501, 501), -np.inf)):
        assert tree_problem(decode(scores).tolist()) is None


def test_one_root_even_where_only_the_root_is_allowed() -> None:
    scores = np.full((10, 10), -np.inf)
    scores[:, 0] = 5
    scores[4, 0] = 6
    for decoder in (decode, single_root_mst):
        heads = decoder(scores)
        assert tree_problem(heads.tolist()) is None and heads[3] == 0


def test_cycles_within_cycles() -> None:
    """Pairs that love each other, in pairs of pairs, and so on: the deepest contraction."""
    n = 256
    level = np.zeros((n + 1, n + 1))
    for i, j in itertools.product(range(n), repeat=2):
        level[i + 1, j + 1] = -(i ^ j).bit_length()
    level[1:, 0] = -20
    heads = single_root_mst(level)
    assert tree_problem(heads.tolist()) is None
    # Kruskal: n/2 arcs of cost 1, n/4 of cost 2, …, one of cost 8, and the root.
    assert total(level, heads) == -20 - sum((n >> k) * k for k in range(1, 9))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("decoder", [decode, single_root_mst])
def test_scores_that_are_no_numbers(bad: float, decoder) -> None:
    scores = np.zeros((5, 5))
    scores[3, 2] = bad
    with pytest.raises(TreebridgeError, match="score of head 2 for word 3 of sentence 1"):
        decoder(scores)
    with pytest.raises(TreebridgeError, match="of sentence 2 in this batch"):
        decode_batch(np.stack([np.zeros((5, 5)), scores]))


def test_wrong_shapes() -> None:
    for shape in [(3,), (4, 2), (2, 4), (0, 0)]:
        with pytest.raises(ValueError, match="expected"):
            decode(np.zeros(shape))
    with pytest.raises(ValueError, match=r"expected \(batch, n\+1, n\+1\)"):
        decode_batch(np.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match="for 2 sentences"):
        decode_batch(np.zeros((2, 3, 3)), [1])
    for lengths in ([1, 3], [-1, 2]):
        with pytest.raises(ValueError, match="expected 0 to 2"):
            decode_batch(np.zeros((2, 3, 3)), lengths)
