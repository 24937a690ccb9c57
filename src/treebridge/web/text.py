"""How much text a request may hold; asked before anything is done with it, or remembered."""

from __future__ import annotations

import re
from collections.abc import Iterable

import regex
from fastapi import HTTPException

from treebridge.corpus.sentence import Sentence
from treebridge.web.settings import ServerSettings

_UNFIT = re.compile("[\x00\ud800-\udfff]")
_CHUNK = re.compile(r"\S+")
_LETTERS = regex.compile(r"[\p{L}--\p{Han}]+", regex.V1)  # part of one word, by any rules


def check_text(text: str, kind: str, settings: ServerSettings) -> None:
    """Refuse a text that is too long, is no text, or must hold a word that is too long."""
    if len(text) > settings.max_text:
        raise HTTPException(
            422, f"{len(text):,} characters; at most {settings.max_text:,} at a time"
        )
    if found := _UNFIT.search(text):
        raise HTTPException(422, f"character U+{ord(found[0]):04X} is no text; remove it")
    if kind != "conllu":
        pattern = _CHUNK if kind == "tokens" else _LETTERS
        _check_words((found[0] for found in pattern.finditer(text)), settings)


def check_sentences(sentences: Iterable[Sentence], settings: ServerSettings) -> None:
    """Refuse sentences that would keep the others waiting."""
    for sentence in sentences:
        if len(sentence) > settings.max_sentence:
            raise HTTPException(
                422, f"a sentence of {len(sentence):,} words; at most {settings.max_sentence:,}"
            )
        _check_words(sentence.forms, settings)


def _check_words(words: Iterable[str], settings: ServerSettings) -> None:
    longest = max(map(len, words), default=0)
    if longest > settings.max_word:
        raise HTTPException(422, f"a word of {longest:,} characters; at most {settings.max_word:,}")
