"""Incremental sentence splitting; every word is examined once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

import regex

from treebridge.corpus.tokens import MAYBE_LAST, FindSpans, Span
from treebridge.errors import Notice

MAX_OPEN = 4000  # characters; a longer "sentence" is ended at the end of its line
MAX_SPACE = 1 << 16  # characters of consecutive blank lines that are kept until the next word
_LAST = ".!?…‽;؟۔।॥။።。！？｡"  # sentence-final characters, including the Greek question mark
_TERMINATOR = regex.compile(f"[{_LAST}]+")
_WIDE_TERMINATOR = regex.compile(r"[。！？｡]+")  # written without a space after them
_LOWER_INITIALS = regex.compile(r"(?:\p{Ll}\.){2,}")  # p.m. may end a sentence, U.S. rarely does
_CLOSERS = frozenset("\"'”’»›)]}】」』）")
_LIST_NUMBER = regex.compile(r"\p{Nd}{1,2}")
_FIRST_LETTER = regex.compile(r"[\p{L}\p{N}]")
_INSIDE, _ABBREVIATION, _END, _WIDE_END = range(4)  # role of a word in its sentence


def sentence_starts(text: str, spans: Iterable[Span]) -> list[int]:
    """Return the indices of the words that begin a sentence; `spans` are those of the words."""
    return [0, *OpenText(lambda _: spans, text).starts()]


class OpenText:
    """Text that arrives line by line, from the beginning of its last, unfinished sentence.

    `find_words` returns the spans of the words in a line.
    """

    def __init__(self, find_words: FindSpans, text: str = "") -> None:
        self._find_words = find_words
        self._begin(text)

    def _begin(self, text: str) -> None:
        self.text = text
        self.spans = list(self._find_words(text)) if text else []  # of its words
        self._space: list[str] = []  # the blank lines after it
        self._room = MAX_SPACE  # for more blank lines, in characters
        self._seen = 0  # characters already searched for letters
        self._next = 0  # the first word that has not been examined yet
        self._last, self._kind = 0, _INSIDE  # the last word before closing quotes, and its role
        self._waiting: int | None = None  # an abbreviation that ends a sentence before a capital

    @property
    def ended(self) -> bool:
        """Whether a blank line has ended the last sentence."""
        return bool(self._space) and bool(self.spans)

    def add_blank(self, line: str) -> None:
        """Add a blank line."""
        if len(line) > self._room:
            warnings.warn(
                f"more than {MAX_SPACE:,} characters of white space in a row; the rest is dropped",
                Notice,
                stacklevel=1,  # the same place for all, so that Python shows it once
            )
        if self._room:
            self._space.append(line[: self._room])
            self._room -= len(self._space[-1])

    def add(self, line: str) -> list[str]:
        """Add a line; return the sentences that are now complete."""
        self.text += "".join(self._space)
        self._space, self._room = [], MAX_SPACE
        before = len(self.text)
        self.text += line
        self.spans += [(before + start, before + end) for start, end in self._find_words(line)]
        sentences, begin, index = [], 0, 0
        for index in self.starts():
            end = self.spans[index][0]
            sentences.append(self.text[begin:end])
            begin = end
        if index:
            self._drop(index)
        if len(self.text) > MAX_OPEN:
            sentences.append(self.close())
        return sentences

    def close(self) -> str:
        """Return the remaining text, including the blank lines after it."""
        text = self.text + "".join(self._space)
        self._begin("")
        return text

    def starts(self) -> Iterator[int]:
        """Yield the newly found words that begin a sentence."""
        text, spans = self.text, self.spans
        letter = _FIRST_LETTER.search(text, self._seen)
        if self._waiting is not None and letter:
            if letter[0].isupper():
                yield self._waiting + 1
            self._waiting = None
        for index in range(self._next, len(spans) - 1):
            start, end = spans[index]
            word, following = text[start:end], spans[index + 1][0]
            if not (index and word in _CLOSERS and spans[index - 1][1] == start):
                self._last, self._kind = index, _kind_of(word)
            if self._kind == _INSIDE:
                continue
            if end == following:
                if self._kind == _WIDE_END and text[slice(*spans[index + 1])] not in _CLOSERS:
                    yield index + 1
                continue
            if self._kind == _END and self._is_list_number():
                continue
            if letter and letter.start() < following:
                letter = _FIRST_LETTER.search(text, following)
            if self._kind == _ABBREVIATION:
                if letter is None:
                    self._waiting = index
                elif letter[0].isupper():
                    yield index + 1
            elif letter is None or not letter[0].islower():
                yield index + 1
        self._seen, self._next = len(text), max(0, len(spans) - 1)

    def _is_list_number(self) -> bool:
        """Whether the full stop belongs to the number of a list item or heading (1. Scope)."""
        text, spans, last = self.text, self.spans, self._last
        if not last or text[slice(*spans[last])] != ".":
            return False
        if not _LIST_NUMBER.fullmatch(text, *spans[last - 1]):
            return False
        return last == 1 or "\n" in text[spans[last - 2][1] : spans[last - 1][0]]

    def _drop(self, words: int) -> None:
        """Drop the text before a word."""
        at = self.spans[words][0]
        if self.spans[words - 1][1] == at:  # the split may differ without the words before it
            self._begin(self.text[at:])
            return
        self.text = self.text[at:]
        self.spans = [(start - at, end - at) for start, end in self.spans[words:]]
        self._seen, self._next, self._last = self._seen - at, self._next - words, self._last - words
        if self._waiting is not None:
            self._waiting = self._waiting - words if self._waiting >= words else None


def _kind_of(word: str) -> int:
    if word[-1] not in _LAST:
        return _INSIDE
    if _TERMINATOR.fullmatch(word):
        return _WIDE_END if _WIDE_TERMINATOR.fullmatch(word) else _END
    abbreviation = word in MAYBE_LAST or _LOWER_INITIALS.fullmatch(word)
    return _ABBREVIATION if abbreviation else _INSIDE
