"""Align the words of a bitext, for every command and for Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from treebridge.alignment.aligner import Aligner, Choices
from treebridge.alignment.engines import engine
from treebridge.alignment.indexed import IndexedPairs, PairIndexer
from treebridge.alignment.links import Links
from treebridge.alignment.settings import AlignSettings
from treebridge.alignment.symmetrize import symmetrize
from treebridge.alignment.threads import Threads
from treebridge.corpus.bitext import Bitext, Counts
from treebridge.errors import TreebridgeError
from treebridge.progress import QUIET, Progress

WordPair = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class Aligned:
    """An aligned bitext: its links, and the aligner and choices that they were made from."""

    corpus: IndexedPairs
    aligner: Aligner
    choices: Choices
    links: Links
    pairs: int  # of the bitext; the `further` pairs follow
    counts: Counts
    threads: int | None = None

    def symmetrized(self, method: str) -> Links:
        """Combine the two directions by another method."""
        with Threads(self.threads) as threads:
            return symmetrize(self.corpus, self.choices, method, threads)


def align(
    bitext: Bitext,
    settings: AlignSettings | None = None,
    *,
    threads: int | None = None,
    progress: Progress = QUIET,
) -> Links:
    """Train an aligner on a bitext and return the links between its words."""
    settings = settings or AlignSettings()
    return align_pairs(bitext, settings, threads=threads, progress=progress).links


def align_pairs(
    bitext: Bitext,
    settings: AlignSettings,
    *,
    aligner: Aligner | None = None,
    further: Iterable[WordPair] = (),
    threads: int | None = None,
    progress: Progress = QUIET,
) -> Aligned:
    """Train an aligner on a bitext, unless one is given, and link the words of every pair.

    `further` pairs, such as those of a gold standard, are aligned together with the bitext.
    """
    words = (aligner.source_words, aligner.target_words) if aligner else ()
    indexer = PairIndexer(*words)
    walk = iter(bitext)
    pairs = indexer.take(walk, progress.count(walk, "pairs"))
    for number, other in enumerate(further):
        indexer.add(other, walk.counts.read + number)
    corpus = indexer.done(walk.counts.read)
    if not len(corpus):
        raise TreebridgeError(walk.counts.why_none(), file=str(Path(bitext.paths[0])))
    with Threads(threads) as crew:
        if aligner is None:
            aligner = engine(settings.aligner).fit(corpus, crew, progress.advance)
        choices = aligner.choices(corpus, crew, progress.advance)
        links = symmetrize(corpus, choices, settings.symmetrize, crew)
        links = links.one_to_one() if settings.one_to_one else links
        links = replace(links, lines=corpus.lines, read=corpus.read)
    progress.done("align")
    return Aligned(corpus, aligner, choices, links, pairs, walk.counts, threads)
