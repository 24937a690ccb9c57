"""Vocabularies of labels and tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1


class Names(Sequence[str]):
    """A fixed list of names with their indices."""

    def __init__(self, names: Iterable[str]):
        self._names = list(names)
        self._numbers = {name: number for number, name in enumerate(self._names)}

    @classmethod
    def collect(cls, names: Iterable[str]) -> Names:
        """The distinct names in alphabetical order, without `_`."""
        return cls(sorted(set(names) - {"_"}))

    def numbers(self, names: Iterable[str]) -> NDArray[np.int64]:
        """The index of each name, UNKNOWN if it is not in the list."""
        return np.array([self._numbers.get(name, UNKNOWN) for name in names], np.int64)

    def names(self, numbers: Iterable[int]) -> list[str]:
        """The names at these indices."""
        return [self._names[number] for number in numbers]

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._names[index]

    def __len__(self) -> int:
        return len(self._names)
