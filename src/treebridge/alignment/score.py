"""Links against gold links: precision, recall and alignment error rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from treebridge.alignment.pharaoh import parse_links
from treebridge.corpus.files import name_of, read_lines
from treebridge.errors import TreebridgeError

LinkSet = set[tuple[int, int]]


@dataclass
class GoldPair:
    """A pair that was aligned by hand."""

    source: list[str]
    target: list[str]
    links: LinkSet


@dataclass
class Score:
    """Och & Ney (2003): sure links must be found, possible ones may be."""

    found: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    @property
    def precision(self) -> float:
        """The share of the found links that are possible."""
        return self.found_possible / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of the sure links that are found."""
        return self.found_sure / self.sure if self.sure else 0.0

    @property
    def aer(self) -> float:
        """The alignment error rate, which is 1 − F1 where all gold links are sure."""
        both = self.found + self.sure
        return 1 - (self.found_sure + self.found_possible) / both if both else 0.0


def score(
    found: Iterable[Iterable[Sequence[int]]],
    sure: Iterable[LinkSet],
    possible: Iterable[LinkSet] | None = None,
) -> Score:
    """Score the links of some pairs; without `possible`, all gold links are sure."""
    sure = list(sure)
    result = Score()
    for links, must, may in zip(found, sure, sure if possible is None else possible, strict=True):
        here = {(int(i), int(j)) for i, j in links}
        result.found += len(here)
        result.sure += len(must)
        result.found_sure += len(here & must)
        result.found_possible += len(here & (must | may))
    return result


def read_gold(path: str | Path) -> list[GoldPair]:
    """Read gold pairs: tab-separated source, target and links; words are separated by spaces."""
    pairs = []
    for number, line in read_lines(path):
        columns = line.split("\t")
        if len(columns) != 3:
            raise TreebridgeError(
                f"expected 3 columns (source, target, links like 0-0 1-2), found {len(columns)}",
                file=name_of(path),
                line=number,
            )
        source, target = columns[0].split(), columns[1].split()
        links = set(parse_links(columns[2], len(source), len(target), path, number))
        pairs.append(GoldPair(source, target, links))
    if not pairs:
        raise TreebridgeError("the file is empty; expected gold links", file=name_of(path))
    return pairs
