"""What a bridge over so many pairs takes, from a sample and rates: docs/scale.md explains it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treebridge.bridge.kmeans import SAMPLE
from treebridge.bridge.senses import FREQUENT
from treebridge.bridge.settings import CollectSettings
from treebridge.bridge.shards import STEP
from treebridge.cluster.engine import AHEAD
from treebridge.cluster.rates import Rates
from treebridge.cluster.sample import Sample
from treebridge.errors import TreebridgeError

# Peak of dense matrix products in half precision, in 10¹² operations a second (data sheets).
GPUS = {"t4": 65, "v100": 125, "l4": 121, "a10": 125, "rtx3090": 71, "rtx4090": 165, "a100": 312,
        "l40s": 362, "h100": 989}  # fmt: skip
UTILISATION = 0.3  # of that peak, which an encoder is taken to reach: an assumption
ALIGN = 1.05e-3  # seconds for a pair with `hmm`: docs/benchmarks.md, 100 000 pairs in 105 s


@dataclass(frozen=True)
class Step:
    """One step: what it goes through, who does it, and how long."""

    name: str
    amount: float
    unit: str
    workers: int
    seconds: float


@dataclass(frozen=True)
class Plan:
    """What is to be done and what it takes."""

    pairs: int
    encoded: float  # sentence pairs after the cap
    types: float
    vectors: float  # on each side
    disk: float  # bytes, in the cache of the machine that leads
    storage: float  # bytes at most, of pieces on their way
    memory: float  # bytes of a worker
    speedup: float  # of a worker over one core here
    steps: list[Step]

    @property
    def hours(self) -> float:
        """All steps one after the other."""
        return sum(step.seconds for step in self.steps) / 3600


def expect(sample: Sample, pairs: int, settings: CollectSettings) -> tuple[float, np.ndarray]:
    """Sentence pairs to encode, and how many occurrences are kept of each type.

    A type's count grows with the pairs; of a type above the cap each occurrence is as likely to
    be kept as any other, and a pair is encoded where any of its own is. Types that the sample
    does not have are not counted.
    """
    lengths = [len(types) for types in sample.types]
    flat = np.concatenate(sample.types)
    scale = sample.linked * (1 - settings.held_out) * pairs / len(sample.types)
    counts = np.bincount(flat) * scale
    kept = np.where(counts >= settings.min_per_type, np.minimum(counts, settings.max_per_type), 0)
    chance = sample.linked * kept / np.maximum(counts, 1e-9)  # of a word to be kept
    starts = np.cumsum([0, *lengths[:-1]])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    missed = np.zeros(len(starts))
    np.add.at(missed, owner, np.log1p(-np.minimum(chance[flat], 1 - 1e-12)))
    encoded = pairs * (1 - settings.held_out) * float((1 - np.exp(missed)).mean())
    return encoded, kept[kept > 0]


def make_plan(
    sample: Sample,
    rates: Rates,
    pairs: int,
    workers: int = 1,
    gpu: str | None = None,
    settings: CollectSettings | None = None,
) -> Plan:
    """Figures for so many pairs on so many workers, each one core of this kind or a GPU."""
    speedup = gpu_factor(gpu, rates) if gpu else 1.0
    encoded, kept = expect(sample, pairs, settings or CollectSettings())
    vectors = float(kept.sum())
    frequent = kept[kept > FREQUENT]
    row = 2 * sum(rates.dims) + 12  # bytes on disk
    in_piece = STEP * vectors / max(encoded, 1) * row
    whole_sentences = STEP * sample.words / 2 * max(rates.dims) * 4  # one side, before it is cut
    clustering = float(np.minimum(frequent, SAMPLE).sum() / SAMPLE * rates.cluster)
    leading = (sample.read + sample.choose) * pairs  # pass two is led by one process
    steps = [
        Step("align words", pairs, "pairs", 1, (ALIGN + sample.read) * pairs),
        Step("pass one: count, lay out", pairs, "pairs", 1, leading),
        Step("pass two: encode", encoded, "pairs", workers,
             max(leading, encoded * rates.encode / speedup / workers)),
        Step("cluster senses", len(frequent), "types", workers, clustering / workers),
        Step("fit and judge", vectors, "vectors", 1, vectors * rates.fit),
    ]  # fmt: skip
    return Plan(
        pairs, encoded, len(kept), vectors, vectors * row, (1 + AHEAD) * workers * in_piece,
        rates.memory + whole_sentences + 2 * in_piece, speedup, steps,
    )  # fmt: skip


def gpu_factor(gpu: str, rates: Rates) -> float:
    """How many cores of this machine a GPU stands for."""
    if gpu not in GPUS:
        raise TreebridgeError(f"--gpu {gpu}: known are {', '.join(sorted(GPUS))}")
    return UTILISATION * GPUS[gpu] * 1e12 / rates.flops
