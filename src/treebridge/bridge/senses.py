"""Anchors: a pair of mean vectors for every target word type or sense."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.kmeans import MAX_K, SAMPLE, cluster
from treebridge.bridge.memmap import release
from treebridge.progress import QUIET, Progress

FREQUENT = 100  # only types with more occurrences than this are split into senses
BUDGET = 1 << 11  # vectors clustered together, including padding; they fit the CPU cache
SHARD = 1 << 15  # vectors per shard, the unit of work of a worker
Half = NDArray[np.floating]
Transform = Callable[[Half], NDArray[np.float32]]


def _unchanged(vectors: Half) -> NDArray[np.float32]:
    return np.asarray(vectors, np.float32)


@dataclass
class Anchors:
    """Pairs of mean vectors, one for each sense of each type."""

    target: NDArray[np.float32]  # [anchors, target dim]
    source: NDArray[np.float32]  # [anchors, source dim]
    types: NDArray[np.int32]  # type of each anchor
    senses: NDArray[np.int8]  # sense of each anchor within its type
    counts: NDArray[np.int64]  # occurrences averaged into each anchor

    def __len__(self) -> int:
        return len(self.types)


class Shard(NamedTuple):
    """Groups of types for one worker to cluster, with their vectors."""

    sizes: list[list[int]]  # vectors of each type, by group
    seeds: list[list[int]]
    vectors: Half  # [vectors, dim], ordered by type
    most: int = MAX_K  # maximum number of senses per type


Groups = list[list[int]]
Labels = NDArray[np.int8]
Label = Callable[[Iterable[Shard]], Iterator[Labels]]


def label_here(shards: Iterable[Shard]) -> Iterator[Labels]:
    """Cluster the shards in this process."""
    return map(label_shard, shards)


def sense_labels(
    target: Half,
    offsets: NDArray[np.int64],
    names: Sequence[str],
    *,
    seed: int = 0,
    most: int = MAX_K,
    progress: Progress = QUIET,
    label: Label = label_here,
) -> Labels:
    """The sense of every occurrence; type t owns rows offsets[t] to offsets[t + 1].

    k-means on target vectors; the elbow gives the number of senses, at most `most`. The result
    for a type depends only on the seed, its name and its vectors, not on other types.
    """
    labels = np.zeros(int(offsets[-1]), np.int8)
    sizes = np.diff(offsets)
    rows = [slice(start, stop) for start, stop in pairwise(offsets)]
    plan = list(_shards(_groups(np.flatnonzero(sizes > FREQUENT), sizes), sizes))
    shards = (
        Shard(
            [[int(sizes[t]) for t in group] for group in groups],
            [[_seed(seed, names[t]) for t in group] for group in groups],
            np.concatenate([target[rows[t]] for group in groups for t in group]),
            most,
        )
        for groups in progress.count(plan, "groups of words")
    )
    for groups, found in zip(plan, label(shards), strict=True):
        release(target)
        types = list(chain.from_iterable(groups))
        ends = np.cumsum(sizes[types])[:-1]
        for t, mine in zip(types, np.split(found, ends), strict=True):
            labels[rows[t]] = mine
    return labels


def label_shard(shard: Shard) -> Labels:
    """The sense of every vector of a shard."""
    ends = np.cumsum(list(chain.from_iterable(shard.sizes)))
    types = iter(np.split(shard.vectors, ends[:-1]))
    labels = []
    for seeds in shard.seeds:
        blocks = [np.asarray(vectors, np.float32) for vectors in islice(types, len(seeds))]
        found = cluster(blocks, seeds)
        labels += [each.labels[elbow(each.inertia[: shard.most]) - 1] for each in found]
    return np.concatenate(labels)


def anchors(
    target: Half,
    source: Half,
    offsets: NDArray[np.int64],
    labels: NDArray[np.int8],
    into_target: Transform = _unchanged,
    into_source: Transform = _unchanged,
) -> Anchors:
    """Mean vectors of every sense on both sides, grouped by the target's labels.

    The two transforms are applied to the vectors before averaging.
    """
    rows = [slice(int(start), int(stop)) for start, stop in pairwise(offsets)]
    owners = [(t, sense) for t, here in enumerate(rows) for sense in np.unique(labels[here])]
    found = Anchors(
        np.empty((len(owners), target.shape[1]), np.float32),
        np.empty((len(owners), source.shape[1]), np.float32),
        np.array([t for t, _ in owners], np.int32),
        np.array([sense for _, sense in owners], np.int8),
        np.empty(len(owners), np.int64),
    )
    anchor = 0
    for here in rows:
        x, y = into_target(target[here]), into_source(source[here])
        release(target)
        release(source)
        for sense in np.unique(labels[here]):
            member = labels[here] == sense
            found.target[anchor], found.source[anchor] = x[member].mean(0), y[member].mean(0)
            found.counts[anchor] = member.sum()
            anchor += 1
    return found


def elbow(inertia: Sequence[float]) -> int:
    """Number of clusters at the knee of the inertia curve (kneed, S = 1); 1 if there is none."""
    if inertia[0] <= 1e-6 * max(1.0, len(inertia)) or not np.isfinite(inertia).all():
        return 1  # all vectors are equal
    from kneed import KneeLocator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "no knee found" is a valid result
        knee = KneeLocator(
            range(1, len(inertia) + 1), inertia, S=1.0, curve="convex", direction="decreasing"
        ).knee
    return int(knee) if knee else 1


def _groups(types: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[list[int]]:
    """Group types of similar size, to keep padding small."""
    order = types[np.argsort(sizes[types], kind="stable")]
    group: list[int] = []
    for t in order:
        longest = min(int(sizes[t]), SAMPLE)
        if group and (len(group) + 1) * longest > BUDGET:
            yield group
            group = []
        group.append(int(t))
    if group:
        yield group


def _shards(groups: Iterable[list[int]], sizes: NDArray[np.int64]) -> Iterator[Groups]:
    """Combine groups into shards of at least SHARD vectors."""
    shard: Groups = []
    vectors = 0
    for group in groups:
        shard.append(group)
        vectors += int(sizes[group].sum())
        if vectors >= SHARD:
            yield shard
            shard, vectors = [], 0
    if shard:
        yield shard


def _seed(seed: int, name: str) -> int:
    return (seed << 32) ^ zlib.crc32(name.encode("utf-8", "surrogatepass"))
