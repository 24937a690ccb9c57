"""Which columns are classified: one classifier per feature, and one for XPOS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treebridge.corpus.edit.marks import is_open
from treebridge.corpus.feats import read_feats, write_feats
from treebridge.corpus.sentence import FEATS, XPOS, Sentence

NOTHING = "_"  # the first value of each classifier: the word does not have the feature
XPOS_NAME = "XPOS"  # no feature is called so: names of features are not all upper case
STRAY = 0.1  # share of words with XPOS below which the treebank has none
IGNORED = frozenset({"Typo"})  # says something of a word's spelling, not of the word


@dataclass(frozen=True)
class Classifiers:
    """Names of classifiers and their values; the values of all stand in one row."""

    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, trees: Iterable[Sentence], known: Classifiers | None = None) -> Classifiers:
        """Those that trees call for, behind those that are known.

        Some treebanks have XPOS on a stray word: that is no column to be learned.
        """
        values = {name: list(known.values[name]) for name in known.values} if known else {}
        found: dict[str, set[str]] = {}
        words = tagged = 0
        for tree in trees:
            words += len(tree)
            tagged += sum(xpos != NOTHING for xpos in tree.column(XPOS))
            for xpos, feats in zip(tree.column(XPOS), tree.column(FEATS), strict=True):
                for name, value in columns_of(xpos, feats).items():
                    found.setdefault(name, set()).add(value)
        if tagged < STRAY * words and XPOS_NAME not in values:
            found.pop(XPOS_NAME, None)
        for name in sorted(found):
            old = values.setdefault(name, [NOTHING])
            old += sorted(found[name] - set(old))
        return cls({name: tuple(values[name]) for name in values})

    def without(self, names: Iterable[str]) -> Classifiers:
        """All but these."""
        left_out = set(names)
        return Classifiers({n: v for n, v in self.values.items() if n not in left_out})

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where the values of each classifier stand in the row."""
        ends = np.cumsum([0, *(len(values) for values in self.values.values())]).tolist()
        return {name: slice(*ends[k : k + 2]) for k, name in enumerate(self.values)}

    @cached_property
    def width(self) -> int:
        """The length of the row."""
        return sum(len(values) for values in self.values.values())

    @property
    def features(self) -> list[str]:
        """The features, without XPOS."""
        return [name for name in self.values if name != XPOS_NAME]

    def targets(self, tree: Sentence, names: Iterable[str]) -> NDArray[np.float16]:
        """What a tree says of these classifiers, as one-hot rows [n, width]; others stay 0.

        A word without UPOS is not annotated, and features that an annotator left open are not
        either: that such a word has no features says nothing.
        """
        rows = np.zeros((len(tree), self.width), np.float16)
        wanted = [name for name in names if name in self.values]
        unknown = zip(tree.upos, is_open(tree, FEATS), strict=True)
        columns = zip(unknown, tree.column(XPOS), tree.column(FEATS), strict=True)
        for row, ((upos, left_open), xpos, feats) in zip(rows, columns, strict=True):
            if feats == NOTHING and (upos == NOTHING or left_open):
                continue
            found = columns_of(xpos, feats)
            for name in wanted:
                value = found.get(name, NOTHING)
                if value in self.values[name] and (name != XPOS_NAME or value != NOTHING):
                    row[self.places[name].start + self.values[name].index(value)] = 1
        return rows

    def read(self, row: NDArray[np.floating]) -> tuple[str, str]:
        """The XPOS and FEATS with the highest scores in a row."""
        found = {
            name: value
            for name, place in self.places.items()
            if (value := self.values[name][int(row[place].argmax())]) != NOTHING
        }
        xpos = found.pop(XPOS_NAME, NOTHING)
        return xpos, write_feats(found)


def columns_of(xpos: str, feats: str) -> dict[str, str]:
    """What the two columns of a word say, by classifier."""
    found = {name: value for name, value in read_feats(feats).items() if name not in IGNORED}
    return found if xpos == NOTHING else {**found, XPOS_NAME: xpos}


def has_columns(trees: Sequence[Sentence]) -> list[str]:
    """Which of XPOS and FEATS the trees have at all."""
    return [
        name
        for name, column in ((XPOS_NAME, XPOS), ("FEATS", FEATS))
        if any(value != NOTHING for tree in trees for value in tree.column(column))
    ]
