"""What people hand to a parser, as sentences, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from treebridge.corpus.chunks import take
from treebridge.corpus.multiword import Contractions
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.text import Splitter, numbered

FIRST, CHUNK = 16, 1024  # sentences that are sorted by length together: at first, and at most
CHUNK_WORDS = 40_000  # of them, which take 120 MB as vectors of 768 numbers
Item = Sentence | str | Sequence[str]  # a sentence, a text, or the words of a sentence


def sentences_of(items: Iterable[Item], language: str | None) -> Iterator[Sentence]:
    """Yield sentences as they are; split text by the rules of a language, contractions apart."""
    splitter, numbers = None, count(1)
    for item in items:
        if isinstance(item, str):
            if splitter is None:
                splitter = Splitter(language, multiword=Contractions.of(language))
            yield from numbered(splitter.sentences(item), numbers)
        else:
            yield item if isinstance(item, Sentence) else Sentence.from_words(item)


def chunks_of(
    sentences: Iterable[Sentence], at_once: int = CHUNK
) -> Iterator[tuple[int, list[Sentence]]]:
    """Sentences that are parsed together, and how many came before them; the first are few."""
    wanted, before, size = iter(sentences), 0, min(FIRST, at_once)
    while chunk := take(wanted, size, CHUNK_WORDS):
        yield before, chunk
        before += len(chunk)
        size = min(4 * size, at_once)
