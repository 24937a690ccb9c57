"""The estimate of `bridge --dry-run` on the terminal."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from treebridge.cluster.plan import UTILISATION
from treebridge.recipes.plan import Planned


def as_dict(planned: Planned) -> dict[str, Any]:
    """The figures, as printed by `--json`."""
    plan = planned.plan
    return {**asdict(plan), "hours": plan.hours, "assumed": list(planned.assumed)}


def show_plan(planned: Planned) -> None:
    """Print hours, disk and memory, step by step."""
    plan, workers, gpu, assumed = planned.plan, planned.workers, planned.gpu, planned.assumed
    console = Console(highlight=False)
    kind = f"GPUs ({gpu})" if gpu else "cores like this machine's"
    console.print(f"[bold]{plan.pairs:,} pairs on {workers} {kind}[/]: {plan.hours:,.1f} hours")
    if assumed:
        console.print(f"not given, so assumed: {', '.join(assumed)}")
    facts = Table(box=None, show_header=False)
    for name, value in (
        ("pairs to encode", f"{plan.encoded:,.0f}"),
        ("word types", f"{plan.types:,.0f}"),
        ("vectors per side", f"{plan.vectors:,.0f}"),
        ("disk space for the cache", f"{plan.disk / 1e9:,.1f} GB"),
        ("shared storage for intermediate results", f"at most {plan.storage / 1e9:,.1f} GB"),
        ("memory per worker", f"{plan.memory / 1e9:,.1f} GB"),
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
            f"one {gpu} counts as {plan.speedup:,.0f} cores of this machine: {UTILISATION:.0%} of "
            "its peak speed, compared with a matrix product measured here (see docs/scale.md)"
        )
