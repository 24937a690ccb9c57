"""Limits on the text of a request, checked before it is processed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import regex
from fastapi import HTTPException

from treebridge.corpus.sentence import Sentence
from treebridge.web.settings import ServerSettings

_INVALID = re.compile("[\x00\ud800-\udfff]")
_CHUNK = re.compile(r"\S+")
_LETTERS = regex.compile(r"[\p{L}--\p{Han}]+", regex.V1)  # no tokenizer splits these


def check_text(text: str, kind: str, settings: ServerSettings) -> None:
    """Refuse a text that is too long, has invalid characters or contains an overlong word."""
    _check("the text has", len(text), "characters", settings.max_text)
    if found := _INVALID.search(text):
        raise HTTPException(422, f"character U+{ord(found[0]):04X} is not allowed; remove it")
    if kind != "conllu":
        pattern = _CHUNK if kind == "tokens" else _LETTERS
        _check_words((found[0] for found in pattern.finditer(text)), settings)


def check_sentences(sentences: Sequence[Sentence], settings: ServerSettings) -> None:
    """Refuse sentences that would delay other requests."""
    _check("the text has", len(sentences), "sentences", settings.max_sentences)
    for sentence in sentences:
        _check("a sentence has", len(sentence), "words", settings.max_words)
        _check_words(sentence.forms, settings)


def _check_words(words: Iterable[str], settings: ServerSettings) -> None:
    longest = max(map(len, words), default=0)
    _check("a word has", longest, "characters", settings.max_word_length)


def _check(what: str, found: int, unit: str, limit: int) -> None:
    if found > limit:
        raise HTTPException(422, f"{what} {found:,} {unit}; the limit is {limit:,}")
