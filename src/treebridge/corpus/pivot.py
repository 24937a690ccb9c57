"""Join two bitexts that share a side: en–es and en–pt have sentences of es and pt in common.

Much parallel text is translated from the same originals (parliaments, Bibles, help texts), so two
bitexts with English often hold a third one, between two languages that are nearer to each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from treebridge.corpus.bitext import Bitext


def join_bitexts(source: Bitext, target: Bitext) -> Iterator[tuple[str, str]]:
    """The targets of both bitexts for every sentence that is the source of both, as text.

    A sentence that occurs repeatedly counts once, with its first translations. Both files are read
    twice; only hashes and the joined texts of one side are in memory.
    """
    shared = _hashes(source) & _hashes(target)
    translations: dict[bytes, str] = {}
    for pivot, text in _texts(source):
        if (name := _hash(pivot)) in shared:
            translations.setdefault(name, text)
    for pivot, text in _texts(target):
        found = translations.pop(_hash(pivot), None)
        if found is not None:
            yield found, text


def _hashes(bitext: Bitext) -> set[bytes]:
    return {_hash(pivot) for pivot, _ in _texts(bitext)}


def _texts(bitext: Bitext) -> Iterable[tuple[str, str]]:
    """Pairs with text on both sides, white space made even."""
    for pivot, text in bitext.raw():
        pair = " ".join(pivot.split()), " ".join(text.split())
        if all(pair):
            yield pair


def _hash(sentence: str) -> bytes:
    return blake2b(sentence.encode(), digest_size=12).digest()
