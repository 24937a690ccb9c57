"""Score trees against gold trees, by one of two named conventions.

`paper`: words whose gold tag is PUNCT or SYM are excluded, labels include subtypes, and both sides
must have the same words. `conll18`: every word counts, labels exclude subtypes, and words are
matched by their characters; UAS, LAS, CLAS, UPOS, XPOS, UFeats, AllTags and Lemmas equal those of
the official script of the CoNLL 2018 shared task to the last digit.

Every figure is an F1 score in percent, which is accuracy if both sides have the same words.
UAS: correct head. LAS: correct head and label. CLAS: LAS over content relations. UEM and LEM:
sentences in which every word has the correct head (and label); a sentence without scored words is
correct, an empty one does not count. XPOS, UFeats, AllTags and Lemmas: see `score_columns`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from treebridge.corpus.sentence import Sentence
from treebridge.errors import TreebridgeError
from treebridge.parse.match import ROOT, Match, match_same_text, match_same_words
from treebridge.parse.score_columns import COLUMN_METRICS, ColumnCounts, count_columns
from treebridge.parse.tally import Tally

METRICS = ("UAS", "LAS", "CLAS", "UPOS", "UEM", "LEM")
LENGTHS = ("root", "1", "2", "3-6", "7+")  # the bins of the CoNLL-X script

# Relations between content words; without aux, case, cc, clf, cop, det, mark and punct.
CONTENT = frozenset(
    """
    acl advcl advmod amod appos ccomp compound conj csubj dep discourse dislocated expl fixed flat
    goeswith iobj list nmod nsubj nummod obj obl orphan parataxis reparandum root vocative xcomp
    """.split()
)


@dataclass(frozen=True)
class Convention:
    """Scoring rules: gold tags to exclude, and whether labels include subtypes."""

    left_out: frozenset[str]
    subtypes: bool
    same_words: bool


CONVENTIONS = {
    "paper": Convention(frozenset({"PUNCT", "SYM"}), subtypes=True, same_words=True),
    "conll18": Convention(frozenset(), subtypes=False, same_words=False),
}


@dataclass
class Scores:
    """The scores of one comparison: `scores["LAS"]`, or `scores.values` for all."""

    convention: str
    metrics: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in METRICS})
    columns: ColumnCounts = field(default_factory=ColumnCounts)
    # Labelled arcs by label, and arcs by length (of the gold arc if the head is correct).
    labels: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    lengths: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in LENGTHS})

    @property
    def values(self) -> dict[str, float]:
        """Name → F1 in percent; of further columns, only those that gold has."""
        shown = {**self.metrics, **self.columns.shown}
        return {name: tally.f1 for name, tally in shown.items()}

    def __getitem__(self, name: str) -> float:
        tallies = self.columns.tallies if name in COLUMN_METRICS else self.metrics
        return tallies[name].f1

    @property
    def words(self) -> int:
        """The number of scored gold words."""
        return self.metrics["UAS"].gold

    @property
    def sentences(self) -> int:
        """The number of gold sentences."""
        return self.metrics["UEM"].gold


def score(
    gold: Iterable[Sentence],
    system: Iterable[Sentence],
    convention: str = "paper",
    *,
    names: tuple[str, str] = ("gold", "system"),
) -> Scores:
    """Compare trees with gold trees; both are streamed, not held in memory.

    `names` refer to the two in messages.
    """
    if convention not in CONVENTIONS:
        known = " or ".join(CONVENTIONS)
        raise TreebridgeError(f"unknown score convention {convention!r}; use {known}")
    rules = CONVENTIONS[convention]
    match = match_same_words if rules.same_words else match_same_text
    scores = Scores(convention)
    for stretch in match(gold, system, names):
        _count(stretch, rules, scores)
    return scores


def _count(match: Match, rules: Convention, scores: Scores) -> None:
    """Add the words of one stretch."""
    gold, system, to_gold, same_sentences = match
    gold_labels = gold.labels if rules.subtypes else [_universal(x) for x in gold.labels]
    system_labels = system.labels if rules.subtypes else [_universal(x) for x in system.labels]
    uas, las, clas, upos, _, _ = scores.metrics.values()
    labels, lengths = scores.labels, scores.lengths
    scored = [tag not in rules.left_out for tag in gold.tags]
    head_right, both_right = [False] * len(scored), [False] * len(scored)

    for g, head in enumerate(gold.heads):
        if scored[g]:
            uas.gold += 1
            clas.gold += _universal(gold_labels[g]) in CONTENT
            labels[gold_labels[g]].gold += 1
            lengths[_length(g, head)].gold += 1
    for s, (g, head) in enumerate(zip(to_gold, system.heads, strict=True)):
        if g >= 0 and not scored[g]:
            continue
        label, length = system_labels[s], _length(s, head)
        content = _universal(label) in CONTENT
        uas.system += 1
        clas.system += content
        labels[label].system += 1
        if g >= 0:
            upos.correct += gold.tags[g] == system.tags[s]
            if gold.heads[g] == (to_gold[head] if head != ROOT else ROOT):
                head_right[g] = True
                both_right[g] = gold_labels[g] == label
                length = _length(g, gold.heads[g])
                uas.correct += 1
                lengths[length].correct += 1
                if both_right[g]:
                    las.correct += 1
                    clas.correct += content
                    labels[label].correct += 1
        lengths[length].system += 1
    count_columns(gold, system, to_gold, scored, scores.columns)
    las.gold = upos.gold = uas.gold
    las.system = upos.system = uas.system
    for name, right in (("UEM", head_right), ("LEM", both_right)):
        tally = scores.metrics[name]
        tally.gold += len(gold.sentences)
        tally.system += len(system.sentences)
        tally.correct += sum(
            all(right[g] or not scored[g] for g in words) for words in same_sentences
        )


def _universal(label: str) -> str:
    return label.partition(":")[0]


def _length(word: int, head: int) -> str:
    if head == ROOT:
        return "root"
    length = abs(word - head)
    return str(length) if length < 3 else "3-6" if length < 7 else "7+"
