"""k-means for many small sets at once, in torch, with seeded starts of its own for every set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

MAX_K = 7
RESTARTS = 2
TRIALS = 3  # candidates for every new centre; the best is taken (greedy k-means++)
ITERATIONS = 25
SAMPLE = 2000  # vectors of a set that the centres are fitted on; all are assigned


@dataclass
class Clusterings:
    """For one set: inertia and assignment for every k from 1 on."""

    inertia: list[float]
    labels: list[NDArray[np.int8]]  # [k - 1][vector]


def cluster(sets: Sequence[NDArray[np.floating]], seeds: Sequence[int]) -> list[Clusterings]:
    """Cluster each set into 1 … 7 groups; the seed of a set decides its result, not its company."""
    longest = min(SAMPLE, max(map(len, sets)))
    dim = sets[0].shape[1]
    points = torch.zeros(len(sets), longest, dim)
    real = torch.zeros(len(sets), longest, dtype=torch.bool)
    chance = torch.zeros(len(sets), RESTARTS, MAX_K, TRIALS)
    for row, (vectors, seed) in enumerate(zip(sets, seeds, strict=True)):
        rng = np.random.default_rng(seed)
        chosen = vectors
        if len(vectors) > longest:
            chosen = vectors[np.sort(rng.choice(len(vectors), longest, replace=False))]
        points[row, : len(chosen)] = torch.from_numpy(np.asarray(chosen, np.float32))
        real[row, : len(chosen)] = True
        chance[row] = torch.from_numpy(rng.random((RESTARTS, MAX_K, TRIALS), np.float32))
    # Distances do not change when every set is moved to its own mean, and are more exact there.
    centre = points.sum(1, keepdim=True) / real.sum(1)[:, None, None]
    points = (points - centre) * real[..., None]
    centres = _fit(points, real, chance)
    return [
        _assign(vectors, [c[row] for c in centres], centre[row, 0])
        for row, vectors in enumerate(sets)
    ]


def _fit(points: torch.Tensor, real: torch.Tensor, chance: torch.Tensor) -> list[torch.Tensor]:
    """The best centres found for each k: [k - 1] → [sets, k, dim]."""
    sets, _, dim = points.shape
    squares = (points**2).sum(-1)  # [sets, points]
    best = [torch.zeros(sets, 1, dim)]
    for k in range(2, MAX_K + 1):
        candidates = []
        # One start grows from the best solution so far, the others are fresh.
        for restart in range(RESTARTS):
            centres = best[-1] if restart == 0 else best[0][:, :0]
            while centres.shape[1] < k:
                draws = chance[:, restart, centres.shape[1]]
                centres = _add_centre(points, squares, real, centres, draws)
            candidates.append(_lloyd(points, squares, real, centres))
        inertia = torch.stack([loss for _, loss in candidates])  # [restarts, sets]
        winner = inertia.argmin(0)
        stacked = torch.stack([centres for centres, _ in candidates])
        best.append(stacked[winner, torch.arange(sets)])
    return best


def _distances(points: torch.Tensor, squares: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    """Squared distances [sets, points, centres]."""
    cross = points @ centres.transpose(1, 2)
    return (squares[..., None] - 2 * cross + (centres**2).sum(-1)[:, None]).clamp_min(0)


def _add_centre(
    points: torch.Tensor,
    squares: torch.Tensor,
    real: torch.Tensor,
    centres: torch.Tensor,
    draws: torch.Tensor,
) -> torch.Tensor:
    """Greedy k-means++: of a few points drawn by distance, the one that lowers inertia most."""
    if centres.shape[1]:
        nearest = _distances(points, squares, centres).amin(-1) * real  # [sets, points]
    else:
        nearest = real.float()
    ladder = nearest.cumsum(1)
    wanted = draws * ladder[:, -1:]  # [sets, trials]
    index = torch.searchsorted(ladder, wanted).clamp_max(points.shape[1] - 1)
    index = torch.minimum(index, real.sum(1, keepdim=True) - 1)
    tried = points.gather(1, index[..., None].expand(-1, -1, points.shape[-1]))
    after = _distances(points, squares, tried)  # [sets, points, trials]
    if centres.shape[1]:
        after = torch.minimum(after, nearest[..., None])
    loss = (after * real[..., None]).sum(1)
    chosen = tried[torch.arange(len(tried)), loss.argmin(1)]
    return torch.cat([centres, chosen[:, None]], 1)


def _lloyd(
    points: torch.Tensor, squares: torch.Tensor, real: torch.Tensor, centres: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Lloyd's iterations; sets that no longer move are left out of the work."""
    active = torch.arange(len(points))
    centres = centres.clone()
    inertia = torch.zeros(len(points))
    previous = torch.full((len(points),), torch.inf)
    for _ in range(ITERATIONS):
        here, mask = points[active], real[active]
        distance, label = _distances(here, squares[active], centres[active]).min(-1)
        loss = (distance * mask).sum(1)
        inertia[active] = loss
        moving = previous[active] - loss > 1e-4 * loss
        previous[active] = loss
        if not moving.any():
            break
        active, here, mask, label = active[moving], here[moving], mask[moving], label[moving]
        member = torch.nn.functional.one_hot(label, centres.shape[1]).float() * mask[..., None]
        size = member.sum(1)  # [sets, k]
        total = member.transpose(1, 2) @ here
        old = centres[active]
        centres[active] = torch.where(
            size[..., None] > 0, total / size[..., None].clamp_min(1), old
        )
    return centres, inertia


def _assign(
    vectors: NDArray[np.floating], centres: list[torch.Tensor], mean: torch.Tensor
) -> Clusterings:
    """Every vector of a set to its nearest centre, and the inertia about the centres' means."""
    points = torch.from_numpy(np.asarray(vectors, np.float32)) - mean
    squares = (points**2).sum(-1)
    result = Clusterings([], [])
    for c in centres:
        distance, label = _distances(points[None], squares[None], c[None])[0].min(-1)
        result.inertia.append(float(distance.sum()))
        result.labels.append(label.to(torch.int8).numpy())
    return result
