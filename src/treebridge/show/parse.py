"""`treebridge parse`: text or CoNLL-U in, trees out, as they are made."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from treebridge.bridge.bridge import Bridge
from treebridge.cluster.engine import ClusterSettings, from_anywhere
from treebridge.cluster.parse import parse_on_ray
from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.files import Source, name_of, open_bytes, read_text
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.text import Splitter
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.models import find_model
from treebridge.parse.parser import CHUNK, Parsed, Parser
from treebridge.records import read_record
from treebridge.show.confidence import with_confidence
from treebridge.show.output import WRITERS, check_output
from treebridge.show.progress import watch

_ENDINGS = (".txt", ".text", ".conllu", ".conll", ".tsv", ".csv", ".xz", ".gz", ".bz2", ".zip")
Parse = Callable[[Iterable[Sentence]], Iterator[Parsed]]


@dataclass(frozen=True)
class Reading:
    """What the input is, where its name and content do not say."""

    language: str | None = None  # of raw text; the model's own, if not given
    lines: bool = False  # one sentence a line
    tokens: bool = False  # the same, with spaces between words
    multiword: str | None = None  # a table of multi-word tokens; the language's own, if not given


def load_parser(
    model: str,
    bridge: str | None = None,
    encoder: str | None = None,
    settings: EncoderSettings | None = None,
) -> Parser:
    """A parser folder, across a bridge if there is one; `encoder` is a copy of its encoder."""
    settings = settings or EncoderSettings()
    folder = Path(find_model(model))
    _check_model(folder)
    parser = Parser.load(folder, encoder_settings=settings)
    if bridge:
        parser = parser.across(Bridge.load(bridge))
    if encoder:
        space = parser.bridge.target if parser.bridge else parser.space
        layers = space.layers or settings.layers
        parser.encoder = Encoder.load(encoder, replace(settings, layers=layers))
        space.check(parser.encoder)
    return parser


def ray_parse(
    cluster: ClusterSettings,
    model: str,
    bridge: str | None,
    encoder: str | None,
    settings: EncoderSettings,
) -> Parse:
    """The same parser on the workers of a Ray cluster."""
    names = (name and from_anywhere(name) for name in (model, bridge, encoder))
    return partial(parse_on_ray, (load_parser, (*names, settings)), settings=cluster)


def _check_model(folder: Path) -> None:
    """Say what else was given as a model, where it is something that people mix up with one."""
    if folder.is_file():
        raise TreebridgeError("--model wants a parser's folder; this is a file", file=folder)
    config = folder / "config.json"
    if folder.is_dir() and not config.exists():
        inside = [path.name for path in sorted(folder.glob("*/parser.safetensors"))]
        hint = f"; did you mean {folder / inside[0]}?" if inside else "; treebridge train makes one"
        raise TreebridgeError(f"there is no parser in this folder{hint}", file=folder)
    try:
        content = read_record(config, verify=False)
    except TreebridgeError:
        return  # loading says what is wrong
    if content.get("treebridge") == "bridge":
        raise TreebridgeError(
            "this is a bridge; give it with --bridge, and the parser it leads to with --model",
            file=folder,
        )
    if "model_type" in content:
        raise TreebridgeError(
            "this is an encoder, not a parser; treebridge train --encoder makes one with it",
            file=folder,
        )


def parse_files(
    parser: Parser,
    files: Sequence[str],
    reading: Reading,
    *,
    output: Path | None = None,
    kind: str = "conllu",
    confidence: bool = False,
    force: bool = False,
    parse: Parse | None = None,
) -> None:
    """Write the trees of all files as they are made; `parse` stands in for the parser's own."""
    check_output(output, kind, force=force)
    splitter = make_splitter(reading, parser.language)
    sources = (io.BytesIO(os.fsencode(file)) if is_text(file) else file for file in files)
    sentences: Iterable[Sentence] = chain.from_iterable(
        read_sentences(one, splitter, reading) for one in sources
    )
    typed = "-" in files and sys.stdin.isatty()
    sentences = watch("sentences")(sentences)
    at_once = 1 if typed else CHUNK
    parsed = parse(sentences) if parse else parser.parse(sentences, at_once=at_once)
    sure = confidence or kind in ("svg", "html", "text")  # pictures show it anyway
    trees = (with_confidence(one) if sure else one.sentence for one in parsed)
    WRITERS[kind](trees, output)


def check_inputs(files: Iterable[str]) -> None:
    """Refuse a missing file before a model is loaded; say so where a person is to type."""
    for file in files:
        if file == "-":
            if sys.stdin.isatty():
                print("type sentences; an empty line or Ctrl-D ends one", file=sys.stderr)
        elif not is_text(file):
            with open_bytes(file):
                pass


def is_text(argument: str) -> bool:
    """Whether an argument is to be parsed itself: several words, and not the name of a file."""
    if len(argument.split()) < 2 or os.path.exists(argument):  # noqa: PTH110  never raises
        return False
    return not argument.lower().endswith(_ENDINGS)


def make_splitter(reading: Reading, language: str | None = None) -> Splitter:
    """Who finds the words of raw text; `language` is the model's."""
    language = reading.language or language
    if reading.multiword:
        table: Contractions | None = Contractions.read(reading.multiword)
    else:
        table = None if reading.tokens else Contractions.of(language)
    return Splitter(language, "spaces" if reading.tokens else "rules", table)


def read_sentences(
    file: Source, splitter: Splitter | None = None, reading: Reading | None = None
) -> Iterator[Sentence]:
    """The sentences of CoNLL-U, or of raw text; the name tells, or how the content begins."""
    splitter, reading = splitter or Splitter(), reading or Reading()
    by_line = reading.lines or reading.tokens
    found = False
    with open_bytes(file) as opened:
        stream: Any = opened if hasattr(opened, "peek") else io.BufferedReader(opened)
        if not by_line and _is_conllu(name_of(file), stream.peek(4096)):
            sentences: Iterable[Sentence] = read_conllu(stream)
        else:
            texts = (text for _, text in read_text(stream, cut_long=True))
            lines = chain.from_iterable(io.StringIO(text, newline="\n") for text in texts)
            sentences = splitter.lines(lines) if by_line else splitter.sentences(lines)
        for sentence in sentences:
            found = True
            yield sentence
    if not found:
        raise TreebridgeError(
            "there is nothing to parse: no sentence in it; give a file with text",
            file=name_of(file),
        )


def _is_conllu(name: str, head: bytes) -> bool:
    if ".conllu" in name or ".txt" in name:
        return ".conllu" in name
    first = next((line for line in head.split(b"\n") if line.strip() and line[:1] != b"#"), b"")
    return first.count(b"\t") == 9
