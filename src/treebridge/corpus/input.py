"""Input to parse: raw text, tokenized lines or CoNLL-U, detected automatically."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from treebridge.corpus.conllu import Trees, read_conllu
from treebridge.corpus.files import Source, name_of, open_bytes, read_text
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.text import Splitter, numbered
from treebridge.errors import TreebridgeError

_ENDINGS = (".txt", ".text", ".conllu", ".conll", ".tsv", ".csv", ".xz", ".gz", ".bz2", ".zip")


@dataclass(frozen=True)
class Reading:
    """How to read input, as far as its name and content do not tell."""

    language: str | None = None  # of raw text
    lines: bool = False  # one sentence per line
    tokens: bool = False  # one tokenized sentence per line
    multiword: str | None = None  # file of contractions; default: the language's built-in table
    trees: Trees = "free"  # what the heads of CoNLL-U must be

    def splitter(self, language: str | None = None) -> Splitter:
        """Create the splitter for raw text; `language` is the default language."""
        language = self.language or language
        if self.multiword:
            table: Contractions | None = Contractions.read(self.multiword)
        else:
            table = None if self.tokens else Contractions.of(language)
        return Splitter(language, "spaces" if self.tokens else "rules", table)


def is_text(argument: str) -> bool:
    """Whether an argument is text to parse: several words that do not name a file."""
    if len(argument.split()) < 2 or os.path.exists(argument):  # noqa: PTH110  never raises
        return False
    return not argument.lower().endswith(_ENDINGS)


def text_source(text: str) -> Source:
    """Wrap a text as an input source."""
    return io.BytesIO(os.fsencode(text))


def read_sentences(
    file: Source,
    splitter: Splitter | None = None,
    reading: Reading | None = None,
    numbers: Iterator[int] | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U or raw text, detected by file name or first line.

    Sentences of raw text take their `sent_id` from `numbers`, by default from 1.
    """
    splitter, reading = splitter or Splitter(), reading or Reading()
    by_line = reading.lines or reading.tokens
    found = False
    with open_bytes(file) as opened:
        stream: Any = opened if hasattr(opened, "peek") else io.BufferedReader(opened)
        if not by_line and _is_conllu(name_of(file), stream.peek(4096)):
            sentences: Iterable[Sentence] = read_conllu(stream, trees=reading.trees)
        else:
            texts = (text for _, text in read_text(stream, cut_long=True))
            lines = chain.from_iterable(io.StringIO(text, newline="\n") for text in texts)
            found_in = splitter.lines(lines) if by_line else splitter.sentences(lines)
            sentences = numbered(found_in, numbers)
        for sentence in sentences:
            found = True
            yield sentence
    if not found:
        raise TreebridgeError("found no sentences to parse; expected text or CoNLL-U",
                              file=name_of(file))  # fmt: skip


def _is_conllu(name: str, head: bytes) -> bool:
    if ".conllu" in name or ".txt" in name:
        return ".conllu" in name
    first = next((line for line in head.split(b"\n") if line.strip() and line[:1] != b"#"), b"")
    return first.count(b"\t") == 9
