"""Two maps that were tried and are not kept, by zero-shot LAS on Portuguese dev.

python benchmarks/maps.py [-o FOLDER] [--tags gold] [--pairs 60000] [--seed 1] [--epochs 4]

mutual neighbours: senses of either language that are each other's nearest by CSLS become further
anchors. residual network: x ↦ Wx + V·gelu(U·Wx), learned on single occurrences, with V and U pulled
towards zero. FOLDER is that of `treebridge reproduce table1`: what is there is not made again.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from common.lab import lab_arguments, print_scores, real_lab
from torch import nn

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.collect import Occurrences
from treebridge.bridge.isotropy import unit
from treebridge.bridge.mapping import Moments, csls, orthogonal
from treebridge.bridge.memmap import pick
from treebridge.bridge.senses import anchors
from treebridge.experiment.transfer import Fitted


def main() -> None:
    given = lab_arguments(__doc__).parse_args()
    lab, target = real_lab(given)
    parser = lab.parser("own", True, given.seed)
    rotated = Fitted().cross(lab, target, "own", parser)
    gathered = lab.gathered(target, "own")
    for name, make in {
        "rotation": lambda bridge, *_: bridge,
        "mutual neighbours": with_neighbours,
        "residual network": bent,
    }.items():
        bridge = make(rotated.bridge, gathered.occurrences, gathered.labels(0))
        print_scores(name, lab, target, replace(rotated, bridge=bridge))


def with_neighbours(bridge: Bridge, occurrences: Occurrences, labels: np.ndarray) -> Bridge:
    """Fitted again, with mutual neighbours among all senses as further anchors."""
    found = anchors(
        occurrences.target, occurrences.source, occurrences.layout.offsets, labels,
        bridge.target.isotropy.transform, bridge.into.isotropy.transform,
    )  # fmt: skip
    x, y = unit(found.target.astype(float)), unit(found.source.astype(float))
    mapped = x @ bridge.w.T
    there = np.concatenate([rows.argmax(1) for rows in csls(mapped, y)])
    back = np.concatenate([rows.argmax(1) for rows in csls(y, mapped)])
    mutual = np.flatnonzero(back[there] == np.arange(len(x)))
    print(
        f"   {len(mutual):,} of {len(x):,} senses have a mutual neighbour, "
        f"{np.mean(there[mutual] != mutual):.0%} of them another than their own translation"
    )
    moments = Moments(x.shape[1], y.shape[1])
    counts = found.counts.astype(float)
    moments.add(x, y, counts)
    other = there[mutual]
    moments.add(x[mutual], y[other], np.minimum(counts[mutual], counts[other]))
    return replace(bridge, w=orthogonal(moments))


@dataclass
class Bent(Bridge):
    """A bridge that is not linear."""

    network: nn.Module | None = None

    def transform(self, vectors: np.ndarray) -> np.ndarray:
        """By W, and then by what the network adds."""
        mapped = torch.from_numpy(super().transform(vectors))
        with torch.inference_mode():
            return (mapped + self.network(mapped)).numpy()


def bent(bridge: Bridge, occurrences: Occurrences, labels: np.ndarray, size: int = 200_000) -> Bent:
    """A residual network over W, learned by single occurrences; one in twenty says when to stop."""
    torch.manual_seed(1)
    chosen = np.random.default_rng(1).permutation(len(occurrences))[:size]
    chosen.sort()
    x = torch.from_numpy(bridge.transform(pick(occurrences.target, chosen)))
    y = torch.from_numpy(bridge.into.transform(pick(occurrences.source, chosen)))
    mixed = torch.randperm(len(x))
    held, learn = mixed[: len(x) // 20], mixed[len(x) // 20 :]
    dim = x.shape[1]
    network = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
    nn.init.zeros_(network[2].weight)
    nn.init.zeros_(network[2].bias)
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.1)
    cosine = nn.functional.cosine_similarity
    for _ in range(3):
        with torch.inference_mode():
            before = cosine(x[held], y[held]).mean()
            after = cosine(x[held] + network(x[held]), y[held]).mean()
        print(f"   mean cosine of held-out occurrences {before:.3f}, bent {after:.3f}", flush=True)
        for batch in learn[torch.randperm(len(learn))].split(256):
            optimizer.zero_grad()
            loss = ((x[batch] + network(x[batch]) - y[batch]) ** 2).sum(1).mean()
            loss.backward()
            optimizer.step()
    return Bent(bridge.target, bridge.into, bridge.w, network=network)


if __name__ == "__main__":
    main()
