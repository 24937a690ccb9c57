"""Bitexts: source and target sentence pairs, streamed from files, filtered and counted."""

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

REMEMBERED = 1 << 20  # duplicates are detected at least this many pairs back


class Pair(NamedTuple):
    """The words of a sentence and of its translation."""

    source: list[str]
    target: list[str]


@dataclass(frozen=True)
class Filters:
    """Which pairs to drop; the paper uses the first rule only."""

    max_words: int = 150  # on either side
    max_ratio: float = 3.0  # of the longer side's words to the shorter's
    drop_identical: bool = True  # the same text on both sides: untranslated
    drop_duplicates: bool = True


@dataclass
class Counts:
    """Numbers of pairs read, kept, and dropped for each reason."""

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
        """Explain why no pairs are left."""
        if 2 * self.identical > self.read:
            return (
                f"source and target are the same text in {self.identical:,} of {self.read:,} "
                "pairs; pass the translation as the target"
            )
        return f"no pairs to align: {self}"

    def __str__(self) -> str:
        reasons = [f"{n:,} {name.replace('_', ' ')}" for name, n in self.left_out().items() if n]
        left_out = f" (left out: {', '.join(reasons)})" if reasons else ""
        return f"{self.kept:,} of {self.read:,} pairs{left_out}"


@dataclass(frozen=True)
class Bitext:
    """A parallel corpus that can be iterated repeatedly without being loaded into memory.

    Each pass has its own counts: `walk = iter(bitext)` has `walk.counts`. `engine` is the
    tokenizer, "spaces" for a corpus that is already tokenized; `limit` is the maximum number of
    pairs to keep. Contractions on the target side are split (pt *do* → *de o*), as `parse` does,
    unless `contractions` is false. A missing target language is inferred from the file name.
    """

    paths: tuple[str | Path, ...]
    source_language: str = "en"
    target_language: str | None = None
    engine: str = "rules"
    filters: Filters = Filters()
    limit: int | None = None
    contractions: bool = True
    source_contractions: bool = False  # split those of the source too, if it has a treebank here
    language: str | None = field(init=False)  # of the target
    _splitters: tuple[Splitter, Splitter] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.paths) <= 2:
            raise TreebridgeError(
                f"expected one file or two parallel files, found {len(self.paths)}"
            )
        language = self.target_language or target_language(self.paths, self.source_language)
        split = self.contractions and self.engine != "spaces"
        target = Splitter(
            # spaCy may not know a code that was inferred from a file name.
            language if self.engine == "rules" else self.target_language,
            self.engine,
            Contractions.of(language) if split else None,
        )
        object.__setattr__(self, "language", language)
        both = split and self.source_contractions
        table = Contractions.of(self.source_language) if both else None
        splitters = (Splitter(self.source_language, self.engine, table), target)
        object.__setattr__(self, "_splitters", splitters)

    @property
    def rules(self) -> list[Any]:
        """All that decides where the words of both sides are cut."""
        return [splitter.rules for splitter in self._splitters]

    @classmethod
    def read(cls, *paths: str | Path, **settings: Any) -> Bitext:
        """Open one file (TSV, `a ||| b`, TMX, OPUS zip) or two parallel ones, also compressed."""
        return cls(paths, **settings)

    def raw(self) -> Iterator[tuple[str, str]]:
        """Yield the raw pairs of the file, unfiltered."""
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
        """Return the words of a pair, or None after counting the reason; cheap tests first."""
        if not source or not target:
            counts.empty += 1
        elif self.filters.drop_identical and source == target:
            counts.identical += 1
        elif self.filters.drop_duplicates and seen.before((source, target)):
            counts.duplicate += 1
        else:
            pair = Pair(self._splitters[0].words(source), self._splitters[1].words(target))
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
    """One pass through a bitext: its pairs, and the counts so far."""

    pairs: Iterator[Pair]
    counts: Counts

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> Pair:
        return next(self.pairs)


class _Seen:
    """Hashes of the last one to two million pairs, so that memory stays bounded."""

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
