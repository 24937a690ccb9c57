"""k-means for many small sets and every k at once, in torch.

All restarts and all k of a set share one matrix product per iteration, which makes it fast: a
product with only two to seven centres is too small to keep a processor busy. Each set has its own
seed, so its result does not depend on the other sets in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from treebridge.bridge.settings import MAX_SENSES

VERSION = 2  # part of cache keys; raise it when results change
MAX_K = MAX_SENSES
RESTARTS = 16
TRIALS = 3  # candidates per new centre; the best one is used (greedy k-means++)
ELIMINATION = ((2, 4), (4, 1))  # rounds: iterations, and restarts to keep
POLISH = 16  # iterations for the best restart
TOLERANCE = 1e-3  # relative gain in inertia below which a clustering has converged
SKETCH = 16  # dimensions used to compare restarts; seven centres span fewer
SAMPLE = 2000  # vectors per set used to fit the centres; all vectors are assigned
KS = range(2, MAX_K + 1)
# Columns of the centres for each k, in a row of 2 + … + 7 columns.
_COLUMNS = [slice(sum(range(2, k)), sum(range(2, k + 1))) for k in KS]


@dataclass
class Clusterings:
    """Inertia and assignment of one set for k = 1, 2, …"""

    inertia: list[float]
    labels: list[NDArray[np.int8]]  # [k - 1][vector]


def cluster(sets: Sequence[NDArray[np.floating]], seeds: Sequence[int]) -> list[Clusterings]:
    """Cluster each set with k = 1 … 7."""
    longest = min(SAMPLE, max(map(len, sets)))
    points = torch.zeros(len(sets), longest, sets[0].shape[1])
    real = torch.zeros(len(sets), longest)
    chance = torch.zeros(len(sets), RESTARTS, MAX_K, TRIALS)
    for row, (vectors, seed) in enumerate(zip(sets, seeds, strict=True)):
        rng = np.random.default_rng(seed)
        if len(vectors) > longest:
            vectors = vectors[np.sort(rng.choice(len(vectors), longest, replace=False))]
        points[row, : len(vectors)] = torch.from_numpy(np.asarray(vectors, np.float32))
        real[row, : len(vectors)] = 1
        chance[row] = torch.from_numpy(rng.random((RESTARTS, MAX_K, TRIALS), np.float32))
    # Centring a set does not change distances, and makes them more exact.
    mean = points.sum(1) / real.sum(1)[:, None]
    points = (points - mean[:, None]) * real[..., None]
    # Compare restarts cheaply in fewer dimensions, then refine the best one in all of them.
    sketch = points @ _main_directions(points)
    start = _start(sketch, real, chance)
    # Centres for all k side by side: two for k = 2, three for k = 3, …
    rows = torch.cat([start[:, :, :k] for k in KS], 2)  # [sets, restarts, columns, dim]
    for iterations, keep in ELIMINATION:
        rows = _lloyd(sketch, real, rows, iterations, keep)
    member = _members(sketch, real, rows[:, 0], 1)[0]
    centres = _lloyd(points, real, _means(member, points, None)[:, None], POLISH, 1)[:, 0]
    return [_assign(v, c, m) for v, c, m in zip(sets, centres, mean, strict=True)]


def _start(points: torch.Tensor, real: torch.Tensor, chance: torch.Tensor) -> torch.Tensor:
    """Greedy k-means++ for each restart: [sets, restarts, MAX_K, dim]; k uses the first k centres.

    Among a few points drawn by squared distance, the one that lowers the inertia most is chosen.
    """
    sets, longest, dim = points.shape
    squares = (points**2).sum(-1)  # [sets, points]
    last = real.sum(1).long() - 1
    nearest = real[:, None].expand(-1, RESTARTS, -1)  # squared distance to the nearest centre
    centres = torch.zeros(sets, RESTARTS, MAX_K, dim)
    for k in range(MAX_K):
        ladder = nearest.cumsum(-1)  # [sets, restarts, points]
        drawn = torch.searchsorted(ladder, chance[:, :, k] * ladder[..., -1:])
        drawn = torch.minimum(drawn, last[:, None, None])  # [sets, restarts, trials]
        flat = drawn.reshape(sets, -1, 1).expand(-1, -1, dim)
        tried = points.gather(1, flat)  # [sets, restarts · trials, dim]
        distance = squares[..., None] - 2 * points @ tried.transpose(1, 2)
        distance = (distance + (tried**2).sum(-1)[:, None]).clamp_min(0) * real[..., None]
        distance = distance.transpose(1, 2).reshape(sets, RESTARTS, TRIALS, longest)
        if k:
            distance = torch.minimum(distance, nearest[:, :, None])
        best = distance.sum(-1).argmin(-1)[..., None, None]  # [sets, restarts, 1, 1]
        nearest = distance.gather(2, best.expand(-1, -1, 1, longest))[:, :, 0]
        tried = tried.reshape(sets, RESTARTS, TRIALS, dim)
        centres[:, :, k] = tried.gather(2, best.expand(-1, -1, 1, dim))[:, :, 0]
    return centres


def _lloyd(
    points: torch.Tensor, real: torch.Tensor, start: torch.Tensor, iterations: int, keep: int
) -> torch.Tensor:
    """Run Lloyd's iterations on [sets, rows, columns, dim]; keep the best rows for every k."""
    sets, rows, _, dim = start.shape
    centres = start.reshape(sets, -1, dim).clone()
    squares = (points**2).sum((1, 2))
    inertia = torch.full((sets, rows, len(KS)), torch.inf)
    active = torch.arange(sets)
    here, mask, now = points, real, centres.clone()
    for _ in range(iterations):
        member, loss = _members(here, mask, now, rows)
        loss = squares[active, None, None] + loss
        moving = (inertia[active] - loss > TOLERANCE * loss).flatten(1).any(1)
        inertia[active] = loss
        now = _means(member, here, now)
        centres[active] = now
        if int(moving.sum()) <= len(active) // 2:  # copying is slow: drop many sets at once
            if not moving.any():
                break
            active, here, mask, now = active[moving], here[moving], mask[moving], now[moving]
    best = inertia.topk(keep, dim=1, largest=False).indices  # [sets, keep, which k]
    best = best.repeat_interleave(torch.tensor(KS), dim=2)  # [sets, keep, columns]
    return centres.reshape(start.shape).gather(1, best[..., None].expand(-1, -1, -1, dim))


def _members(
    points: torch.Tensor, real: torch.Tensor, centres: torch.Tensor, rows: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Assign points to centres [sets, points, rows · columns] and sum the losses [sets, rows, k].

    The loss is the inertia minus the squared norms of the points, which are constant.
    """
    offset = (centres**2).sum(-1)[:, None]  # [sets, 1, rows · columns]
    score = torch.baddbmm(offset, points, centres.transpose(1, 2), alpha=-2)
    by_row = score.reshape(*score.shape[:2], rows, -1)
    member = torch.zeros_like(by_row)
    chosen = real[..., None, None].expand(-1, -1, rows, 1)
    losses = []
    for part in _COLUMNS:
        value, label = by_row[..., part].min(-1, keepdim=True)  # [sets, points, rows, 1]
        member[..., part].scatter_(-1, label, chosen)
        losses.append((value[..., 0].transpose(1, 2) @ real[..., None])[..., 0])
    return member.reshape(score.shape), torch.stack(losses, 2)


def _means(member: torch.Tensor, points: torch.Tensor, empty: torch.Tensor | None) -> torch.Tensor:
    """Mean of the members of each centre; `empty` replaces centres without members."""
    size = member.sum(1)[..., None]  # [sets, columns, 1]
    total = member.transpose(1, 2) @ points
    means = total / size.clamp_min(1)
    return means if empty is None else torch.where(size > 0, means, empty)


def _main_directions(points: torch.Tensor) -> torch.Tensor:
    """Approximate main directions of variance of each set: [sets, dim, fewer].

    Distant centres differ in these. One step of a randomized range finder (Halko, Martinsson,
    Tropp 2011) is enough and costs as much as a few iterations for one k.
    """
    spread = points.transpose(1, 2) @ (points @ _directions(points.shape[-1]))
    directions: torch.Tensor = torch.linalg.qr(spread)[0]
    return directions


@lru_cache(maxsize=4)
def _directions(dim: int) -> torch.Tensor:
    """Fixed random orthonormal directions: [dim, fewer]."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(dim, min(SKETCH, dim))))[0]
    return torch.from_numpy(directions.astype(np.float32))


def _assign(
    vectors: NDArray[np.floating], centres: torch.Tensor, mean: torch.Tensor
) -> Clusterings:
    """Assign every vector of a set to its nearest centre, for every k."""
    points = torch.from_numpy(np.asarray(vectors, np.float32)) - mean
    squares = float((points**2).sum())
    result = Clusterings([squares], [np.zeros(len(vectors), np.int8)])
    score = (centres**2).sum(-1) - 2 * points @ centres.T
    for part in _COLUMNS:
        value, label = score[:, part].min(-1)
        result.inertia.append(max(0.0, squares + float(value.double().sum())))
        result.labels.append(label.to(torch.int8).numpy())
    return result
