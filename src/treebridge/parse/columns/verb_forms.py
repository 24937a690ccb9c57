"""What a verb's form implies: finite verbs have Mood and Tense, infinitives have not.

There is one classifier per feature, and nothing else makes them agree with each other. So what
nearly all words of a tag and VerbForm have, or lack, is settled when their features are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.errors import TreebridgeError
from treebridge.parse.columns.classifiers import NOTHING, Classifiers
from treebridge.records import FIX

FORM = "VerbForm"
LEAST = 20  # words
NEARLY_ALL = 0.9

Told = tuple[str, NDArray[np.floating]]  # a word's tag, and its targets [width]


@dataclass(frozen=True)
class VerbForms:
    """By tag and VerbForm: whether a feature is always (True) or never (False) there."""

    rules: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)

    @classmethod
    def read(cls, rules: dict[str, Any], file: Path) -> VerbForms:
        """Restore saved rules."""
        for rule in rules.values():
            if not isinstance(rule, dict) or not all(isinstance(x, bool) for x in rule.values()):
                raise TreebridgeError(f"damaged: 'verb_forms' are invalid; {FIX}", file=file)
        return cls(rules)

    def updated(self, words: Iterable[Told], classifiers: Classifiers) -> VerbForms:
        """Learn from words; a tag and VerbForm that are frequent in them get new rules."""
        if FORM not in classifiers.values:
            return self
        there: dict[str, Counter[str]] = defaultdict(Counter)
        known: dict[str, Counter[str]] = defaultdict(Counter)
        for tag, row in words:
            form = _value(row, classifiers, FORM)
            if form in (None, NOTHING):
                continue
            for name in classifiers.features:
                value = _value(row, classifiers, name)
                known[f"{tag} {form}"][name] += value is not None
                there[f"{tag} {form}"][name] += value not in (None, NOTHING)
        rules = {key: dict(rule) for key, rule in self.rules.items()}
        for key, counts in known.items():
            if counts[FORM] < LEAST:
                continue
            shares = {n: there[key][n] / times for n, times in counts.items() if times >= LEAST}
            rules[key] = {
                name: share > 0.5
                for name, share in shares.items()
                if name != FORM and not 1 - NEARLY_ALL < share < NEARLY_ALL
            }
        return VerbForms(rules)

    def settled(
        self, scores: NDArray[np.float32], tag: str, classifiers: Classifiers
    ) -> NDArray[np.float32]:
        """The scores of a word [width], in which what its VerbForm rules out has no chance."""
        if FORM not in classifiers.values:
            return scores
        form = classifiers.values[FORM][int(scores[classifiers.places[FORM]].argmax())]
        rule = self.rules.get(f"{tag} {form}")
        if not rule:
            return scores
        out = scores.copy()
        for name, there in rule.items():
            place = classifiers.places.get(name)
            if place is not None and place.stop - place.start > 1:
                out[place.start if there else slice(place.start + 1, place.stop)] = -np.inf
        return out


def _value(row: NDArray[np.floating], classifiers: Classifiers, name: str) -> str | None:
    """The value that a row of targets says; None if it says nothing."""
    part = row[classifiers.places[name]]
    return classifiers.values[name][int(part.argmax())] if part.any() else None
