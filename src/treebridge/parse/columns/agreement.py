"""Features as the target language may have them: with agreement, and only where forms differ.

English articles and adjectives have no Number, most Spanish ones do; English adjectives have a
Degree, which the forms of Spanish ones do not show. Source trees say what a word agrees with; the
forms of the target words that they are linked to say whether they do (`Contrasts`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from treebridge.corpus.feats import read_feats
from treebridge.corpus.sentence import Sentence

Feats = dict[str, str]
NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
MODIFIERS = frozenset({"det", "amod", "nmod:poss", "det:poss"})  # agree with their head
SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
CLOSED = frozenset({"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ"})
VERBAL = ("Mood", "Number", "Person", "Tense", "VerbForm")  # what a finite auxiliary stands for
CONSTANT = 0.985  # share of one value above which a feature belongs to the class, not to forms
TOLD = 0.4  # share of the other values that forms must tell apart
LEAST = 30  # occurrences
LONGEST = 3  # characters of an ending


def with_agreement(tree: Sentence, linked: frozenset[int] | set[int]) -> list[Feats]:
    """The features of a source tree's words, with those of the words that they could agree with.

    A modifier takes the Number of its head, a finite verb Number and Person of its subject; a verb
    whose finite auxiliary is not linked (by index) stands for both.
    """
    feats = [read_feats(column) for column in tree.feats]
    heads = [None if head is None or head == 0 else head - 1 for head in tree.heads]
    labels = [label.partition(":")[0] for label in tree.deprels]
    subjects = _subjects(tree, feats, heads, labels)
    out = [dict(own) for own in feats]
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if head is None:
            continue
        if tree.deprels[word] in MODIFIERS and tree.upos[head] in NOMINAL:
            if "Number" in feats[head]:
                out[word].setdefault("Number", feats[head]["Number"])
        elif label in ("aux", "cop") and feats[word].get("VerbForm") == "Fin":
            out[word] = {**subjects.get(head, {}), **out[word]}
    for word, own in enumerate(feats):
        if tree.upos[word] not in ("VERB", "AUX"):
            continue
        finite = own.get("VerbForm") == "Fin"
        absorbed = [
            other
            for other, head in enumerate(heads)
            if head == word and labels[other] == "aux" and other not in linked
            and feats[other].get("VerbForm") == "Fin"
        ]  # fmt: skip
        if absorbed and not finite:
            auxiliary = {name: x for name, x in feats[absorbed[0]].items() if name in VERBAL}
            kept = {name: x for name, x in own.items() if name not in VERBAL}
            out[word] = {**kept, **auxiliary}
        if finite or absorbed:
            out[word] = {**subjects.get(word, {}), **out[word]}
    return out


def _subjects(
    tree: Sentence, feats: list[Feats], heads: list[int | None], labels: list[str]
) -> dict[int, Feats]:
    """Number and Person of the subject of each word that has one."""
    several = {head for head, label in zip(heads, labels, strict=True) if label == "conj"}
    found: dict[int, Feats] = {}
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if label not in SUBJECTS or head is None:
            continue
        number = "Plur" if word in several else feats[word].get("Number", "")
        person = feats[word].get("Person", "3" if tree.upos[word] != "PRON" else "")
        both = {"Number": number, "Person": person}
        found.setdefault(head, {name: value for name, value in both.items() if value})
    return found


@dataclass
class Contrasts:
    """Counts of a feature's values by tag and target form."""

    counts: dict[tuple[str, str], Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(self, form: str, upos: str, feats: Mapping[str, str], names: list[str]) -> None:
        """Count one linked word."""
        for name in names:
            self.counts[upos, name][form.lower(), feats.get(name, "")] += 1

    def told(self, upos: str, name: str) -> bool:
        """Whether target forms tell the values of a feature apart.

        In a closed class the form may be any, in an open class the ending must tell: each
        occurrence is guessed from the others of its form, or from other forms with its ending.
        """
        counts = self.counts.get((upos, name))
        if not counts or counts.total() < LEAST:
            return False
        most, share = _usual(_values(counts))
        if share >= CONSTANT:
            return most != ""
        guessed, usual = _by_form(counts) if upos in CLOSED else _by_ending(counts)
        return (guessed - usual) / max(1 - usual, 1e-9) >= TOLD


def _values(counts: Counter[tuple[str, str]]) -> Counter[str]:
    values: Counter[str] = Counter()
    for (_, value), times in counts.items():
        values[value] += times
    return values


def _usual(values: Counter[str]) -> tuple[str, float]:
    """The most frequent value and its share."""
    most, times = max(values.items(), key=lambda item: (item[1], item[0]))
    return most, times / values.total()


def _by_form(counts: Counter[tuple[str, str]]) -> tuple[float, float]:
    """Accuracy of guessing each occurrence by the others of its form, and by the usual value."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for (form, value), times in counts.items():
        forms[form][value] += times
    right = total = 0
    for values in forms.values():
        if values.total() > 1:
            total += values.total()
            best = max(values.values())
            right += best if best > 1 else 0
    return right / max(1, total), _usual(_values(counts))[1]


def _by_ending(counts: Counter[tuple[str, str]]) -> tuple[float, float]:
    """The same for forms instead of occurrences: by other forms with the longest ending."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for (form, value), times in counts.items():
        forms[form][value] += times
    value_of = {form: _usual(values)[0] for form, values in forms.items()}
    endings: dict[str, Counter[str]] = defaultdict(Counter)
    for form, value in value_of.items():
        for size in range(min(LONGEST, len(form)) + 1):
            endings[form[len(form) - size :]][value] += 1
    right = 0
    for form, value in value_of.items():
        for size in range(min(LONGEST, len(form)), -1, -1):
            others = endings[form[len(form) - size :]] - Counter([value])
            if others:
                right += _usual(others)[0] == value
                break
    return right / max(1, len(value_of)), _usual(Counter(value_of.values()))[1]
