"""WordPiece, the tokenizer of BERT, from a tokenizer.json: the same pieces as `tokenizers` gives.

Packed models need nothing else, and the package would triple what has to be installed with it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

Normalize = Callable[[str], str]
_CJK = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]  # fmt: skip


class WordPiece:
    """Cuts text into the longest pieces of a vocabulary, from left to right."""

    def __init__(self, model: dict[str, Any], normalizers: list[Normalize]):
        self._ids: dict[str, int] = model["vocab"]
        self._unknown = self._ids[model["unk_token"]]
        self._inside = str(model["continuing_subword_prefix"])
        self._longest = int(model["max_input_chars_per_word"])
        self._normalizers = normalizers

    @classmethod
    def read(cls, path: Path) -> WordPiece | None:
        """Read a tokenizer.json; None if it describes another kind of tokenizer."""
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["model"].get("type") != "WordPiece":
            return None
        if (content["pre_tokenizer"] or {}).get("type") != "BertPreTokenizer":
            return None
        normalizers = _normalizers(content["normalizer"])
        return None if normalizers is None else cls(content["model"], normalizers)

    def cut(self, words: list[str]) -> list[list[int]]:
        """The pieces of each word."""
        return [self._cut(word) for word in words]

    def _cut(self, text: str) -> list[int]:
        for normalize in self._normalizers:
            text = normalize(text)
        spaced = "".join(
            " " if _is_space(c) else f" {c} " if _is_punctuation(c) else c for c in text
        )
        return [piece for word in spaced.split(" ") if word for piece in self._pieces(word)]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > self._longest:
            return [self._unknown]
        pieces, start = [], 0
        while start < len(word):
            before = self._inside if start else ""
            for end in range(len(word), start, -1):
                piece = self._ids.get(before + word[start:end])
                if piece is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(piece)
            start = end
        return pieces


def _normalizers(described: dict[str, Any] | None) -> list[Normalize] | None:
    """The steps before words are cut; None if one is not known here."""
    if described is None:
        return []
    kind = described["type"]
    if kind == "Sequence":
        steps = [_normalizers(inner) for inner in described["normalizers"]]
        if any(step is None for step in steps):
            return None
        return [normalize for step in steps for normalize in step or []]
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return [lambda text: unicodedata.normalize(kind, text)]
    if kind == "Lowercase":
        return [_lower]
    if kind == "BertNormalizer":
        strip, lower = described["strip_accents"], described["lowercase"]
        chosen = [
            (described["clean_text"], _clean),
            (described["handle_chinese_chars"], _space_cjk),
            (lower if strip is None else strip, _strip_accents),
            (lower, _lower),
        ]
        return [normalize for wanted, normalize in chosen if wanted]
    return None


def _clean(text: str) -> str:
    return "".join(
        " " if _is_space(c) else c
        for c in text
        if c in "\t\n\r" or not (c in "\0\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Co"))
    )


def _space_cjk(text: str) -> str:
    return "".join(f" {c} " if _is_cjk(c) else c for c in text)


def _strip_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def _lower(text: str) -> str:
    return "".join(c.lower() for c in text)  # by itself: Σ is σ at the end of a word, too


def _is_space(c: str) -> bool:
    return c.isspace() and not "\x1c" <= c <= "\x1f"  # which Unicode does not call white space


def _is_cjk(c: str) -> bool:
    return any(first <= ord(c) <= last for first, last in _CJK)


def _is_punctuation(c: str) -> bool:
    if c.isascii():
        return c.isprintable() and not c.isalnum() and c != " "
    return unicodedata.category(c).startswith("P")
