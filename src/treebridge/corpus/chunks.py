"""Chunks of sentences or lines, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from itertools import islice
from typing import TypeVar

S = TypeVar("S", bound=Sized)


def take(items: Iterator[S], count: int, size: int) -> list[S]:
    """Return the next `count` items, or fewer once their total length reaches `size`."""
    taken = []
    for item in islice(items, count):
        taken.append(item)
        size -= len(item)
        if size <= 0:
            break
    return taken
