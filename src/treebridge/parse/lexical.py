"""What a lexicon allows the words of a batch: tags before arcs are scored, labels after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.lexicon import OPEN, Lexicon
from treebridge.errors import TreebridgeError
from treebridge.parse.given import Given
from treebridge.parse.network import Floats, Numbers
from treebridge.parse.padding import Rows
from treebridge.parse.vocab import Names

Allowed = NDArray[np.bool_]


class LexiconLimits:
    """A lexicon in the numbers of a parser's tags and labels."""

    def __init__(self, lexicon: Lexicon, tags: Names, labels: Names):
        self.lexicon, self.tags, self.labels = lexicon, tags, labels
        self._tags: dict[str, Allowed] = {}
        self._labels: dict[tuple[str, int], Allowed] = {}
        for form, entries in lexicon.entries.items():
            numbers = tags.numbers(entry.upos for entry in entries)
            allowed = np.zeros(len(tags), bool)
            allowed[numbers[numbers >= 0]] = True
            if allowed.any() and all(entry.upos != OPEN for entry in entries):
                self._tags[form] = allowed
            for number in {*numbers.tolist(), -1}:
                fitting = [e for e, n in zip(entries, numbers, strict=True) if n in (number, -1)]
                chosen = fitting or entries
                if all(entry.deprel != OPEN for entry in chosen):
                    self._labels[form, number] = self._label_mask(form, chosen)

    def _label_mask(self, form: str, entries: Sequence[object]) -> Allowed:
        allowed = np.zeros(len(self.labels), bool)
        for entry in self.lexicon.entries[form]:
            if entry not in entries:
                continue
            names = (entry.deprel, entry.deprel.partition(":")[0])
            known = next((name for name in names if name in self.labels), None)
            if known is None:
                raise TreebridgeError(
                    f"the model has no label {entry.deprel!r}; it has {', '.join(self.labels)}",
                    file=self.lexicon.name,
                    line=entry.line or None,
                )
            allowed[self.labels.index(known)] = True
        return allowed

    def batch(self, forms: Sequence[Sequence[str]], longest: int) -> BatchLimits | None:
        """The limits for sentences side by side; None if the lexicon has none of their words."""
        found = [
            (row, column, key)
            for row, words in enumerate(forms)
            for column, form in enumerate(words)
            if (key := self._key(form)) is not None
        ]
        return BatchLimits(self, found, (len(forms), longest)) if found else None

    def allowed(self, tags: Rows, forms: Sequence[str]) -> Rows:
        """Distributions over tags [n, tags] with all probability on those that are allowed."""
        out = np.array(tags)
        if not out.shape[1]:
            return out
        for row, form in zip(out, forms, strict=True):
            key = self._key(form)
            mask = None if key is None else self._tags.get(key)
            if mask is not None:
                row *= mask
                row[:] = row / row.sum() if row.sum() > 0 else mask / mask.sum()
        return out

    def _key(self, form: str) -> str | None:
        entries = self.lexicon.find(form)
        return entries[0].form if entries else None


class BatchLimits:
    """The words of a batch that a lexicon has."""

    def __init__(
        self, limits: LexiconLimits, found: list[tuple[int, int, str]], shape: tuple[int, int]
    ):
        self._limits, self._found, self._shape = limits, found, shape

    @property
    def tags(self) -> Floats:
        """To add to the scores of tags [batch, n, tags]: 0 if allowed, otherwise −inf."""
        added = np.zeros((*self._shape, len(self._limits.tags)), np.float32)
        for row, column, form in self._found:
            if (allowed := self._limits._tags.get(form)) is not None:
                added[row, column, ~allowed] = -np.inf
        return added

    def exempt(self, given: Given) -> Given:
        """What is given, where words of the lexicon are not punctuation by their form."""
        marks = given.marks.copy()
        for row, column, form in self._found:
            if form in self._limits._tags:
                marks[row, column] = False
        return given._replace(marks=marks)

    def labels(self, scores: Floats, tags: Numbers | None, heads: Numbers) -> Floats:
        """Forbid labels that do not go with a word and its tag; a root has the label root."""
        allowed = np.ones(scores.shape, bool)
        for row, column, form in self._found:
            tag = -1 if tags is None else int(tags[row, column])
            mask = self._limits._labels.get((form, tag))
            if mask is not None and heads[row, column]:
                allowed[row, column] = mask
        return np.where(allowed, scores, np.float32(-np.inf))


@lru_cache(maxsize=8)
def lexicon_limits(lexicon: Lexicon, tags: Names, labels: Names) -> LexiconLimits:
    """The limits of a lexicon for a parser, made once."""
    return LexiconLimits(lexicon, tags, labels)
