"""Parse files of any supported format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
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
from treebridge.progress import QUIET, Progress

Parse = Callable[[Iterable[Sentence]], Iterator[Parsed]]


def parse_files(
    parser: Parser,
    files: Sequence[Source],
    reading: Reading | None = None,
    *,
    at_once: int = CHUNK,
    parse: Parse | None = None,
    progress: Progress = QUIET,
) -> Iterator[Parsed]:
    """Yield the trees of all files; `parse` replaces the parser's own method."""
    reading = reading or Reading()
    splitter = reading.splitter(parser.language)
    sentences = chain.from_iterable(read_sentences(file, splitter, reading) for file in files)
    counted = progress.count(sentences, "sentences")
    return parse(counted) if parse else parser.parse(counted, at_once=at_once)


def parse_on_cluster(
    cluster: ClusterSettings,
    model: str | Path,
    encoder: str | None,
    settings: EncoderSettings,
    bridge: str | None,
) -> Parse:
    """A function that parses on the workers of a Ray cluster."""
    places = [name and absolute_name(str(name)) for name in (model, encoder, bridge)]
    load = (Parser.load, (places[0], places[1], settings, places[2]))
    return partial(parse_on_ray, load, settings=cluster)
