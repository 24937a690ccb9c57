"""Progress on standard error: bars on a terminal, lines in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars

from treebridge.progress import Progress
from treebridge.show.words import minutes

T = TypeVar("T")
EVERY = 60  # seconds between two log lines
COUNTED = 500  # items between two updates of a counter


class Terminal(Progress):
    """Shows progress on a terminal or in a log; without `verbose`, no steps, notes or metrics."""

    def __init__(self, *, verbose: bool = True) -> None:
        self._verbose = verbose
        self._console = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
        self._bars = Bars(*columns, TimeElapsedColumn(), console=self._console, transient=True)
        self._tasks: dict[str, TaskID] = {}
        self._started = time.monotonic()
        self._stage: str | None = None
        self._logged = self._started

    def step(self, what: str) -> None:
        """Print the step and the time since the start."""
        self.say(f"{what} … ({minutes(time.monotonic() - self._started)})")

    def say(self, text: str) -> None:
        """Print a line."""
        if self._verbose:
            self._console.print(text)

    def count(self, items: Iterable[T], what: str) -> Iterable[T]:
        """Show a running count on a terminal."""
        return self._counted(items, what) if self._console.is_terminal else items

    def _counted(self, items: Iterable[T], what: str) -> Iterator[T]:
        task = self._bars.add_task(what, total=None)
        self._bars.start()
        try:
            for number, item in enumerate(items, 1):
                yield item
                if number % COUNTED == 0:
                    self._bars.update(task, description=f"{number:,} {what}")
        finally:
            self._end(task)

    def advance(self, stage: str, share: float, **figures: float) -> None:
        """Update the stage's bar; in a log, print a line once a minute."""
        shown = "; ".join([stage, *_figures(figures)])
        if self._console.is_terminal:
            if stage not in self._tasks:
                self._tasks[stage] = self._bars.add_task(stage, total=1.0)
                self._bars.start()
            self._bars.update(self._tasks[stage], completed=share, description=shown)
            if share >= 1:
                self.done(stage)
        elif stage != self._stage:
            self._stage, self._logged = stage, time.monotonic()
        elif time.monotonic() - self._logged > EVERY:
            self._logged = time.monotonic()
            self._console.print(f"{share:.0%}: {shown}")

    def measured(self, stage: str, metrics: Mapping[str, float]) -> None:
        """Print the metrics of an epoch, or of an evaluation on held-out text."""
        self.say(_MEASURED[stage](metrics))

    def done(self, stage: str) -> None:
        """Remove the stage's bar."""
        self._stage = None
        if stage in self._tasks:
            self._end(self._tasks.pop(stage))

    def _end(self, task: TaskID) -> None:
        self._bars.remove_task(task)
        if not self._bars.tasks:
            self._bars.stop()


def _figures(figures: Mapping[str, float]) -> Iterator[str]:
    for name, value in figures.items():
        if name == "left":
            yield f"{minutes(value)} left"
        elif name.endswith("_per_second"):
            yield f"{value:,.0f} {name.removesuffix('_per_second')}/s"
        else:
            yield f"{name} {value:.2f}"


def _epoch(metrics: Mapping[str, float]) -> str:
    scores = ", ".join(f"{name} {metrics[name]:.2f}" for name in ("UAS", "LAS", "UPOS"))
    return (
        f"epoch {metrics['epoch']:.0f}: loss {metrics['loss']:.3f}; dev {scores}; "
        f"{metrics['words_per_second']:,.0f} words/s, {minutes(metrics['seconds'])}"
    )


def _refined(metrics: Mapping[str, float]) -> str:
    facts = [f"loss {metrics['loss']:.3f}"]
    if metrics["held_out"]:  # 0 if nothing was projected
        facts.append(f"{metrics['held_out']:.3f} on held-out projections")
    if "agreement" in metrics:
        facts.append(f"finds {metrics['agreement']:.1f} % of the arcs of held-out source trees")
    return f"epoch {metrics['epoch']:.0f}: {', '.join(facts)}"


def _pretrained(metrics: Mapping[str, float]) -> str:
    return (
        f"after {metrics['tokens'] / 1e6:.2f}M tokens, {minutes(metrics['seconds'])}: "
        f"held-out masked accuracy {metrics['accuracy']:.3f}, loss {metrics['held_out_loss']:.3f}"
    )


_MEASURED: dict[str, Callable[[Mapping[str, float]], str]] = {
    "training": _epoch,
    "refining": _refined,
    "pre-training": _pretrained,
}
