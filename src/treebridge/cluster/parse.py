"""Parse large files on many workers, in the same chunks as in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from treebridge.cluster.engine import ClusterSettings, load_once, ray_workers
from treebridge.corpus.sentence import Sentence
from treebridge.parse.chunking import chunks_of
from treebridge.parse.parsed import Parsed
from treebridge.parse.parser import Parser

Recipe = tuple[Callable[..., Parser], tuple[Any, ...]]  # a loading function and its arguments


def parse_on_ray(
    recipe: Recipe, sentences: Iterable[Sentence], settings: ClusterSettings, **keep: bool
) -> Iterator[Parsed]:
    """Yield trees in the order of the sentences; each worker loads the parser once.

    `keep` are the options of `Parser.parse_chunk`.
    """
    with ray_workers(settings) as workers:
        work = ((*recipe, before, chunk, keep) for before, chunk in chunks_of(sentences))
        yield from chain.from_iterable(workers.stream(_parse, work))


def _parse(
    load: Callable[..., Parser],
    arguments: tuple[Any, ...],
    before: int,
    chunk: list[Sentence],
    keep: dict[str, bool],
) -> list[Parsed]:
    parser: Parser = load_once(load, *arguments)
    return parser.parse_chunk(chunk, before, **keep)
