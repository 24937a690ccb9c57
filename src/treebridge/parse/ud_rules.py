"""What Universal Dependencies allow, for the labels and tags of one parser.

These are the rules of the official validator up to level 3 that can be checked without features:
which tag goes with which label, which words have no dependents of their own, which relations go
from left to right, and how often a predicate has a subject or an object. `ud_repair` applies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

PUNCT = "PUNCT"
LEFT_TO_RIGHT = frozenset("conj fixed flat goeswith appos".split())
NOMINAL = frozenset("NOUN PROPN PRON".split())
ARGUMENTS = frozenset("nsubj obj iobj obl vocative dislocated expl nmod".split())
# Tags that a label goes with …
_ONLY = {
    "det": "DET PRON",
    "nummod": "NUM NOUN SYM",
    "advmod": "ADV ADJ CCONJ DET PART SYM",
    "expl": "PRON DET PART",
    "aux": "AUX",
    "cop": "AUX PRON DET SYM",
    "goeswith": "X",
    "punct": PUNCT,
}
# … and those that it does not go with.
_NEVER = {
    "case": "PROPN ADJ PRON DET NUM AUX",
    "mark": "NOUN PROPN ADJ PRON DET NUM AUX INTJ",
    "cc": "NOUN PROPN ADJ PRON DET NUM VERB AUX INTJ",
    "fixed": "PROPN",
}
# Function words, and the dependents that they may have.
_FEW = "goeswith fixed reparandum conj cc punct"
_DEPENDENTS = {
    "case": f"advmod obl {_FEW}",
    "mark": f"advmod obl {_FEW}",
    "clf": f"advmod obl {_FEW}",
    "aux": _FEW,
    "cop": _FEW,
    "det": f"det case advmod obl clf flat compound discourse parataxis {_FEW}",
    "cc": "goeswith fixed reparandum conj punct",
    "fixed": "goeswith reparandum conj punct",
    "goeswith": "",
    "punct": "punct",
}


class Rules(NamedTuple):
    """The rules as tables over a parser's labels and tags."""

    root: Mask  # [labels]
    rightward: Mask  # [labels], of words after their head only
    adjacent: Mask  # [labels], of the word right after its head only
    unique: Sequence[Mask]  # [labels] each: at most one such dependent
    oblique: Mask  # [labels], not of arguments
    argument: Mask  # [labels]
    predicate: Mask  # [labels] that only dependents of a predicate have
    fixed: Mask  # [labels]
    dependents: Mask  # [labels of a head, labels of a dependent]
    fitting: Mask  # [kinds, tags]: tags that go with a kind of label
    kinds: NDArray[np.int64]  # [labels]
    punctuation: int  # the tag of punctuation, −1 if the parser has none
    nominal: Mask  # [tags]
    proper: Mask  # [tags]

    @classmethod
    def of(cls, labels: Sequence[str], tags: Sequence[str]) -> Rules:
        """The rules for these labels and tags."""
        names = [label.partition(":")[0] for label in labels]
        # A parser without tags still knows which words are nothing but punctuation.
        tags = tags if len(tags) else (PUNCT, "_")

        def named(*wanted: str) -> Mask:
            return np.array([name in wanted for name in names], bool)

        fitting = np.array([[_fits(name, tag, names) for tag in tags] for name in names], bool)
        fitting, kinds = np.unique(fitting.reshape(len(names), -1), axis=0, return_inverse=True)
        subject = named("nsubj", "csubj") & np.array([":outer" not in name for name in labels])
        return cls(
            root=named("root"),
            rightward=named(*LEFT_TO_RIGHT),
            adjacent=named("goeswith"),
            unique=(subject, named("obj")),
            oblique=named("obl"),
            argument=named(*ARGUMENTS),
            predicate=named("cop", "nsubj", "csubj"),
            fixed=named("fixed"),
            dependents=np.array([[_may_have(head, name) for name in names] for head in names]),
            fitting=fitting,
            kinds=kinds.reshape(-1),
            punctuation=list(tags).index(PUNCT) if PUNCT in tags else -1,
            nominal=np.array([tag in NOMINAL for tag in tags]),
            proper=np.array([tag == "PROPN" for tag in tags]),
        )


def _fits(label: str, tag: str, labels: Sequence[str]) -> bool:
    if tag == "_":
        return label != "punct"
    if tag == PUNCT and "punct" in labels:
        return label in ("punct", "root")
    if label in _ONLY:
        return tag in _ONLY[label].split()
    return tag not in _NEVER.get(label, "").split()


def _may_have(head: str, label: str) -> bool:
    return head not in _DEPENDENTS or label in _DEPENDENTS[head].split()
