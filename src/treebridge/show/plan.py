"""`treebridge bridge --dry-run`: what it would take."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from treebridge.bridge.layout import CollectSettings
from treebridge.cluster.plan import UTILISATION, Plan, make_plan
from treebridge.cluster.rates import measure, measure_bert
from treebridge.cluster.sample import Sample
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser


def show_plan(
    bitext: Iterable[Pair] | None,
    source_name: str | None,
    target_name: str | None,
    parser: Path | None,
    pairs: int,
    workers: int,
    gpu: str | None,
    settings: CollectSettings,
    encoding: EncoderSettings,
    *,
    as_json: bool,
) -> None:
    """Measure a little, multiply, print; what is not named is assumed, and said to be."""
    assumed = []
    if parser:
        source_name = source_name or Parser.load(parser).space.encoder
    # A GPU is reckoned from this machine's processor, so both are timed on that.
    encoding = replace(encoding, device="cpu") if gpu else encoding
    if source_name and target_name:
        source, target = (Encoder.load(name, encoding) for name in (source_name, target_name))
        if bitext is None:
            raise TreebridgeError("--dry-run with encoders wants a bitext, too, to try them on")
        sample = Sample.of(bitext, source, target, settings)
        rates = measure(source, target, sample.pairs)
    else:
        assumed = ["two encoders of BERT's size (12 × 768)", "sentences of 25 words by Zipf's law"]
        sample = Sample.drawn()
        rates = measure_bert(sample.words)
    plan = make_plan(sample, rates, pairs, workers, gpu, settings)
    if as_json:
        print(json.dumps({**asdict(plan), "hours": plan.hours, "assumed": assumed}))
        return
    _show(plan, workers, gpu, assumed)


def _show(plan: Plan, workers: int, gpu: str | None, assumed: list[str]) -> None:
    console = Console(highlight=False)
    kind = f"GPUs ({gpu})" if gpu else "cores of this machine's kind"
    console.print(f"[bold]{plan.pairs:,} pairs on {workers} {kind}[/]: {plan.hours:,.1f} hours")
    if assumed:
        console.print(f"nothing named, so assumed: {', '.join(assumed)}")
    facts = Table(box=None, show_header=False)
    for name, value in (
        ("pairs to encode after the cap", f"{plan.encoded:,.0f}"),
        ("types", f"{plan.types:,.0f}"),
        ("vectors on each side", f"{plan.vectors:,.0f}"),
        ("disk, in the cache", f"{plan.disk / 1e9:,.1f} GB"),
        ("storage, of pieces on their way", f"at most {plan.storage / 1e9:,.1f} GB"),
        ("memory of a worker", f"{plan.memory / 1e9:,.1f} GB"),
    ):
        facts.add_row(name, value)
    console.print(facts)
    table = Table("step", "amount", "workers", "hours", box=None)
    for step in plan.steps:
        amount = f"{step.amount:,.0f} {step.unit}"
        table.add_row(step.name, amount, str(step.workers), f"{step.seconds / 3600:,.2f}")
    console.print(table)
    if gpu:
        console.print(
            f"a {gpu} is taken for {plan.speedup:,.0f} cores of this machine: {UTILISATION:.0%} of "
            "its data sheet against a matrix product measured here; docs/scale.md"
        )
