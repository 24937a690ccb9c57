"""Raw text → sentences → words, offline and for any language, and back again exactly."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

import regex

from treebridge.corpus.multiword import Contractions
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.tokens import (
    MAYBE_LAST,
    FindSpans,
    Span,
    rule_spans,
    rule_words,
    space_spans,
    spacy_spans,
)
from treebridge.errors import TreebridgeError

MAX_OPEN = 4000  # characters; a "sentence" that runs on for longer is ended at the line's end
_TERMINATOR = regex.compile(r"[.!?…‽;؟۔।॥။።。！？｡]+")  # among them the Greek question mark
_WIDE_TERMINATOR = regex.compile(r"[。！？｡]+")  # after these no space is written
_LOWER_INITIALS = regex.compile(r"(?:\p{Ll}\.){2,}")  # p.m. may end a sentence, U.S. rarely does
_CLOSERS = frozenset("\"'”’»›)]}】」』）")
_LIST_NUMBER = regex.compile(r"\p{Nd}{1,2}")
_FIRST_LETTER = regex.compile(r"[\p{L}\p{N}]")

# How UDPipe writes white space into MISC, and \u….. for what it leaves bare.
_ESCAPES = {" ": r"\s", "\t": r"\t", "\r": r"\r", "\n": r"\n", "|": r"\p", "\\": r"\\"}
_UNESCAPES = {code[1]: char for char, code in _ESCAPES.items()}
_ESCAPED = regex.compile(r"\\u\{([0-9a-f]+)\}|\\(.)")


class Splitter:
    """Splits raw text into sentences of words.

    `engine` is `rules` (any language), `spacy` (the word rules of spaCy's blank language) or
    `spaces` (tokenised already). `language` is a code such as `en`; `rules` does without.
    With `multiword`, written words that hold several syntactic words are taken apart.

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
            self.spans = lambda text: rule_spans(text, language)
        elif engine == "spacy":
            self.spans = spacy_spans(language or "xx")
        elif engine == "spaces":
            self.spans = space_spans
        else:
            raise TreebridgeError(f"no engine {engine!r} finds words; take rules, spacy or spaces")

    def words(self, text: str) -> list[str]:
        """The words of a line of text, as strings."""
        if self.engine == "rules":
            words = rule_words(text, self.language)
        else:
            words = [text[start:end] for start, end in self.spans(text)]
        if self.multiword is None:
            return words
        return [part for word in words for part in self.multiword.split(word)]

    def sentence(self, text: str) -> Sentence:
        """One sentence of the whole text, white space at its ends included."""
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
        """One sentence a line; blank lines are left out."""
        return (self.sentence(line) for line in lines if line.strip())

    def sentences(self, text: str | Iterable[str]) -> Iterator[Sentence]:
        """The sentences of a text or of a stream of its lines (with their ends).

        A blank line ends a sentence, a line's end does not. Memory does not grow with the text:
        what is complete is handed on after every line.
        """
        lines = io.StringIO(text, newline="\n") if isinstance(text, str) else text
        buffer, opening = "", True  # opening: the next sentence starts a paragraph
        ended = False  # the buffer holds the end of a paragraph and the blank lines after it
        for line in lines:
            if not line.strip():
                buffer += line
                ended = not buffer.isspace()
                continue
            if ended:
                yield self._paragraph_sentence(buffer, opening)
                buffer, opening, ended = "", True, False
            buffer += line
            *whole, last = self._bounds(buffer)
            if last[1] - last[0] > MAX_OPEN:
                whole.append(last)
                last = (len(buffer), len(buffer))
            for start, end in whole:
                yield self._paragraph_sentence(buffer[start:end], opening)
                opening = False
            buffer = buffer[last[0] :]
        if buffer.strip():
            yield self._paragraph_sentence(buffer, opening)

    def _paragraph_sentence(self, text: str, opening: bool) -> Sentence:
        sentence = self.sentence(text)
        if opening:
            sentence.comments = ["# newpar", *sentence.comments]
        return sentence

    def _bounds(self, text: str) -> list[Span]:
        """Where the sentences of a paragraph lie, the white space after each included."""
        spans = list(self.spans(text))
        cuts = [0, *(spans[index][0] for index in sentence_starts(text, spans)[1:])]
        return list(zip(cuts, [*cuts[1:], len(text)], strict=True))


def sentence_starts(text: str, spans: Sequence[Span]) -> list[int]:
    """Which words begin a sentence; `spans` says where the words are."""
    ends = (index for index in range(len(spans) - 1) if _ends_sentence(text, spans, index))
    return [0, *(index + 1 for index in ends)]


def _ends_sentence(text: str, spans: Sequence[Span], index: int) -> bool:
    """Whether a sentence ends after this word; there is a word after it."""
    gap = text[spans[index][1] : spans[index + 1][0]]
    last = index  # the word that ends the sentence: this one, or one before its closing quotes
    while last and text[slice(*spans[last])] in _CLOSERS and spans[last - 1][1] == spans[last][0]:
        last -= 1
    word = text[slice(*spans[last])]
    abbreviation = word in MAYBE_LAST or _LOWER_INITIALS.fullmatch(word) is not None
    if not abbreviation and not _TERMINATOR.fullmatch(word):
        return False
    if not gap:
        following = text[slice(*spans[index + 1])]
        return bool(_WIDE_TERMINATOR.fullmatch(word)) and following not in _CLOSERS
    if word == "." and last and _LIST_NUMBER.fullmatch(text[slice(*spans[last - 1])]):
        before = text[spans[last - 2][1] : spans[last - 1][0]] if last > 1 else "\n"
        if "\n" in before:
            return False  # the number of a list item or heading: "1. Introduction"
    letter = _FIRST_LETTER.search(text, spans[index + 1][0])
    if letter is None:
        return not abbreviation
    return letter[0].isupper() if abbreviation else not letter[0].islower()


def rebuild(sentences: Iterable[Sentence]) -> str:
    """The exact text that the sentences were split from."""
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
    """White space beside a word as MISC has it; one space after a word goes without saying."""
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
