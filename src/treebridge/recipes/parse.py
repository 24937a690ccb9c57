"""Parse files of any supported format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path

from treebridge.cluster.engine import ClusterSettings, absolute_name
from treebridge.cluster.parse import parse_on_ray
from treebridge.corpus.files import Source
from treebridge.corpus.input import Reading, read_sentences
from treebridge.corpus.sentence import Sentence
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.chunking import CHUNK
from treebridge.parse.parsed import Parsed
from treebridge.parse.parser import Parser
from treebridge.parse.vote import load_parsers
from treebridge.progress import QUIET, Progress

Parse = Callable[..., Iterator[Parsed]]  # sentences, and what to keep of them


def parse_files(
    parser: Parser,
    files: Sequence[Source],
    reading: Reading | None = None,
    *,
    keep_heads: bool = False,
    keep_tags: bool = False,
    on_overwriting: Callable[[], None] | None = None,
    at_once: int = CHUNK,
    parse: Parse | None = None,
    progress: Progress = QUIET,
) -> Iterator[Parsed]:
    """Yield the trees of all files; `parse` replaces the parser's own method.

    `on_overwriting` is called once if the input has heads and they are not kept.
    """
    reading = reading or Reading()
    if keep_heads:
        reading = replace(reading, trees="partial")
    splitter, numbers = reading.splitter(parser.language), count(1)
    sentences: Iterable[Sentence] = chain.from_iterable(
        read_sentences(file, splitter, reading, numbers) for file in files
    )
    if on_overwriting and not keep_heads:
        sentences = _watched(sentences, on_overwriting)
    counted = progress.count(sentences, "sentences")
    parse = parse or partial(parser.parse, at_once=at_once)
    return parse(counted, keep_heads=keep_heads, keep_tags=keep_tags)


def _watched(
    sentences: Iterable[Sentence], on_overwriting: Callable[[], None]
) -> Iterator[Sentence]:
    said = False
    for sentence in sentences:
        if not said and any(head is not None for head in sentence.heads):
            said = True
            on_overwriting()
        yield sentence


def parse_on_cluster(
    cluster: ClusterSettings,
    models: Sequence[str | Path],
    encoder: str | None,
    settings: EncoderSettings,
    bridge: str | None,
    lexicon: str | None = None,
    columns: tuple[str, ...] | None = None,
) -> Parse:
    """A function that parses on the workers of a Ray cluster."""
    folders = tuple(absolute_name(str(model)) for model in models)
    given = (encoder, bridge, lexicon)
    places = [name and absolute_name(str(name)) for name in given]
    load = (load_parsers, (folders, places[0], settings, places[1], places[2], columns))
    return partial(parse_on_ray, load, settings=cluster)
