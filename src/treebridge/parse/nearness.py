"""How near is a treebank to a language without one? Word order and labels, without target trees.

Links carry source arcs to target words, which shows on which side of their heads the dependents
with each label are. A treebank shows the same of its own language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from treebridge.bridge.bridge import Bridge
from treebridge.corpus.sentence import Sentence

LEAST = 10  # arcs from which the order of a label counts
SKIPPED = ("punct", "root")  # punctuation follows no order, and a root has no head


@dataclass(frozen=True)
class WordOrderProfile:
    """How often each label occurs, and how often its dependents precede their heads."""

    arcs: Counter[str]
    before: Counter[str]

    @classmethod
    def of_trees(cls, trees: Iterable[Sentence]) -> WordOrderProfile:
        """The profile of a treebank.

        Subtypes count: an English nmod:poss precedes its head, and other languages have none.
        """
        arcs: Counter[str] = Counter()
        before: Counter[str] = Counter()
        for tree in trees:
            for word, (head, label) in enumerate(zip(tree.heads, tree.deprels, strict=True), 1):
                if head and label not in SKIPPED:
                    arcs[label] += 1
                    before[label] += word < head
        return cls(arcs, before)

    @classmethod
    def of_bridge(cls, bridge: Bridge) -> WordOrderProfile | None:
        """The profile of a bridge's target language, as links carried arcs to it; None if unknown.

        Bridges that were not judged by trees do not know it.
        """
        labels: dict[str, dict[str, Any]] = bridge.quality.get("projected", {}).get("labels", {})
        arcs: Counter[str] = Counter()
        before: Counter[str] = Counter()
        for label, found in labels.items():
            if "before" in found and label not in SKIPPED:
                arcs[label] += found["arcs"]
                before[label] += round(found["arcs"] * found["before"] / 100)
        return cls(arcs, before) if arcs else None

    def share_before(self, label: str) -> float:
        """The share of dependents that precede their head."""
        return self.before[label] / self.arcs[label]

    def same_order(self, other: WordOrderProfile) -> float:
        """The share of this language's arcs that point the same way in the other, in percent."""
        shared = [
            label
            for label, count in self.arcs.items()
            if count >= LEAST and other.arcs[label] >= LEAST
        ]
        total = sum(self.arcs[label] for label in shared)
        gap = sum(
            self.arcs[label] * abs(self.share_before(label) - other.share_before(label))
            for label in shared
        )
        return 100 * (1 - gap / total) if total else 0.0

    def same_labels(self, other: WordOrderProfile) -> float:
        """How much the distributions of labels overlap, in percent."""
        ours, theirs = self.arcs.total() or 1, other.arcs.total() or 1
        names = sorted(self.arcs.keys() & other.arcs.keys())
        return 100 * sum(min(self.arcs[n] / ours, other.arcs[n] / theirs) for n in names)
