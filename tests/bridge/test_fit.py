"""Fitting a map: weights of types and of their occurrences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from latent import DIM, LatentEncoder

from treebridge.bridge.collect import Occurrences
from treebridge.bridge.fit import fit_bridge, judge
from treebridge.bridge.isotropy import anisotropy
from treebridge.bridge.layout import Layout
from treebridge.bridge.quality import HeldOut
from treebridge.bridge.settings import FitSettings
from treebridge.corpus.artificial import World

WORLD = World(5)
SOURCE, TARGET = (LatentEncoder(WORLD.languages[name]) for name in ("source", "near"))
TYPES = 80
BY_OCCURRENCE = FitSettings(level="occurrence", isotropy=False, map="least-squares")


def occurrences_of(times: np.ndarray) -> Occurrences:
    """Type t occurs times[t] times, always with the same two random vectors."""
    rng = np.random.default_rng(1)
    rows = np.repeat(np.arange(TYPES), times)
    target, source = (rng.normal(size=(TYPES, DIM)).astype(np.float16)[rows] for _ in range(2))
    offsets = np.concatenate([[0], np.cumsum(times)])
    layout = Layout([f"word{t}" for t in range(TYPES)], offsets, times)
    return Occurrences(layout, target, source, np.zeros((len(rows), 3), np.int32))


def fitted(times: np.ndarray, settings: FitSettings) -> np.ndarray:
    return fit_bridge(occurrences_of(times), SOURCE, TARGET, None, settings)[0].w


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_occurrences_of_a_type_share_its_weight(power: float) -> None:
    """Fitting on identical occurrences equals fitting on weighted anchors."""
    name = {0.0: "none", 0.5: "sqrt", 1.0: "count"}[power]
    once = np.ones(TYPES, np.int64)
    often = np.random.default_rng(2).integers(1, 9, TYPES)
    x, y = (
        part.astype(np.float64)
        for part in (occurrences_of(once).target, occurrences_of(once).source)
    )
    root = np.sqrt(often**power)[:, None]
    expected = np.linalg.lstsq(root * x, root * y, rcond=None)[0].T
    found = fitted(often, replace(BY_OCCURRENCE, weighting=name))
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_anisotropy_is_that_of_all_occurrences_where_they_are_few() -> None:
    found = occurrences_of(np.full(TYPES, 3))
    bridge = fit_bridge(found, SOURCE, TARGET, None, FitSettings(level="word"))[0]
    words = found.layout.types
    held = HeldOut(found.target[::3], found.source[::3], words, words)
    judge(bridge, found, held)
    shown = bridge.quality["anisotropy"]
    assert shown["target"] == anisotropy(found.target)
    assert shown["target_isotropic"] == anisotropy(bridge.target.transform(found.target))
    assert shown["source_isotropic"] == anisotropy(bridge.into.transform(found.source))
