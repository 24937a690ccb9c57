"""Sentence pairs, source and target: streamed from what people have, filtered and counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from treebridge.corpus.languages import target_language
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.pairs import read_pairs
from treebridge.corpus.text import Splitter
from treebridge.errors import TreebridgeError

REMEMBERED = 1 << 20  # duplicates are found among at least so many pairs before them


class Pair(NamedTuple):
    """The words of a sentence and of its translation."""

    source: list[str]
    target: list[str]


@dataclass(frozen=True)
class Filters:
    """Which pairs are left out; the paper has the first rule, practice the others."""

    max_words: int = 150  # on either side
    max_ratio: float = 3.0  # of the longer side's words to the shorter's
    drop_identical: bool = True  # the same text on both sides: not translated
    drop_duplicates: bool = True


@dataclass
class Counts:
    """How many pairs were read, kept, and left out for which reason."""

    read: int = 0
    kept: int = 0
    empty: int = 0
    identical: int = 0
    duplicate: int = 0
    too_long: int = 0
    unequal: int = 0

    def left_out(self) -> dict[str, int]:
        """Reason → number of pairs."""
        return {f.name: getattr(self, f.name) for f in fields(self)[2:]}

    def why_none(self) -> str:
        """Why no pair is left, for people."""
        if 2 * self.identical > self.read:
            return (
                f"source and target are the same text in {self.identical:,} of {self.read:,} "
                "pairs; give the translation as the target"
            )
        return f"no pairs to align: {self}"

    def __str__(self) -> str:
        reasons = [f"{n:,} {name.replace('_', ' ')}" for name, n in self.left_out().items() if n]
        left_out = f" (left out: {', '.join(reasons)})" if reasons else ""
        return f"{self.kept:,} of {self.read:,} pairs{left_out}"


@dataclass
class Bitext:
    """A parallel corpus that can be walked through again and again without loading it.

    Every walk counts for itself: `walk = iter(bitext)` has `walk.counts`. Words are found by
    `corpus.text`; `engine="spaces"` takes a corpus that is tokenised already as it is; `limit`
    stops after so many kept pairs. Target words are those of `parse`, with contractions taken
    apart (pt *do* = *de o*), unless told otherwise; a target language that is not given is read
    from the file's name.
    """

    paths: tuple[str | Path, ...]
    source_language: str = "en"
    target_language: str | None = None
    engine: str = "rules"
    filters: Filters = Filters()
    limit: int | None = None
    contractions: bool = True
    language: str | None = field(init=False)  # the target's

    def __post_init__(self) -> None:
        if not 1 <= len(self.paths) <= 2:
            raise TreebridgeError(
                f"a bitext is one file or two parallel ones, not {len(self.paths)}"
            )
        self._source = Splitter(self.source_language, self.engine)
        self.language = self.target_language or target_language(self.paths, self.source_language)
        apart = self.contractions and self.engine != "spaces"
        self._target = Splitter(
            # A code that only stands in a name may be none that spaCy knows.
            self.language if self.engine == "rules" else self.target_language,
            self.engine,
            Contractions.of(self.language) if apart else None,
        )

    @classmethod
    def read(cls, *paths: str | Path, **settings: Any) -> Bitext:
        """Open one file (TSV, `a ||| b`, TMX, OPUS zip) or two parallel ones, also compressed."""
        return cls(paths, **settings)

    def raw(self) -> Iterator[tuple[str, str]]:
        """The pairs as they stand in the file, unfiltered."""
        return read_pairs(
            *self.paths, source_language=self.source_language, target_language=self.target_language
        )

    def __iter__(self) -> Walk:
        counts = Counts()
        return Walk(self._walk(counts), counts)

    def _walk(self, counts: Counts) -> Iterator[Pair]:
        seen = _Seen()
        for source, target in self.raw():
            counts.read += 1
            pair = self._keep(source, target, seen, counts)
            if pair is not None:
                counts.kept += 1
                yield pair
                if counts.kept == self.limit:
                    return

    def _keep(self, source: str, target: str, seen: _Seen, counts: Counts) -> Pair | None:
        """The words of a pair, or None with the reason counted; cheap tests come first."""
        if not source or not target:
            counts.empty += 1
        elif self.filters.drop_identical and source == target:
            counts.identical += 1
        elif self.filters.drop_duplicates and seen.before((source, target)):
            counts.duplicate += 1
        else:
            pair = Pair(self._source.words(source), self._target.words(target))
            shorter, longer = sorted((len(pair.source), len(pair.target)))
            if longer > self.filters.max_words:
                counts.too_long += 1
            elif longer > self.filters.max_ratio * shorter:
                counts.unequal += 1
            else:
                return pair
        return None


@dataclass(frozen=True)
class Walk:
    """One pass through a bitext: its pairs, and what has been counted up to the present one."""

    pairs: Iterator[Pair]
    counts: Counts

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> Pair:
        return next(self.pairs)


class _Seen:
    """Remembers the last one to two million pairs by hash, so that memory stays bounded."""

    def __init__(self) -> None:
        self._new: set[int] = set()
        self._old: set[int] = set()

    def before(self, pair: tuple[str, str]) -> bool:
        key = hash(pair)
        if key in self._new or key in self._old:
            return True
        if len(self._new) == REMEMBERED:
            self._old, self._new = self._new, set()
        self._new.add(key)
        return False
