"""Anchors: a pair of mean vectors for every target word type, or for every sense of it."""

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

FREQUENT = 100  # a type must occur more often than this to be split into senses
BUDGET = 1 << 11  # vectors, padding included, that are clustered together: they fit a cache
SHARD = 1 << 15  # vectors of a shard, which is the work handed out at once
Half = NDArray[np.floating]
Transform = Callable[[Half], NDArray[np.float32]]


def _as_it_is(vectors: Half) -> NDArray[np.float32]:
    return np.asarray(vectors, np.float32)


@dataclass
class Anchors:
    """Pairs of mean vectors, one for each sense of each type."""

    target: NDArray[np.float32]  # [anchors, target dim]
    source: NDArray[np.float32]  # [anchors, source dim]
    types: NDArray[np.int32]  # which type an anchor belongs to
    senses: NDArray[np.int8]  # which sense of it
    counts: NDArray[np.int64]  # occurrences behind an anchor

    def __len__(self) -> int:
        return len(self.types)


class Shard(NamedTuple):
    """Groups of types that are clustered by one worker, with their vectors."""

    sizes: list[list[int]]  # group by group, how many vectors a type has
    seeds: list[list[int]]
    vectors: Half  # [vectors, dim], type after type
    most: int = MAX_K  # senses of a type


Groups = list[list[int]]
Labels = NDArray[np.int8]
Label = Callable[[Iterable[Shard]], Iterator[Labels]]


def label_here(shards: Iterable[Shard]) -> Iterator[Labels]:
    """Cluster shard after shard in this process."""
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
    """Which sense of its type every occurrence has; type t owns rows offsets[t] to offsets[t + 1].

    k-means on target vectors, the number of senses by the elbow, `most` at most. A type's
    result depends on the seed, its name and its vectors only, not on the types clustered beside it.
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
    into_target: Transform = _as_it_is,
    into_source: Transform = _as_it_is,
) -> Anchors:
    """The means of every type's senses, on both sides; the source side follows the target's labels.

    The two functions carry vectors into their spaces before they are averaged.
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
    """The number of clusters at the knee of the inertia curve (kneed, S = 1); 1 where none is."""
    if inertia[0] <= 1e-6 * max(1.0, len(inertia)) or not np.isfinite(inertia).all():
        return 1  # all vectors are the same
    from kneed import KneeLocator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "no knee found" is an answer, not a warning
        knee = KneeLocator(
            range(1, len(inertia) + 1), inertia, S=1.0, curve="convex", direction="decreasing"
        ).knee
    return int(knee) if knee else 1


def _groups(types: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[list[int]]:
    """Types of about the same size together, so that little is padded."""
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
    """Groups that are enough work together to be handed out."""
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
