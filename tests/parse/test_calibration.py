"""Calibration: temperatures recover how sure scores should be, and never change a tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from treebridge.corpus.sentence import Sentence
from treebridge.parse.calibration import (
    GRID,
    Temperatures,
    calibration_error,
    fit_temperature,
    reliability,
)
from treebridge.parse.given import Given
from treebridge.parse.network import Scored
from treebridge.parse.predict import predict
from treebridge.parse.settings import ParserSettings
from treebridge.parse.ud_rules import Rules
from treebridge.parse.vocab import Names


def softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


@pytest.mark.parametrize("true", [0.5, 1.0, 2.5])
def test_the_temperature_of_too_sure_scores_is_found(true: float) -> None:
    """Choices drawn with scores s are most likely at temperature t if the network says t · s."""
    rng = np.random.default_rng(1)
    scores = 2 * rng.normal(size=(4000, 6))
    gold = np.array([rng.choice(6, p=row) for row in softmax(scores)])
    assert fit_temperature(true * scores, gold) == pytest.approx(true, rel=0.12)


def test_few_arcs_say_nothing() -> None:
    assert fit_temperature(np.eye(50), np.arange(50)) == 1.0
    assert np.isclose(GRID, 1).any()


def test_impossible_choices_are_ignored() -> None:
    """Shorter sentences have −inf where longer ones have words."""
    rng = np.random.default_rng(2)
    scores = 3 * rng.normal(size=(2000, 4))
    gold = np.array([rng.choice(4, p=row) for row in softmax(scores)])
    padded = np.concatenate([scores, np.full((2000, 3), -np.inf)], 1)
    assert fit_temperature(padded, gold) == fit_temperature(scores, gold)


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


class Fixed:
    """A network with given scores."""

    settings = ParserSettings()
    at_once = batch_words = 1

    def __init__(self, seed: int, n: int):
        rng = np.random.default_rng(seed)
        self.arcs = 4 * rng.normal(size=(1, n, n + 1)).astype(np.float32)
        self.arcs[0, np.arange(n), np.arange(1, n + 1)] = -np.inf
        self.named = 4 * rng.normal(size=(1, n, 3)).astype(np.float32)

    def score(self, vectors, lengths, tags) -> Scored:
        return Scored(self.arcs, None, lambda heads: self.named)


@given(st.integers(0, 1000), st.integers(1, 8), st.floats(0.3, 6), st.floats(0.3, 6))
def test_temperatures_change_confidence_but_no_tree(
    seed: int, n: int, arc: float, label: float
) -> None:
    network, empty = Fixed(seed, n), np.full((1, n), -1)
    vectors, lengths, names = np.zeros((1, n, 2), np.float32), np.array([n]), ["det", "obj", "root"]
    nothing = Given.of([Sentence.from_words(["w"] * n)], Names(names), Names([]))
    rules = Rules.of(names, [])
    plain = predict(network, vectors, lengths, empty, rules, nothing)
    heated = predict(network, vectors, lengths, empty, rules, nothing, Temperatures(arc, label))
    np.testing.assert_array_equal(plain.heads, heated.heads)
    np.testing.assert_array_equal(plain.labels, heated.labels)
    expected = softmax(network.arcs / arc)[0, np.arange(n), plain.heads[0]]
    np.testing.assert_allclose(heated.arc_probabilities[0], expected, rtol=1e-3, atol=1e-6)
