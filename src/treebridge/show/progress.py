"""Progress on standard error, only where a person is watching."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def watch(what: str) -> Callable[[Iterable[T]], Iterable[T]]:
    """A wrapper for iterables that counts what passes through and shows the rate."""

    def watched(items: Iterable[T]) -> Iterator[T]:
        if not sys.stderr.isatty():
            yield from items
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.completed:,} {task.description}"))
        with Progress(
            *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
        ) as progress:
            task = progress.add_task(what, total=None)
            for done, item in enumerate(items, 1):
                yield item
                if done % 500 == 0:
                    progress.update(task, completed=done)

    return watched


@contextmanager
def meter(size: int, unit: str = "words") -> Iterator[Callable[[str, float], None]]:
    """A function to report stages to (what, share done): shows a bar, the rate and the time left.

    `size` is how many units one stage goes through.
    """
    if not sys.stderr.isatty():
        yield lambda stage, share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:>8}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, tuple[TaskID, float]] = {}
        last = time.perf_counter()  # a stage begins where the one before it ended

        def report(stage: str, share: float) -> None:
            nonlocal last
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=1.0, rate=""), last
            task, start = tasks[stage]
            last = time.perf_counter()
            spent = last - start
            rate = f"{size * share / spent:,.0f} {unit}/s" if spent > 0 else ""
            progress.update(task, completed=share, rate=rate)

        yield report


@contextmanager
def bytes_meter(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """A function to report a download to: bytes that are there, and of how many."""
    if not sys.stderr.isatty():
        print(f"fetching {name}", file=sys.stderr)
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
