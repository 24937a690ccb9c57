"""Word order is estimated from links; reordered source trees keep their structure."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import tree_heads
from treebridge.parse.word_order import LEAST, WordOrder, reorder

AMOD, DET = 0, 1
HEADS = np.array([3, 3, 4, 0])  # the big house stands
LABELS = np.array([DET, AMOD, 2, 3])


def test_arcs_with_both_ends_linked_are_counted() -> None:
    order = WordOrder()
    turned = np.array([[0, 0], [1, 2], [2, 1], [3, 3]])  # the house big stands
    for _ in range(LEAST):
        order.add(HEADS, LABELS, turned)
    order.add(HEADS, LABELS, turned[:1])  # no arc has both ends linked
    assert order.flips() == {(AMOD, True): 1.0, (DET, True): 0.0, (2, True): 0.0}
    few = WordOrder()
    few.add(HEADS, LABELS, turned)
    assert few.flips() == {}


def test_a_dependent_moves_next_to_its_head_on_the_other_side() -> None:
    rng = np.random.default_rng(1)
    assert reorder(HEADS, LABELS, {(AMOD, True): 1.0}, rng).tolist() == [0, 2, 1, 3]
    both = {(AMOD, True): 1.0, (DET, True): 1.0}
    assert reorder(HEADS, LABELS, both, rng).tolist() == [2, 1, 0, 3], "mirrored"
    verb_first = np.array([0, 1, 2]), np.array([3, 2, AMOD])  # stands house big
    found = reorder(*verb_first, {(2, False): 1.0}, rng)
    assert found.tolist() == [1, 2, 0], "what depends on it comes along"
    two = np.array([0, 1, 1]), np.array([3, AMOD, AMOD])  # house big red
    assert reorder(*two, {(AMOD, False): 1.0}, rng).tolist() == [2, 1, 0], "mirrored, too"
    half = [reorder(HEADS, LABELS, {(AMOD, True): 0.5}, rng).tolist() for _ in range(200)]
    assert 60 < half.count([0, 1, 2, 3]) < 140


@settings(deadline=None)
@given(tree_heads(), st.floats(0, 1), st.integers(0, 9))
def test_an_order_is_a_permutation_and_only_flips_move_words(
    heads: list[int], chance: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    kinds = np.arange(len(heads)) % 3
    flips = {(kind, side): chance for kind in range(3) for side in (False, True)}
    order = reorder(np.array(heads), kinds, flips, rng)
    assert sorted(order.tolist()) == list(range(len(heads)))
    assert reorder(np.array(heads), kinds, {}, rng).tolist() == list(range(len(heads)))
