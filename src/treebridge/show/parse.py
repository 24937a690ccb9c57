"""`treebridge parse`: text or CoNLL-U in, CoNLL-U with trees out."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from treebridge.bridge.bridge import Bridge
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.files import name_of, open_bytes, read_text, write_text
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.text import Splitter
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.models import find_model
from treebridge.parse.parser import Parser
from treebridge.show.progress import watch


def load_parser(
    model: str, bridge: str | None, encoder: str | None, settings: EncoderSettings
) -> Parser:
    """A parser folder, across a bridge if there is one; `encoder` is a copy of its encoder."""
    parser = Parser.load(find_model(model), encoder_settings=settings)
    if bridge:
        parser = parser.across(Bridge.load(bridge))
    if encoder:
        space = parser.bridge.target if parser.bridge else parser.space
        layers = space.layers or settings.layers
        parser.encoder = Encoder.load(encoder, replace(settings, layers=layers))
        space.check(parser.encoder)
    return parser


def parse_files(
    parser: Parser, files: Iterable[str], output: Path | None, language: str | None
) -> None:
    """Write the trees of all files, one after the other, as they are made."""
    sentences = chain.from_iterable(read_sentences(file, language) for file in files)
    trees = (parsed.sentence.to_conllu() for parsed in parser.parse(watch("sentences")(sentences)))
    if output is None:
        sys.stdout.writelines(trees)
        return
    with write_text(output) as stream:
        stream.writelines(trees)


def read_sentences(file: str, language: str | None = None) -> Iterator[Sentence]:
    """The sentences of CoNLL-U, or of raw text; the name tells, or how the content begins."""
    with open_bytes(file) as stream:
        if _is_conllu(name_of(file), stream.peek(4096)):  # type: ignore[attr-defined]
            yield from read_conllu(stream)
        else:
            texts = (io.StringIO(text, newline="\n") for _, text in read_text(stream))
            yield from Splitter(language).sentences(chain.from_iterable(texts))


def _is_conllu(name: str, head: bytes) -> bool:
    if ".conllu" in name or ".txt" in name:
        return ".conllu" in name
    first = next((line for line in head.split(b"\n") if line.strip() and line[:1] != b"#"), b"")
    return first.count(b"\t") == 9
