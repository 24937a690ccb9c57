"""Links: the aligned source and target words of every sentence pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numba as nb
import numpy as np
import numpy.typing as npt

from treebridge.alignment.indexed import Offsets

Positions = npt.NDArray[np.uint16]


@dataclass(frozen=True, repr=False)
class Links:
    """The links of all pairs in flat arrays; `links[n]` is an array [k, 2] of (source, target).

    Pair n is the n-th that the bitext keeps. The links of a pair are sorted.
    """

    source: Positions
    target: Positions
    at: Offsets
    # For bitexts from files: the line number of each pair, and the number of lines.
    lines: Offsets | None = field(default=None, compare=False)
    read: int | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.at) - 1

    def __getitem__(self, n: int) -> npt.NDArray[np.int64]:
        if not 0 <= n < len(self):
            raise IndexError(f"pair {n} of {len(self)}")
        here = slice(self.at[n], self.at[n + 1])
        return np.stack([self.source[here], self.target[here]], axis=1).astype(np.int64)

    def __iter__(self) -> Iterator[npt.NDArray[np.int64]]:
        return (self[n] for n in range(len(self)))

    @property
    def total(self) -> int:
        """Total number of links."""
        return len(self.source)

    def is_consistent(self) -> bool:
        """Whether the arrays belong together; those from a damaged file may not."""
        ends = len(self.at) and self.at[0] == 0 and self.at[-1] == len(self.source)
        return bool(ends and len(self.source) == len(self.target) and (np.diff(self.at) >= 0).all())

    def first(self, pairs: int) -> Links:
        """Return the links of the first pairs."""
        end = self.at[pairs]
        lines = None if self.lines is None else self.lines[:pairs]
        return replace(
            self,
            source=self.source[:end],
            target=self.target[:end],
            at=self.at[: pairs + 1],
            lines=lines,
        )

    def to_pharaoh(self) -> Iterator[str]:
        """Yield one line of `i-j` per pair; pairs that were filtered out get an empty line."""
        written = 0
        lines = range(len(self)) if self.lines is None else self.lines.tolist()
        for n, line in enumerate(lines):
            yield from [""] * (line - written)
            yield " ".join(f"{i}-{j}" for i, j in self[n].tolist())
            written = line + 1
        yield from [""] * ((self.read or written) - written)

    def __repr__(self) -> str:
        return f"Links({self.total:,} links in {len(self):,} sentence pairs)"

    def one_to_one(self) -> Links:
        """Drop every link whose source or target word has another link."""
        keep = _alone(self.source, self.target, self.at)
        at = np.concatenate([[0], np.cumsum(keep)])[self.at]
        return replace(self, source=self.source[keep], target=self.target[keep], at=at)

    @classmethod
    def of(cls, pairs: Iterable[Iterable[tuple[int, int]]]) -> Links:
        """Create links from one set per pair."""
        return cls.stack([np.array(sorted(set(links))).reshape(-1, 2) for links in pairs])

    @classmethod
    def stack(cls, rows: Sequence[npt.NDArray[np.number]]) -> Links:
        """Create links from one sorted [k, 2] array per pair."""
        flat = np.concatenate([np.zeros((0, 2)), *rows]).astype(np.uint16)
        at = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), at)


@nb.njit(cache=True, nogil=True)
def _alone(source, target, at):
    """Which links share no word with another link."""
    keep = np.ones(len(source), np.bool_)
    links_of_source = np.zeros(1 << 16, np.int32)
    links_of_target = np.zeros(1 << 16, np.int32)
    for n in range(len(at) - 1):
        for k in range(at[n], at[n + 1]):
            links_of_source[source[k]] += 1
            links_of_target[target[k]] += 1
        for k in range(at[n], at[n + 1]):
            keep[k] = links_of_source[source[k]] == 1 and links_of_target[target[k]] == 1
        for k in range(at[n], at[n + 1]):
            links_of_source[source[k]] = 0
            links_of_target[target[k]] = 0
    return keep
