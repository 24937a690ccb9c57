"""Senses: k-means against scikit-learn, elbows, anchors."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from treebridge import Bitext
from treebridge.bridge import senses
from treebridge.bridge.kmeans import SAMPLE, cluster
from treebridge.bridge.senses import anchors, elbow, sense_labels


def blobs(
    k: int, n: int, dim: int, seed: int, spread: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    points = rng.normal(size=(k, dim))[labels] + spread * rng.normal(size=(n, dim))
    return points.astype(np.float32), labels


def inertia_ratios(sets: list[np.ndarray]) -> np.ndarray:
    ours = [found.inertia for found in cluster(sets, range(len(sets)))]
    theirs = [
        [KMeans(k, n_init=10, random_state=0).fit(points).inertia_ for k in range(1, 8)]
        for points in sets
    ]
    return np.array(ours) / np.array(theirs)


def test_inertia_against_scikit_learn() -> None:
    shapes = [(1, 60), (2, 150), (5, 300), (9, 200)]
    ratios = inertia_ratios([blobs(k, n, 24, seed, 0.7)[0] for seed, (k, n) in enumerate(shapes)])
    assert ratios.mean() < 1.01 and ratios.max() < 1.05
    np.testing.assert_allclose(ratios[:, 0], 1, rtol=1e-4)


def test_real_blocks_against_scikit_learn(shared: Path) -> None:
    from treebridge.encode.encoder import Encoder

    encoder = Encoder.load(shared / "encoders/pt-marian-tiny")
    sentences = [p.target for p in islice(Bitext.read(shared / "data/bitext/en-pt.tsv.xz"), 700)]
    by_word = defaultdict(list)
    for words, encoded in zip(sentences, encoder.encode(sentences), strict=True):
        for word, vector in zip(words, encoded.vectors, strict=True):
            by_word[word.lower()].append(vector)
    sets = [np.array(v[:400]) for v in by_word.values() if len(v) > 100]
    ratios = inertia_ratios(sets)
    assert len(sets) >= 8
    assert ratios.mean() < 1.01 and ratios.max() < 1.05, (ratios.mean(), ratios.max())


def test_labels_match_inertia() -> None:
    points, _ = blobs(3, 200, 8, 1)
    (found,) = cluster([points], [5])
    for k in range(1, 8):
        labels = found.labels[k - 1]
        assert set(labels) <= set(range(k))
        means = np.array([points[labels == c].mean(0) for c in range(k) if (labels == c).any()])
        near = ((points[:, None] - means) ** 2).sum(-1).min(1).sum()
        assert near == pytest.approx(found.inertia[k - 1], rel=2e-2)
    assert all(np.diff(found.inertia) < 1e-3)


def test_results_do_not_depend_on_the_batch() -> None:
    sets = [blobs(3, n, 16, n)[0] for n in (120, 200, 333)]
    together = cluster(sets, [1, 2, 3])
    for points, seed, found in zip(sets, [1, 2, 3], together, strict=True):
        (alone,) = cluster([points], [seed])
        np.testing.assert_allclose(alone.inertia, found.inertia, rtol=1e-3)


def test_large_sets_are_sampled_but_all_assigned() -> None:
    points, truth = blobs(3, SAMPLE + 3000, 8, 3, spread=0.05)
    (found,) = cluster([points], [1])
    labels = found.labels[2]
    assert len(labels) == len(points)
    for group in range(3):
        assert len(set(labels[truth == group])) == 1


def test_elbow() -> None:
    assert elbow([100, 20, 15, 12, 10, 9, 8]) == 2
    assert elbow([100, 60, 20, 18, 16, 14, 13]) == 3
    assert elbow([7, 6, 5, 4, 3, 2, 1]) == 1  # a straight line has no elbow
    assert elbow([0.0] * 7) == 1
    assert elbow([float("nan")] * 7) == 1


def test_senses_of_frequent_types_only() -> None:
    frequent, truth = blobs(2, 300, 12, 4, spread=0.1)
    rare, _ = blobs(2, senses.FREQUENT, 12, 5, spread=0.1)
    same = np.ones((150, 12), np.float32)  # zero variance
    target = np.concatenate([frequent, rare, same]).astype(np.float16)
    offsets = np.array([0, 300, 400, 550])
    labels = sense_labels(target, offsets, ["a", "b", "c"], seed=1)
    assert len(set(labels[:300])) == 2 and not labels[300:].any()
    assert len(set(zip(labels[:300].tolist(), truth.tolist(), strict=True))) == 2  # pure
    source = np.arange(550, dtype=np.float32)[:, None] * np.ones((1, 3), np.float32)
    found = anchors(target, source, offsets, labels)
    assert found.types.tolist() == [0, 0, 1, 2] and found.counts.sum() == 550
    for row in range(2):  # source means follow the target's clusters
        member = np.flatnonzero(labels[:300] == found.senses[row])
        assert found.source[row, 0] == pytest.approx(member.mean(), rel=1e-4)
    assert (sense_labels(target, offsets, ["a", "b", "c"], seed=1) == labels).all()


def test_the_number_of_senses_is_limited() -> None:
    target, _ = blobs(3, 600, 12, 4, spread=0.05)
    found = [
        len(set(sense_labels(target, np.array([0, 600]), ["a"], most=most))) for most in (7, 4)
    ]
    assert found == [3, 2]  # a knee is never at the end of the curve
