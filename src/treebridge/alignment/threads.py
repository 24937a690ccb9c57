"""Work on several cores; compiled loops release the GIL, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Threads:
    """A thread pool; results come in the order of the items."""

    def __init__(self, number: int | None = None):
        self.number = number or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.number) if self.number > 1 else None

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Call a function on every item."""
        return list(self._pool.map(work, items) if self._pool else map(work, items))

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
