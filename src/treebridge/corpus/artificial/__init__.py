"""Artificial languages that share what they say and differ in how: for the demo and the tests.

Everything is fixed by the seed, sentence by sentence: asking for more, or for another language
first, changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from treebridge.corpus.artificial.grammar import Grammar, Node
from treebridge.corpus.artificial.language import FAR, NEAR, SOURCE, Language
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.files import write_text
from treebridge.corpus.sentence import Sentence

__all__ = ["ArtificialPair", "Language", "World"]


@dataclass
class ArtificialPair:
    """A sentence in two languages, with gold links as (source word, target word), from 0.

    `sure` links are words that say the same node; `possible` ones also a preposition and the
    noun whose suffix says it.
    """

    source: Sentence
    target: Sentence
    sure: set[tuple[int, int]]
    possible: set[tuple[int, int]]


class World:
    """The languages `source`, `near` (other words) and `far` (verb-final, suffixes, pro-drop)."""

    def __init__(self, seed: int = 1):
        self.seed = seed
        self.grammar = Grammar()
        profiles = {"source": SOURCE, "near": NEAR, "far": FAR}
        self.languages = {name: Language(profile, seed) for name, profile in profiles.items()}

    def treebank(self, language: str, sentences: int, part: str = "train") -> Treebank:
        """Trees of one language; parts are drawn independently."""
        say = self.languages[language].say
        return Treebank(
            say(self._tree(part, i), f"{part}-{i + 1}").sentence for i in range(sentences)
        )

    def pairs(
        self, target: str, sentences: int, source: str = "source", part: str = "bitext"
    ) -> Iterator[ArtificialPair]:
        """Translations with gold links."""
        for i in range(sentences):
            tree, name = self._tree(part, i), f"{part}-{i + 1}"
            left = self.languages[source].say(tree, name)
            right = self.languages[target].say(tree, name)
            where = {id(node): j for j, node in enumerate(right.nodes)}
            sure, possible = set(), set()
            for j, node in enumerate(left.nodes):
                if id(node) in where:
                    sure.add((j, where[id(node)]))
                elif id(node) in right.marked:
                    possible.add((j, right.marked[id(node)]))
            yield ArtificialPair(left.sentence, right.sentence, sure, sure | possible)

    def text(self, language: str, sentences: int, part: str = "text") -> Iterator[str]:
        """Raw sentences, for pre-training."""
        say = self.languages[language].say
        return (say(self._tree(part, i), "").sentence.text for i in range(sentences))

    def write_bitext(self, path: str | Path, target: str, sentences: int) -> None:
        """A TSV file as users have it: source, tab, target."""
        with write_text(path) as stream:
            for pair in self.pairs(target, sentences):
                stream.write(f"{pair.source.text}\t{pair.target.text}\n")

    def _tree(self, part: str, index: int) -> Node:
        return self.grammar.sentence(random.Random(f"{self.seed}/{part}/{index}"))
