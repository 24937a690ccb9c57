"""The paired bootstrap: exact differences, correct intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treebridge.experiment.bootstrap import paired_bootstrap

NAMES = ("a", "b")


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(1, 30), st.data()), min_size=1, max_size=30))
def test_the_difference_equals_that_of_the_scores_and_swapping_negates_it(rows) -> None:
    words = [n for n, _ in rows]
    first = [data.draw(st.integers(0, n)) for n, data in rows]
    second = [data.draw(st.integers(0, n)) for n, data in rows]
    one = paired_bootstrap(NAMES, "pt", [words], [first], [second])
    assert one.difference == pytest.approx(100 * (sum(first) - sum(second)) / sum(words))
    assert one.low <= one.high and 0 <= one.p <= 1
    other = paired_bootstrap(NAMES, "pt", [words], [second], [first])
    assert other.difference == pytest.approx(-one.difference)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))


def test_clear_and_unclear_differences() -> None:
    rng = np.random.default_rng(1)
    words = rng.integers(5, 30, 600)
    base = rng.binomial(words, 0.7)
    better = np.minimum(base + rng.binomial(1, 0.5, 600), words)
    sure = paired_bootstrap(NAMES, "pt", [words], [better], [base])
    assert sure.p == 0 and sure.low > 0
    same = paired_bootstrap(NAMES, "pt", [words], [base], [base])
    assert same.p == 1 and same.difference == same.low == same.high == 0
    luck = paired_bootstrap(NAMES, "pt", [words], [rng.permutation(base)], [rng.permutation(base)])
    assert luck.low < 0 < luck.high and 0.01 < luck.p < 0.99


def test_the_interval_matches_the_normal_distribution() -> None:
    """For sentences of equal length the difference is a mean, whose spread is known."""
    rng = np.random.default_rng(2)
    gain = rng.integers(-2, 4, 2000)
    words, second = np.full(2000, 10), np.full(2000, 5)
    found = paired_bootstrap(NAMES, "pt", [words], [second + gain], [second])
    error = 10 * gain.std() / 2000**0.5  # in points of LAS
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_seeds_of_a_sentence_stay_together() -> None:
    """Repeating the same results three times adds no evidence."""
    rng = np.random.default_rng(3)
    words = rng.integers(5, 30, 300)
    first, second = rng.binomial(words, 0.72), rng.binomial(words, 0.7)
    once = paired_bootstrap(NAMES, "pt", [words], [first], [second])
    thrice = paired_bootstrap(NAMES, "pt", [words] * 3, [first] * 3, [second] * 3)
    assert (once.low, once.high, once.p) == pytest.approx((thrice.low, thrice.high, thrice.p))
