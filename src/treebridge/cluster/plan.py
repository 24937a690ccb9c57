"""Estimate the cost of a bridge from a sample and measured rates; see docs/scale.md."""

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

# Peak dense half-precision throughput in TFLOPS, from the data sheets.
GPUS = {"t4": 65, "v100": 125, "l4": 121, "a10": 125, "rtx3090": 71, "rtx4090": 165, "a100": 312,
        "l40s": 362, "h100": 989}  # fmt: skip
UTILISATION = 0.3  # share of that peak an encoder reaches (assumed)
ALIGN = 1.05e-3  # seconds per pair with `hmm` (docs/benchmarks.md: 100 000 pairs in 105 s)


@dataclass(frozen=True)
class Step:
    """One step: amount of work, number of workers and time."""

    name: str
    amount: float
    unit: str
    workers: int
    seconds: float


@dataclass(frozen=True)
class Plan:
    """Estimated work, time, disk and memory of a bridge."""

    pairs: int
    encoded: float  # sentence pairs after the cap
    types: float
    vectors: float  # per side
    disk: float  # bytes in the cache of the driver's machine
    storage: float  # peak bytes of pieces in transit
    memory: float  # bytes per worker
    speedup: float  # of a worker, relative to one core of this machine
    steps: list[Step]

    @property
    def hours(self) -> float:
        """Total time of all steps in hours."""
        return sum(step.seconds for step in self.steps) / 3600


def expect(sample: Sample, pairs: int, settings: CollectSettings) -> tuple[float, np.ndarray]:
    """Expected number of pairs to encode, and of occurrences kept per type.

    Counts grow in proportion to the pairs. Occurrences of a type above the cap are sampled
    uniformly; a pair is encoded if any of its links is kept. Types missing from the sample are
    ignored.
    """
    lengths = [len(types) for types in sample.types]
    flat = np.concatenate(sample.types)
    scale = sample.linked * (1 - settings.held_out) * pairs / len(sample.types)
    counts = np.bincount(flat) * scale
    kept = np.where(counts >= settings.min_per_type, np.minimum(counts, settings.max_per_type), 0)
    chance = sample.linked * kept / np.maximum(counts, 1e-9)  # that a word is kept
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
    """Estimate the cost of `pairs` on workers that each have one core like ours, or a GPU."""
    speedup = gpu_factor(gpu, rates) if gpu else 1.0
    encoded, kept = expect(sample, pairs, settings or CollectSettings())
    vectors = float(kept.sum())
    frequent = kept[kept > FREQUENT]
    row = 2 * sum(rates.dims) + 12  # bytes on disk
    in_piece = STEP * vectors / max(encoded, 1) * row
    whole_sentences = STEP * sample.words / 2 * max(rates.dims) * 4  # one side, all words
    clustering = float(np.minimum(frequent, SAMPLE).sum() / SAMPLE * rates.cluster)
    driver = (sample.read + sample.choose) * pairs  # one process feeds the workers
    steps = [
        Step("align words", pairs, "pairs", 1, (ALIGN + sample.read) * pairs),
        Step("pass one: count, lay out", pairs, "pairs", 1, driver),
        Step("pass two: encode", encoded, "pairs", workers,
             max(driver, encoded * rates.encode / speedup / workers)),
        Step("cluster senses", len(frequent), "types", workers, clustering / workers),
        Step("fit and evaluate", vectors, "vectors", 1, vectors * rates.fit),
    ]  # fmt: skip
    return Plan(
        pairs, encoded, len(kept), vectors, vectors * row, (1 + AHEAD) * workers * in_piece,
        rates.memory + whole_sentences + 2 * in_piece, speedup, steps,
    )  # fmt: skip


def gpu_factor(gpu: str, rates: Rates) -> float:
    """Number of cores of this machine that a GPU replaces."""
    if gpu not in GPUS:
        raise TreebridgeError(f"unknown GPU {gpu!r}; choose from {', '.join(sorted(GPUS))}")
    return UTILISATION * GPUS[gpu] * 1e12 / rates.flops
