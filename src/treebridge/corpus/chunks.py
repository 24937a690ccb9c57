"""Sentences or lines that are worked on together: few enough for memory to stay bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from itertools import islice
from typing import TypeVar

S = TypeVar("S", bound=Sized)


def take(items: Iterator[S], count: int, size: int) -> list[S]:
    """The next `count` items, fewer once their lengths come to `size`."""
    taken = []
    for item in islice(items, count):
        taken.append(item)
        size -= len(item)
        if size <= 0:
            break
    return taken
