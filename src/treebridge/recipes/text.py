"""Target-language text from files, for recipes that learn from it or forecast for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from treebridge.corpus.input import Reading, read_sentences
from treebridge.parse.choose import Text


def words_of(files: Sequence[str], language: str | None) -> Iterator[list[str]]:
    """Yield the words of each sentence of text or CoNLL-U files."""
    splitter = Reading(language).splitter()
    for file in files:
        for sentence in read_sentences(file, splitter):
            yield list(sentence.forms)


def text_of(files: Sequence[str], language: str | None) -> Text | None:
    """The text of some files to forecast the LAS for; None without files."""
    if not files:
        return None
    return Text(" + ".join(Path(file).name for file in files), words_of(files, language))
