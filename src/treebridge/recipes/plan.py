"""Estimate the cost of a bridge from a small measurement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from treebridge.bridge.settings import CollectSettings
from treebridge.cluster.plan import Plan, make_plan
from treebridge.cluster.rates import measure, measure_bert
from treebridge.cluster.sample import Sample
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser


@dataclass(frozen=True)
class Planned:
    """A plan and its assumptions."""

    plan: Plan
    workers: int
    gpu: str | None
    assumed: tuple[str, ...] = ()


def plan_bridge(
    bitext: Iterable[Pair] | None,
    target_encoder: str | None,
    settings: CollectSettings,
    encoding: EncoderSettings,
    *,
    into: str | Path | None = None,
    source_encoder: str | None = None,
    pairs: int = 1_000_000,
    workers: int = 1,
    gpu: str | None = None,
) -> Planned:
    """Estimate time, disk and memory; without encoders, for two the size of BERT."""
    if into:
        source_encoder = source_encoder or Parser.load(into).space.encoder
    # GPU speed is extrapolated from this machine's CPU, so time the encoders on the CPU.
    encoding = replace(encoding, device="cpu") if gpu else encoding
    assumed: tuple[str, ...] = ()
    if source_encoder and target_encoder:
        source, target = (Encoder.load(name, encoding) for name in (source_encoder, target_encoder))
        if bitext is None:
            raise TreebridgeError("an estimate for these encoders needs a bitext; give one")
        sample = Sample.of(bitext, source, target, settings)
        rates = measure(source, target, sample.pairs)
    else:
        assumed = ("two encoders of BERT's size (12 × 768)", "sentences of 25 words by Zipf's law")
        sample = Sample.drawn()
        rates = measure_bert(sample.words)
    return Planned(make_plan(sample, rates, pairs, workers, gpu, settings), workers, gpu, assumed)
