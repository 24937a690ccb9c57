"""Progress on standard error, only where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
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
