"""The meanings of artificial sentences: seeded dependency trees over concepts.

A tree has no order. Each node is a concept with its part of speech and its relation to its head,
which every language expresses in its own words and word order.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

TOPICS = 8
# Number of concepts per open class, most frequent first; topics alternate by rank.
SIZES = {"NOUN": 1600, "VERB": 704, "ADJ": 504, "ADV": 120, "PROPN": 240, "NUM": 12}
CLOSED = {
    "DET": ["the", "a", "this", "every"],
    "PRON": ["she", "it", "they", "we"],
    "ADP": ["in", "on", "with", "from", "of"],
    "AUX": ["can", "must", "will"],
    "SCONJ": ["when", "because", "if"],
    "CCONJ": ["and", "or", "but"],
}


@dataclass
class Node:
    """A concept in a tree; `features` are Plur, Past, Front: whatever a language may mark."""

    concept: str
    upos: str
    deprel: str
    features: frozenset[str] = frozenset()
    children: list[Node] = field(default_factory=list)

    def add(self, node: Node) -> Node:
        """Attach a child and return it."""
        self.children.append(node)
        return node

    def walk(self) -> Iterator[Node]:
        """Yield this node and all its descendants."""
        yield self
        for child in self.children:
            yield from child.walk()


def topic_of(concept: str) -> int:
    """Topic of a content concept: `NOUN.17` is the 18th most frequent noun, of topic 1."""
    return int(concept.partition(".")[2]) % TOPICS


class Grammar:
    """Draws trees; content words follow Zipf's law and, mostly, the topic of their sentence."""

    def __init__(self, topical: float = 0.85):
        self.topical = topical  # the share of content words that belong to the topic
        self._weights = {
            (upos, step): list(accumulate(1 / (rank + 3) for rank in range(0, size, step)))
            for upos, size in SIZES.items()
            for step in (1, TOPICS)
        }

    def sentence(self, rng: random.Random) -> Node:
        """Draw a tree whose root is a predicate, including final punctuation."""
        return _Draw(self, rng).sentence()

    def concept(self, upos: str, topic: int, rng: random.Random) -> str:
        """Draw a concept, usually of the topic."""
        inside = upos in ("NOUN", "VERB", "ADJ") and rng.random() < self.topical
        step = TOPICS if inside else 1
        weights = self._weights[upos, step]
        rank = bisect(weights, rng.random() * weights[-1]) * step
        return f"{upos}.{rank + topic if inside else rank}"


class _Draw:
    """One sentence being drawn."""

    def __init__(self, grammar: Grammar, rng: random.Random):
        self.grammar = grammar
        self.rng = rng
        self.topic = rng.randrange(TOPICS)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def content(self, upos: str, deprel: str, *features: str) -> Node:
        concept = self.grammar.concept(upos, self.topic, self.rng)
        return Node(concept, upos, deprel, frozenset(features))

    def function(self, upos: str, deprel: str) -> Node:
        # The first words of a closed class are the most frequent.
        words = CLOSED[upos]
        return Node(
            min(self.rng.choice(words), self.rng.choice(words), key=words.index), upos, deprel
        )

    def sentence(self) -> Node:
        root = self.clause("root", depth=0)
        if self.chance(0.12):
            second = root.add(self.clause("conj", depth=1))
            second.add(self.function("CCONJ", "cc"))
        root.add(Node("?" if self.chance(0.08) else ".", "PUNCT", "punct"))
        return root

    def clause(self, deprel: str, depth: int, subject: Node | None = None) -> Node:
        tense = ("Past",) if self.chance(0.5) else ()
        kind = self.rng.random()
        if kind < 0.16:  # she is a doctor; the house is old
            predicate = (
                self.content("ADJ", deprel) if self.chance(0.5) else self.noun(deprel, depth)
            )
            predicate.add(Node("be", "AUX", "cop", frozenset(tense)))
        else:
            predicate = self.content("VERB", deprel, *tense)
            if kind < 0.66:
                predicate.add(self.nominal("obj", depth))
            elif kind < 0.74 and depth < 2:
                inner = predicate.add(self.clause("ccomp", depth + 1))
                inner.add(Node("that", "SCONJ", "mark"))
            elif kind < 0.80:
                inner = predicate.add(self.content("VERB", "xcomp"))
                inner.add(Node("to", "PART", "mark"))
                inner.add(self.nominal("obj", depth))
        predicate.add(subject or self.nominal("nsubj", depth))
        if predicate.upos == "VERB":
            if self.chance(0.2):
                predicate.add(self.function("AUX", "aux"))
            if self.chance(0.1):
                predicate.add(Node("not", "PART", "advmod"))
            if self.chance(0.2):
                predicate.add(self.content("ADV", "advmod"))
        if self.chance(0.4):
            place = predicate.add(
                self.noun("obl", depth, *(("Front",) if self.chance(0.2) else ()))
            )
            place.add(self.function("ADP", "case"))
        if depth < 2 and self.chance(0.14):
            inner = predicate.add(self.clause("advcl", depth + 1))
            inner.add(self.function("SCONJ", "mark"))
            if self.chance(0.5):
                inner.add(Node(",", "PUNCT", "punct"))
        return predicate

    def nominal(self, deprel: str, depth: int) -> Node:
        kind = self.rng.random()
        if kind < (0.35 if deprel == "nsubj" else 0.12):
            return self.function("PRON", deprel)
        if kind < 0.45:
            return self.content("PROPN", deprel)
        return self.noun(deprel, depth)

    def noun(self, deprel: str, depth: int, *features: str) -> Node:
        plural = ("Plur",) if self.chance(0.3) else ()
        noun = self.content("NOUN", deprel, *plural, *features)
        if plural and self.chance(0.15):
            noun.add(self.content("NUM", "nummod"))
        elif self.chance(0.75):
            noun.add(self.function("DET", "det"))
        for share in (0.3, 0.08):
            if self.chance(share):
                noun.add(self.content("ADJ", "amod"))
        if depth < 3 and self.chance(0.16):
            noun.add(self.noun("nmod", depth + 1)).add(Node("of", "ADP", "case"))
        if depth < 2 and self.chance(0.08):
            noun.add(self.clause("acl:relcl", depth + 1, Node("which", "PRON", "nsubj")))
        if depth < 2 and self.chance(0.08):
            noun.add(self.noun("conj", depth + 1)).add(self.function("CCONJ", "cc"))
        return noun
