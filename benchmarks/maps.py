"""Two maps that were tried and are not kept, by zero-shot LAS on Portuguese dev.

python benchmarks/maps.py [-o FOLDER] [--tags gold] [--pairs 60000] [--seed 1] [--epochs 4]

mutual neighbours: senses of either language that are each other's nearest by CSLS become further
anchors. residual network: x ↦ Wx + V·gelu(U·Wx), learned on single occurrences, with V and U pulled
towards zero. FOLDER is that of `treebridge reproduce table1`: what is there is not made again.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from treebridge.bridge.bridge import Bridge, BridgeSettings
from treebridge.bridge.collect import Occurrences
from treebridge.bridge.isotropy import unit
from treebridge.bridge.mapping import Moments, csls, orthogonal
from treebridge.bridge.pages import pick
from treebridge.bridge.senses import anchors
from treebridge.encode.encoder import EncoderSettings
from treebridge.experiment.crossing import Fitted
from treebridge.experiment.lab import Lab, LabSettings, rows_of
from treebridge.experiment.supply import Supply
from treebridge.parse.score import score
from treebridge.parse.settings import ParserSettings

SHARED = Path(os.environ.get("TREEBRIDGE_SHARED") or Path(__file__).resolve().parents[2] / "shared")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("-o", "--output", type=Path, default=Path("maps"))
    arguments.add_argument("--tags", default="gold")
    arguments.add_argument("--pairs", type=int, default=60_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--epochs", type=int, default=4)
    given = arguments.parse_args()
    if not SHARED.exists():
        print(f"no real data in {SHARED}: name its folder in TREEBRIDGE_SHARED")
        return
    encoders = {code: str(SHARED / f"encoders/{code}-marian-tiny") for code in ("en", "pt")}
    supply = Supply(SHARED / "data", "dev", "ParaCrawl/v6", given.pairs, encoders, {}, {}, {}, True)
    settings = LabSettings(
        ParserSettings.preset("small", tags=given.tags, epochs=given.epochs),
        encoding=EncoderSettings(offline=True),
    )
    lab, target = Lab(supply.source(), settings, given.output), supply.target("pt")
    parser = lab.parser("own", True, given.seed)
    gold, vectors = lab.trees(target), rows_of(lab.vectors(target, "own"))
    rotated = Fitted(BridgeSettings()).cross(lab, target, "own", parser)
    gathered = lab.gathered(target, "own")
    for name, make in {
        "rotation": lambda bridge, *_: bridge,
        "mutual neighbours": with_neighbours,
        "residual network": bent,
    }.items():
        bridge = make(rotated.bridge, gathered.occurrences, gathered.labels(0))
        trees = replace(rotated, bridge=bridge).parse_vectors(gold, vectors, retag=True)
        found = score(gold, [one.sentence for one in trees]).values
        print(f"{name:18} UAS {found['UAS']:.2f}  LAS {found['LAS']:.2f}", flush=True)


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
