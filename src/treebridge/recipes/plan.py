"""What making a bridge would take: measure a little, multiply."""

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
    """A plan, and what had to be assumed for it."""

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
    """Time, disk and memory for so many pairs; without encoders, for two of BERT's size."""
    if into:
        source_encoder = source_encoder or Parser.load(into).space.encoder
    # A GPU is reckoned from this machine's processor, so both are timed on that.
    encoding = replace(encoding, device="cpu") if gpu else encoding
    assumed: tuple[str, ...] = ()
    if source_encoder and target_encoder:
        source, target = (Encoder.load(name, encoding) for name in (source_encoder, target_encoder))
        if bitext is None:
            raise TreebridgeError("planning with encoders needs a bitext to try them on")
        sample = Sample.of(bitext, source, target, settings)
        rates = measure(source, target, sample.pairs)
    else:
        assumed = ("two encoders of BERT's size (12 × 768)", "sentences of 25 words by Zipf's law")
        sample = Sample.drawn()
        rates = measure_bert(sample.words)
    return Planned(make_plan(sample, rates, pairs, workers, gpu, settings), workers, gpu, assumed)
