"""Where sentences end, found the slow way: all of the text is looked at again after every line."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import regex

from treebridge.corpus.tokens import MAYBE_LAST, Span

MAX_OPEN = 4000
CLOSERS = frozenset("\"'”’»›)]}】」』）")


def sentence_texts(lines: Iterable[str], words: Callable[[str], list[Span]]) -> Iterator[str]:
    """The text of each sentence; `words` finds the words of a text that goes on."""
    buffer, ended = "", False
    for line in lines:
        if not line.strip():
            buffer += line
            ended = not buffer.isspace()
            continue
        if ended:
            yield buffer
            buffer, ended = "", False
        buffer += line
        spans = words(buffer)
        starts = [i + 1 for i in range(len(spans) - 1) if ends_sentence(buffer, spans, i)]
        cuts = [0, *(spans[i][0] for i in starts)]
        if len(buffer) - cuts[-1] > MAX_OPEN:
            cuts.append(len(buffer))
        for begin, end in itertools.pairwise(cuts):
            yield buffer[begin:end]
        buffer = buffer[cuts[-1] :]
    if buffer.strip():
        yield buffer


def ends_sentence(text: str, spans: list[Span], index: int) -> bool:
    """Whether a sentence ends after this word; there is a word after it."""
    gap = text[spans[index][1] : spans[index + 1][0]]
    last = index
    while last and text[slice(*spans[last])] in CLOSERS and spans[last - 1][1] == spans[last][0]:
        last -= 1
    word = text[slice(*spans[last])]
    abbreviation = word in MAYBE_LAST or regex.fullmatch(r"(?:\p{Ll}\.){2,}", word)
    if not abbreviation and not regex.fullmatch("[.!?…‽;؟۔।॥။።。！？｡]+", word):
        return False
    following = text[slice(*spans[index + 1])]
    if not gap:
        return bool(regex.fullmatch("[。！？｡]+", word)) and following not in CLOSERS
    if word == "." and last and regex.fullmatch(r"\p{Nd}{1,2}", text[slice(*spans[last - 1])]):
        before = text[spans[last - 2][1] : spans[last - 1][0]] if last > 1 else "\n"
        if "\n" in before:
            return False
    letter = regex.search(r"[\p{L}\p{N}]", text, pos=spans[index + 1][0])
    if letter is None:
        return not abbreviation
    return letter[0].isupper() if abbreviation else not letter[0].islower()
