"""Artificial languages with shared meanings and different forms, for the demo and the tests.

The seed determines every sentence independently of how many are generated and in which order.
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

    `sure` links join words that express the same node; `possible` ones also a preposition and the
    noun whose suffix expresses it.
    """

    source: Sentence
    target: Sentence
    sure: set[tuple[int, int]]
    possible: set[tuple[int, int]]


class World:
    """The languages `source`, `near` (new words) and `far` (verb-final, suffixes, pro-drop)."""

    def __init__(self, seed: int = 1):
        self.seed = seed
        self.grammar = Grammar()
        profiles = {"source": SOURCE, "near": NEAR, "far": FAR}
        self.languages = {name: Language(profile, seed) for name, profile in profiles.items()}

    def treebank(self, language: str, sentences: int, part: str = "train") -> Treebank:
        """Generate trees of one language; parts are drawn independently."""
        say = self.languages[language].say
        return Treebank(
            say(self._tree(part, i), f"{part}-{i + 1}").sentence for i in range(sentences)
        )

    def pairs(
        self, target: str, sentences: int, source: str = "source", part: str = "bitext"
    ) -> Iterator[ArtificialPair]:
        """Generate translations with gold links."""
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
        """Generate raw sentences, for pre-training."""
        say = self.languages[language].say
        return (say(self._tree(part, i), "").sentence.text for i in range(sentences))

    def write_bitext(self, path: str | Path, target: str, sentences: int) -> None:
        """Write a TSV file with columns source and target."""
        with write_text(path) as stream:
            for pair in self.pairs(target, sentences):
                stream.write(f"{pair.source.text}\t{pair.target.text}\n")

    def _tree(self, part: str, index: int) -> Node:
        return self.grammar.sentence(random.Random(f"{self.seed}/{part}/{index}"))
