"""Calibration: temperatures recover how sure scores should be, and never change a tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from test_given import RULES, Random, given_for

from treebridge.parse.calibration import (
    GRID,
    Temperatures,
    calibration_error,
    fit_temperature,
    reliability,
)
from treebridge.parse.predict import predict


def softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


@pytest.mark.parametrize("true", [0.5, 1.0, 2.5])
def test_the_temperature_of_too_sure_scores_is_found(true: float) -> None:
    """Choices drawn with scores s: a network that says t · s has temperature t."""
    rng = np.random.default_rng(1)
    scores = 2 * rng.normal(size=(6000, 6))
    gold = np.array([rng.choice(6, p=row) for row in softmax(scores)])
    chosen = scores.argmax(1)
    accuracy = float((gold == chosen).mean())
    assert fit_temperature(true * scores, chosen, accuracy) == pytest.approx(true, rel=0.12)


def test_few_arcs_say_nothing() -> None:
    assert fit_temperature(np.eye(50), np.arange(50), 0.5) == 1.0
    assert np.isclose(GRID, 1).any()


def test_impossible_choices_are_ignored() -> None:
    """Shorter sentences have −inf where longer ones have words."""
    scores = 3 * np.random.default_rng(2).normal(size=(2000, 4))
    padded = np.concatenate([scores, np.full((2000, 3), -np.inf)], 1)
    chosen = scores.argmax(1)
    assert fit_temperature(padded, chosen, 0.7) == fit_temperature(scores, chosen, 0.7)


@given(st.integers(0, 1000), st.integers(1, 400))
def test_reliability_is_that_of_scikit_learn(seed: int, arcs: int) -> None:
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.001, 0.999, arcs)
    right = rng.uniform(size=arcs) < confidence
    bins = reliability(confidence, right)
    accuracy, mean = calibration_curve(right, confidence, n_bins=10)
    np.testing.assert_allclose([one.accuracy for one in bins], accuracy)
    np.testing.assert_allclose([one.confidence for one in bins], mean)
    assert sum(one.arcs for one in bins) == arcs


def test_the_error_is_the_mean_gap() -> None:
    confidence = np.array([0.95, 0.95, 0.55, 0.55])
    right = np.array([True, False, True, True])
    bins = reliability(confidence, right)
    assert calibration_error(bins) == pytest.approx((2 * 0.45 + 2 * 0.45) / 4)
    assert reliability(np.array([1.0]), np.array([True]))[0].arcs == 1
    assert np.isnan(calibration_error([]))


@given(st.integers(0, 1000), st.integers(1, 8), st.floats(0.3, 6), st.floats(0.3, 6))
def test_temperatures_change_confidence_but_no_tree(
    seed: int, n: int, arc: float, label: float
) -> None:
    vectors, lengths, unknown = np.zeros((1, n, 1), np.float32), np.array([n]), np.full((1, n), -1)
    given = (vectors, lengths, unknown, RULES, given_for(n))
    plain = predict(Random(seed), *given)
    heated = predict(Random(seed), *given, heat=Temperatures(arc, label))
    np.testing.assert_array_equal(plain.heads, heated.heads)
    np.testing.assert_array_equal(plain.labels, heated.labels)
    scores = Random(seed).score(vectors, lengths, unknown).arcs
    expected = softmax(scores / arc)[0, np.arange(n), plain.heads[0]]
    np.testing.assert_allclose(heated.arc_probabilities[0], expected, rtol=1e-3, atol=1e-6)
