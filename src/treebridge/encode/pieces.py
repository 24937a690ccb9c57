"""Words → pieces of an encoder's vocabulary, and sentences → windows that fit the encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from treebridge.corpus.tokens import REMEMBERED_LENGTH
from treebridge.encode.encoder import MAX_LETTERS
from treebridge.encode.wordpiece import WordPiece
from treebridge.errors import MissingExtra, TreebridgeError, first_line
from treebridge.records import FIX

MAX_WORD = 64  # pieces of a word that are looked at; longer "words" are rulers and hex dumps
MAX_REMEMBERED = 500_000
Cut = Callable[[list[str]], list[list[int]]]  # words → the pieces of each


class Window(NamedTuple):
    """A stretch of words that the encoder sees at once."""

    sentence: int  # index in the present chunk
    first: int  # word of the sentence at which the window begins
    pieces: list[list[int]]  # of each word in the window
    keep_from: int  # words of the sentence whose vectors are taken from this window
    keep_to: int
    size: int  # pieces, special ones included


@dataclass(frozen=True)
class Vocabulary:
    """What must be known of a tokenizer beside how it cuts words."""

    prefix: list[int]  # pieces before a sentence, such as [CLS]
    suffix: list[int]  # pieces after it, such as [SEP] or </s>
    unknown: int  # the piece of a word that it makes nothing of
    lead: str  # what stands before a word, so that it is cut as the beginning of one


class Pieces:
    """Cuts words into pieces. Every word type is cut once and remembered, unless it is very long.

    A word is cut by itself, as tokenizers do with text that is split into words already, so the
    pieces of a sentence are the pieces of its words: an index can never shift.
    """

    def __init__(self, cut: Cut, vocabulary: Vocabulary, max_pieces: int = 512):
        self._cut = cut
        self._known: dict[str, list[int]] = {}
        self.vocabulary = vocabulary
        self._unknown, self._lead = vocabulary.unknown, vocabulary.lead
        self.prefix, self.suffix = vocabulary.prefix, vocabulary.suffix
        self.specials = len(self.prefix) + len(self.suffix)
        self.room = max_pieces - self.specials  # pieces of words that the encoder takes at once

    @classmethod
    def of_tokenizer(cls, tokenizer: Any, max_pieces: int = 512) -> Pieces:
        """Those of a tokenizer of `transformers`."""

        def cut(words: list[str]) -> list[list[int]]:
            found = tokenizer(
                words,
                add_special_tokens=False,
                split_special_tokens=True,  # "[SEP]" in a text is text
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,
            )
            ids: list[list[int]] = found["input_ids"]
            return ids

        lead = " " if _is_byte_level(tokenizer) else ""
        vocabulary = Vocabulary(*_special_ids(tokenizer), _unknown_id(tokenizer), lead)
        return cls(cut, vocabulary, max_pieces)

    @classmethod
    def of_file(cls, path: Path, vocabulary: Vocabulary, max_pieces: int) -> Pieces:
        """Those of a tokenizer.json, without `transformers`."""
        try:
            if wordpiece := WordPiece.read(path):
                return cls(wordpiece.cut, vocabulary, max_pieces)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise TreebridgeError(
                f"cannot be read ({first_line(error)}); {FIX}", file=path
            ) from None
        if find_spec("tokenizers") is None:
            raise MissingExtra("tokenizers", "tokenizers", "the encoder of this model")
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing more specific
            raise TreebridgeError(
                f"cannot be read ({first_line(error)}); {FIX}", file=path
            ) from None
        tokenizer.encode_special_tokens = True  # "[SEP]" in a text is text
        tokenizer.no_truncation()
        tokenizer.no_padding()

        def cut(words: list[str]) -> list[list[int]]:
            found = tokenizer.encode_batch_fast(words, add_special_tokens=False)
            return [encoding.ids for encoding in found]

        return cls(cut, vocabulary, max_pieces)

    def cut(self, sentences: Iterable[Sequence[str]]) -> list[list[list[int]]]:
        """The pieces of each word of each sentence; every word has at least one."""
        sentences = [[word[:MAX_LETTERS] for word in words] for words in sentences]
        if len(self._known) > MAX_REMEMBERED:
            self._known.clear()
        known, longest = self._known, min(MAX_WORD, self.room)
        new = list({word: None for words in sentences for word in words if word not in known})
        if new:
            cut = self._cut([self._lead + word for word in new])
            for word, ids in zip(new, cut, strict=True):
                known[word] = list(ids[:longest]) or [self._unknown]
        pieces = [[known[word] for word in words] for words in sentences]
        for word in new:
            if len(word) > REMEMBERED_LENGTH:
                del known[word]
        return pieces

    def is_known(self, pieces: list[int]) -> bool:
        """Whether all of a word is in the vocabulary."""
        return self._unknown not in pieces

    def is_whole(self, pieces: list[int]) -> bool:
        """Whether a word is one piece, and not the unknown one."""
        return len(pieces) == 1 and pieces[0] != self._unknown


def windows(sentence: int, pieces: list[list[int]], room: int, specials: int) -> list[Window]:
    """Cut a sentence into overlapping windows of at most `room` pieces beside the special ones.

    Each word is kept from the window in which it sees most to its poorer side.
    """
    sizes = [len(word) for word in pieces]
    if sum(sizes) <= room:
        return [Window(sentence, 0, pieces, 0, len(pieces), sum(sizes) + specials)]
    spans = _spans(sizes, room)
    starts = [0]  # pieces before each word
    for size in sizes:
        starts.append(starts[-1] + size)

    def context(word: int, span: tuple[int, int]) -> float:
        left = starts[word] - starts[span[0]] if span[0] else float("inf")
        right = starts[span[1]] - starts[word + 1] if span[1] < len(sizes) else float("inf")
        return min(left, right) if span[0] <= word < span[1] else -1.0

    best = [max(range(len(spans)), key=lambda k: context(w, spans[k])) for w in range(len(sizes))]
    return [
        Window(
            sentence,
            first,
            pieces[first:last],
            best.index(k),
            best.index(k) + best.count(k),
            starts[last] - starts[first] + specials,
        )
        for k, (first, last) in enumerate(spans)
        if k in best
    ]


def _spans(sizes: list[int], room: int) -> list[tuple[int, int]]:
    """Word spans of at most `room` pieces that overlap by about half."""
    spans = []
    first = 0
    while True:
        last, used = first, 0
        while last < len(sizes) and (used + sizes[last] <= room or last == first):
            used += sizes[last]
            last += 1
        spans.append((first, last))
        if last == len(sizes):
            return spans
        overlap, first = 0, last
        while first - 1 > spans[-1][0] and overlap + sizes[first - 1] <= room // 2:
            first -= 1
            overlap += sizes[first]


def _is_byte_level(tokenizer: Any) -> bool:
    """Whether the vocabulary marks the beginning of a word by the space before it (GPT-2's way)."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return (
        backend is not None and '"type":"ByteLevel"' in str(backend.to_str()).split('"decoder"')[0]
    )


def _unknown_id(tokenizer: Any) -> int:
    """The piece that stands for a word the tokenizer makes nothing of."""
    for name in ("unk_token_id", "mask_token_id", "eos_token_id", "bos_token_id", "pad_token_id"):
        piece = getattr(tokenizer, name, None)
        if piece is not None:
            return int(piece)
    raise TreebridgeError("this tokenizer has no unknown, mask, end or padding token")


def _special_ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a sentence ([CLS], </s>, …)."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    full = tokenizer("a", add_special_tokens=True)["input_ids"]
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return list(full[:start]), list(full[start + len(bare) :])
    raise TreebridgeError("this tokenizer changes words when it adds its special tokens")
