"""Projected distributions, against the explicit sums and on known cases."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treebridge.parse.project.projection import Soft, density, fill, mask, project


def random_soft(rng: np.random.Generator, n: int, labels: int = 3, tags: int = 2) -> Soft:
    arcs = rng.random((n, n + 1)).astype(np.float32)
    arcs[np.arange(n), np.arange(1, n + 1)] = 0
    parts = (arcs, rng.random((n, labels)), rng.random((n, tags)))
    return Soft(*(np.asarray(p / p.sum(1, keepdims=True), np.float32) for p in parts))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Soft, np.ndarray, int]:
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    pairs = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=8))
    links = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return random_soft(np.random.default_rng(draw(st.integers(0, 99))), n), links, m


@given(cases())
def test_projection_equals_the_explicit_sum(case: tuple[Soft, np.ndarray, int]) -> None:
    source, links, m = case
    pairs = [tuple(link) for link in links.tolist()]
    n = len(source.arcs)
    of_target = {q: [i for i, t in pairs if t == q] for q in range(m)}
    of_source = {j: [t for i, t in pairs if i == j] for j in range(n)}
    got = project(source, links, m)
    for p in range(m):
        want = np.zeros(m + 1)
        for i in of_target[p]:
            want[0] += source.arcs[i, 0] / len(of_target[p])
            for j in range(n):
                for q in of_source[j]:
                    if q != p:
                        share = len(of_target[p]) * len(of_source[j])
                        want[q + 1] += source.arcs[i, j + 1] / share
        np.testing.assert_allclose(got.arcs[p], want, atol=1e-5)
    assert (got.arcs.sum(1) <= 1 + 1e-5).all()


@given(cases())
def test_filled_rows_sum_to_one_and_masked_rows_to_one_or_zero(
    case: tuple[Soft, np.ndarray, int],
) -> None:
    source, links, m = case
    projected = project(source, links, m)
    own = random_soft(np.random.default_rng(1), m)
    for share in (0.0, 0.5, 1.0):
        for part in fill(projected, own, share):
            np.testing.assert_allclose(part.sum(1), 1, atol=1e-4)
    np.testing.assert_allclose(fill(projected, own, 1.0).labels, own.labels, atol=1e-5)
    half = (fill(projected, own, 0.0).labels + own.labels) / 2
    np.testing.assert_allclose(fill(projected, own, 0.5).labels, half, atol=1e-5)
    total = mask(projected).arcs.sum(1)
    assert ((abs(total - 1) < 1e-4) | (total == 0)).all()
    assert (mask(projected).labels[total == 0] == 0).all()


def test_a_tree_is_projected_word_by_word_into_another_order() -> None:
    # she(1) saw(2) him(3) → saw him she
    arcs = np.zeros((3, 4), np.float32)
    arcs[[0, 1, 2], [2, 0, 2]] = 1
    source = Soft(arcs, np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32))
    links = np.array([[0, 2], [1, 0], [2, 1]])
    got = project(source, links, 3)
    assert got.arcs.argmax(1).tolist() == [0, 1, 1]
    assert got.labels.argmax(1).tolist() == [1, 2, 0]
    assert density(links, 3, 3) == 1
    assert density(links[:1], 3, 3) == 1 / 3 and density(links[:0], 3, 3) == 0
    one = np.array([[0, 0]])
    assert density(one, 1, 2) == 1 / 2  # half of the target's words
    assert density(one, 2, 1) == 1 and density(one, 4, 1) == 1 / 2  # source words count double


def test_the_best_tag_is_the_likeliest_where_enough_is_known() -> None:
    tags = np.array([[0.1, 0.7, 0.2], [0.6, 0.0, 0.0], [0.4, 0.1, 0.0]], np.float32)
    soft = Soft(np.zeros((3, 4)), np.zeros((3, 1)), tags)
    assert soft.best_tags().tolist() == [1, 0, -1]
    assert soft._replace(tags=tags[:, :0]).best_tags().tolist() == [-1, -1, -1]


def test_rows_below_half_are_masked() -> None:
    arcs = np.array([[0.0, 0.0, 0.4], [0.3, 0.3, 0.0]], np.float32)
    labels = np.array([[0.9, 0.1], [0.2, 0.2]], np.float32)
    found = mask(Soft(arcs, labels, labels))
    np.testing.assert_allclose(found.arcs, [[0, 0, 0], [0.5, 0.5, 0]])
    np.testing.assert_allclose(found.labels, [[0, 0], [0.5, 0.5]])
    np.testing.assert_allclose(found.tags, found.labels)
