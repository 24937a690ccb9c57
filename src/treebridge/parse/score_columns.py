"""Scores of XPOS, FEATS and LEMMA, counted as the official script of CoNLL 2018 does.

XPOS: correct language-specific tag. UFeats: all universal features correct; others are ignored.
AllTags: UPOS, XPOS and UFeats correct. Lemmas: correct lemma; a word whose gold lemma is `_` is
correct.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from treebridge.parse.match import Row
from treebridge.parse.tally import Tally

COLUMN_METRICS = ("XPOS", "UFeats", "AllTags", "Lemmas")
UNIVERSAL_FEATURES = frozenset(
    """
    PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm
    Mood Tense Aspect Voice Evident Polarity Person Polite
    """.split()
)


@dataclass
class ColumnCounts:
    """A tally for each of COLUMN_METRICS, and which of the columns gold has."""

    tallies: dict[str, Tally] = field(
        default_factory=lambda: {name: Tally() for name in COLUMN_METRICS}
    )
    has: dict[str, bool] = field(
        default_factory=lambda: dict.fromkeys(("XPOS", "UFeats", "Lemmas"), False)
    )

    def keep(self, predicted: Collection[str]) -> None:
        """Leave out columns that a parser does not predict, named as in `Columns.names`."""
        for name, column in (("XPOS", "xpos"), ("UFeats", "feats"), ("Lemmas", "lemma")):
            self.has[name] = self.has[name] and column in predicted

    @property
    def shown(self) -> dict[str, Tally]:
        """The tallies of columns that gold has; AllTags needs both XPOS and FEATS."""
        has = {**self.has, "AllTags": self.has["XPOS"] and self.has["UFeats"]}
        return {name: tally for name, tally in self.tallies.items() if has[name]}


def count_columns(
    gold: Row, system: Row, to_gold: Sequence[int], scored: Sequence[bool], counts: ColumnCounts
) -> None:
    """Add the words of one stretch; `scored` says which gold words count."""
    for name, column in (("XPOS", gold.xpos), ("UFeats", gold.feats), ("Lemmas", gold.lemmas)):
        counts.has[name] = counts.has[name] or any(value != "_" for value in column)
    words = sum(scored)
    found = sum(g < 0 or scored[g] for g in to_gold)
    xpos = feats = everything = lemmas = 0
    for s, g in enumerate(to_gold):
        if g < 0 or not scored[g]:
            continue
        same_xpos = gold.xpos[g] == system.xpos[s]
        same_feats = universal_features(gold.feats[g]) == universal_features(system.feats[s])
        xpos += same_xpos
        feats += same_feats
        everything += same_xpos and same_feats and gold.tags[g] == system.tags[s]
        lemmas += gold.lemmas[g] in ("_", system.lemmas[s])
    correct = (xpos, feats, everything, lemmas)
    for tally, right in zip(counts.tallies.values(), correct, strict=True):
        tally.gold += words
        tally.system += found
        tally.correct += right


@lru_cache(maxsize=4096)
def universal_features(feats: str) -> tuple[str, ...]:
    """The universal features of a FEATS column, sorted; layered ones (`Gender[psor]`) are not."""
    universal = (x for x in feats.split("|") if x.split("=", 1)[0] in UNIVERSAL_FEATURES)
    return tuple(sorted(universal))
