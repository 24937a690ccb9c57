"""Raw text → sentences → words, for any language, and back without loss."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, count, pairwise
from typing import Any

import regex

from treebridge.corpus.ends import OpenText
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.sentence import MAX_WORDS, Sentence
from treebridge.corpus.tokens import (
    FindSpans,
    Span,
    rule_spans,
    rule_words,
    rules_of,
    space_spans,
    spacy_spans,
)
from treebridge.errors import Notice, TreebridgeError

MAX_PIECE = 1 << 15  # characters; longer lines are processed in pieces
# Where a long line can be cut without changing the sentence ends before the cut.
_SEAM = regex.compile(r"(?r)(?<=[\p{L}\p{N}])\s(?=[\p{L}\p{N}])")
_PAUSES = frozenset(",:;–—…、，،")

# UDPipe's escapes for white space in MISC, and \u{…} for characters that it does not escape.
_ESCAPES = {" ": r"\s", "\t": r"\t", "\r": r"\r", "\n": r"\n", "|": r"\p", "\\": r"\\"}
_UNESCAPES = {code[1]: char for char, code in _ESCAPES.items()}
_ESCAPED = regex.compile(r"\\u\{([0-9a-f]+)\}|\\(.)")


class Splitter:
    """Splits raw text into sentences and words.

    `engine` is the tokenizer: `rules` (any language), `spacy` (spaCy's for the language) or
    `spaces` (already tokenized). `language` is a code such as `en`, optional for `rules`.
    `multiword` splits contractions.

    Examples:
        >>> [sentence.forms for sentence in Splitter("en").sentences("It's late. Go!")]
        [('It', "'s", 'late', '.'), ('Go', '!')]
    """

    def __init__(
        self,
        language: str | None = None,
        engine: str = "rules",
        multiword: Contractions | None = None,
    ):
        self.language = language
        self.engine = engine
        self.multiword = multiword
        self.spans: FindSpans
        if engine == "rules":
            self.spans = partial(rule_spans, language=language)
        elif engine == "spacy":
            self.spans = spacy_spans(language or "xx")
        elif engine == "spaces":
            self.spans = space_spans
        else:
            raise TreebridgeError(f"unknown tokenizer {engine!r}; choose from rules, spacy, spaces")
        self._inner_spans = self.spans  # of a line that is not the last
        if engine == "rules":
            self._inner_spans = partial(rule_spans, language=language, at_end=False)

    @property
    def rules(self) -> list[Any]:
        """All that decides where words are cut, except spaCy's own rules."""
        table = self.multiword and self.multiword.table
        return [self.engine, rules_of(self.language) if self.engine == "rules" else None, table]

    def words(self, text: str) -> list[str]:
        """Split a line of text into words."""
        if self.engine == "rules":
            words = rule_words(text, self.language)
        else:
            words = [text[start:end] for start, end in self.spans(text)]
        if self.multiword is None:
            return words
        return [part for word in words for part in self.multiword.split(word)]

    def sentence(self, text: str) -> Sentence:
        """Turn the whole text, including outer white space, into one sentence."""
        spans = list(self.spans(text))
        misc = []
        for index, (_, end) in enumerate(spans):
            after = spans[index + 1][0] if index + 1 < len(spans) else len(text)
            misc.append(_space_misc(text[end:after], "After"))
        if spans and spans[0][0]:
            before = _space_misc(text[: spans[0][0]], "Before")
            misc[0] = before if misc[0] == "_" else f"{before}|{misc[0]}"
        forms = [text[start:end] for start, end in spans]
        comments = [f"# text = {_one_line(text)}"]
        sentence = Sentence.from_words(forms, misc=misc, comments=comments)
        return self.multiword.expand(sentence) if self.multiword else sentence

    def lines(self, lines: Iterable[str]) -> Iterator[Sentence]:
        """Yield one sentence per non-blank line; split lines of more than MAX_WORDS words."""
        for line in lines:
            if line.strip():
                yield from self._within_limit(line)

    def sentences(self, text: str | Iterable[str]) -> Iterator[Sentence]:
        """Yield the sentences of a text or of a stream of lines (with line breaks).

        A blank line ends a sentence, a line break does not; a sentence of more than MAX_WORDS words
        is split. Memory stays bounded: complete sentences are yielded after every line.
        """
        lines = io.StringIO(text, newline="\n") if isinstance(text, str) else text
        unfinished = OpenText(self._inner_spans)
        opening = True  # the next sentence starts a paragraph
        for piece in (piece for line in lines for piece in _pieces(line)):
            if not piece.strip():
                unfinished.add_blank(piece)
                continue
            if unfinished.ended:
                yield from self._paragraph(unfinished.close(), opening)
                opening = True
            for whole in unfinished.add(piece):
                yield from self._paragraph(whole, opening)
                opening = False
        if unfinished.spans:
            yield from self._paragraph(unfinished.close(), opening)

    def _paragraph(self, text: str, opening: bool) -> Iterator[Sentence]:
        for sentence in self._within_limit(text):
            if opening:
                sentence.comments = ["# newpar", *sentence.comments]
            opening = False
            yield sentence

    def _within_limit(self, text: str) -> Iterator[Sentence]:
        """Yield one sentence, or several if it has more words than a parser accepts."""
        sentence = self.sentence(text)
        if len(sentence) <= MAX_WORDS or len(spans := list(self.spans(text))) == 1:
            yield sentence
            return
        warnings.warn(
            f"a sentence of more than {MAX_WORDS:,} words was split; is this running text?",
            Notice,
            stacklevel=1,  # the same place for all, so that Python shows it once
        )
        cuts = [0, *self._cuts(text, spans), len(text)]
        for start, end in pairwise(cuts):
            # On its own a part may have one more word: a final "C." becomes "C" and ".".
            yield from self._within_limit(text[start:end])

    def _cuts(self, text: str, spans: Sequence[Span]) -> Iterator[int]:
        """Yield where to split a sentence so that no part has more than MAX_WORDS words."""
        forms = (text[start:end] for start, end in spans)
        sizes = (len(self.multiword.split(form)) if self.multiword else 1 for form in forms)
        words = [0, *accumulate(sizes)]  # number of words before each span
        waiting = [(0, len(spans))]
        while waiting:
            first, last = waiting.pop()
            if words[last] - words[first] > MAX_WORDS and last - first > 1:
                middle = _middle(text, spans, first, last)
                waiting += [(middle, last), (first, middle)]
            elif first:
                yield spans[first][0]


def _pieces(line: str) -> Iterator[str]:
    """Yield a line, cut into pieces if it is so long that its words would take much memory."""
    start = 0
    while len(line) - start > MAX_PIECE:
        end = start + MAX_PIECE
        seam = _SEAM.search(line, start + MAX_PIECE // 2, end)
        cut = seam.end() if seam else end
        yield line[start:cut]
        start = cut
    yield line[start:] if start else line


def _middle(text: str, spans: Sequence[Span], first: int, last: int) -> int:
    """Choose the word that begins the second half: after a line break, a pause or a space."""
    middle = (first + last) // 2
    reach = (last - first) // 6

    def preference(index: int) -> tuple[int, int]:
        start, end = spans[index - 1]
        gap = text[end : spans[index][0]]
        kind = 3 * ("\n" in gap) or 2 * (text[start:end] in _PAUSES) or bool(gap)
        return kind, -abs(index - middle)

    return max(range(middle - reach, middle + reach + 1), key=preference)


def numbered(
    sentences: Iterable[Sentence], numbers: Iterable[int] | None = None
) -> Iterator[Sentence]:
    """Give the sentences of raw text their numbers as `sent_id`; `numbers` go on across texts."""
    for sentence, number in zip(sentences, numbers or count(1), strict=False):
        at = next(i for i, line in enumerate(sentence.comments) if line.startswith("# text = "))
        new = [f"# sent_id = {number}"]
        sentence.comments = [*sentence.comments[:at], *new, *sentence.comments[at:]]
        yield sentence


def rebuild(sentences: Iterable[Sentence]) -> str:
    """Restore the exact text that the sentences were split from."""
    parts: list[str] = []
    for sentence in sentences:
        for form, misc in sentence.written():
            before, after = "", " "
            for item in misc.split("|"):
                key, _, value = item.partition("=")
                if key == "SpaceAfter" and value == "No":
                    after = ""
                elif key == "SpacesAfter":
                    after = _unescape(value)
                elif key == "SpacesBefore":
                    before = _unescape(value)
            parts += (before, form, after)
    return "".join(parts)


def _space_misc(space: str, side: str) -> str:
    """Encode white space beside a word for MISC; one space after a word is the default."""
    if side == "After" and space in ("", " "):
        return "_" if space else "SpaceAfter=No"
    escaped = (_ESCAPES.get(char) or f"\\u{{{ord(char):x}}}" for char in space)
    return f"Spaces{side}={''.join(escaped)}"


def _unescape(value: str) -> str:
    return str(
        _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else _UNESCAPES.get(m[2], m[2]), value)
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
