"""Choose the sentences whose correction teaches a parser most.

A word is *doubtful* by 1 − p, where p is the probability of its labelled arc: the sum over a
sentence is how many errors to expect in it. A parser may also be wrong where it is sure (of what
the source treebank annotates in another way, say), so every word counts a little more than that.

Sentences are chosen one at a time for the doubt that they cover. Each word stands for its form and
for its construction: label, tag, tag of the head, direction. A form or construction is worth what
the doubt about it adds up to in all candidates, so frequent trouble comes first; every time it is
annotated, annotating it again is worth less.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

from treebridge.corpus.sentence import Sentence
from treebridge.parse.parsed import Parsed

SURE = 0.3  # doubt that is added to that of every word
ALIKE = 0.7  # share of words in common from which two sentences are near duplicates
Feature = tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """A parsed sentence, the doubt about each of its features, and its words."""

    parsed: Parsed
    doubts: dict[Feature, float]
    words: frozenset[str]

    @classmethod
    def of(cls, parsed: Parsed) -> Candidate:
        """Describe a parsed sentence."""
        doubt = 1 - parsed.arcs * parsed.labels + SURE
        return cls(parsed, _masses(parsed.sentence, doubt.tolist()), words_of(parsed.sentence))

    @property
    def errors(self) -> float:
        """How many of its labelled arcs are wrong, as far as the parser can tell."""
        return float((1 - self.parsed.arcs * self.parsed.labels).sum())


def words_of(sentence: Sentence) -> frozenset[str]:
    """The words by which near duplicates are found."""
    words = frozenset(form.lower() for form in sentence.forms if any(map(str.isalpha, form)))
    return words or frozenset(sentence.forms)


def _masses(sentence: Sentence, doubts: Sequence[float]) -> dict[Feature, float]:
    masses: dict[Feature, float] = defaultdict(float)
    for word, feature in _features(sentence):
        masses[feature] += doubts[word]
    return dict(masses)


def _features(sentence: Sentence) -> Iterator[tuple[int, Feature]]:
    tags, labels = sentence.upos, sentence.deprels
    for index, (form, head) in enumerate(zip(sentence.forms, sentence.heads, strict=True)):
        if tags[index] == "PUNCT":
            continue
        yield index, (form.lower(),)
        if head is not None:
            above = tags[head - 1] if head else "root"
            side = "left" if head > index else "right"
            yield index, (labels[index], tags[index], above, side)


def choose(
    candidates: Sequence[Candidate], count: int, done: Iterable[Sentence] = ()
) -> list[Candidate]:
    """Choose `count` candidates, the most useful first; what is `done` is known already."""
    worth: Counter[Feature] = Counter()
    for candidate in candidates:
        worth.update(candidate.doubts)
    covered: dict[Feature, float] = defaultdict(float)
    seen: list[frozenset[str]] = []
    for sentence in done:
        seen.append(words_of(sentence))
        for _, feature in _features(sentence):
            covered[feature] += 1

    def gain(candidate: Candidate) -> float:
        return sum(
            sqrt(worth[feature]) * (sqrt(covered[feature] + mass) - sqrt(covered[feature]))
            for feature, mass in candidate.doubts.items()
        )

    # What is covered only grows and gains only shrink, so an old gain is an upper bound.
    queue = [(-gain(candidate), index) for index, candidate in enumerate(candidates)]
    heapq.heapify(queue)
    chosen: list[Candidate] = []
    while queue and len(chosen) < count:
        _, index = heapq.heappop(queue)
        candidate = candidates[index]
        if any(alike(candidate.words, words) for words in seen):
            continue
        now = -gain(candidate)
        if queue and now > queue[0][0]:
            heapq.heappush(queue, (now, index))
            continue
        chosen.append(candidate)
        seen.append(candidate.words)
        for feature, mass in candidate.doubts.items():
            covered[feature] += mass
    return chosen


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences have nearly the same words."""
    return len(one & other) >= ALIKE * len(one | other)
