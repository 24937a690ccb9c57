"""Features as the target language may have them: with agreement, and only where forms differ.

English articles and adjectives have no Number, most Spanish ones do; English adjectives have a
Degree, which the forms of Spanish ones do not show. Source trees say what a word agrees with; the
forms of the target words that they are linked to say whether they do (`Contrasts`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from treebridge.corpus.feats import read_feats
from treebridge.corpus.sentence import Sentence

Feats = dict[str, str]
NOMINAL = frozenset({"NOUN", "PROPN", "PRON"})
MODIFIERS = frozenset({"det", "amod"})  # agree with their head
SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
CLOSED = frozenset({"ADP", "AUX", "CCONJ", "DET", "NUM", "PART", "PRON", "SCONJ"})
VERBAL = ("Mood", "Number", "Person", "Tense", "VerbForm")  # what a finite auxiliary stands for
FINITE = ("Mood", "Number", "Person", "Tense")  # English verbs lack some of them (*will, went*)
UNKNOWN = "?"  # the value of a feature that may be there
CONSTANT = 0.985  # share of one value above which a feature belongs to the class, not to forms
ADDED = 0.4  # how well forms must tell the values of a feature apart that agreement adds
KEPT = 0.2  # the same for one that source words have themselves
LEAST = 30  # occurrences
LONGEST = 3  # characters of an ending


def with_agreement(tree: Sentence, linked: Collection[int]) -> list[Feats]:
    """The features of a source tree's words, with those of the words that they could agree with.

    A modifier takes the Number of its head, a finite verb Number and Person of its subject, an
    adjective or a passive participle that is a predicate the Number of its subject. Where there is
    no such word, the value is UNKNOWN. A verb whose finite auxiliary is not linked (by index)
    stands for both.
    """
    feats = [read_feats(column) for column in tree.feats]
    heads = [-1 if not head else head - 1 for head in tree.heads]
    subjects = _subjects(tree, feats, heads)
    out = [dict(own) for own in feats]
    for word, (head, upos) in enumerate(zip(heads, tree.upos, strict=True)):
        label = tree.deprels[word].partition(":")[0]
        if upos in ("DET", "ADJ"):
            agreeing = label in MODIFIERS and tree.upos[head] in NOMINAL
            number = feats[head].get("Number") if agreeing else None
            subject = subjects.get(word, {}) if upos == "ADJ" else {}
            out[word].setdefault("Number", number or subject.get("Number", UNKNOWN))
        elif upos in ("VERB", "AUX"):
            auxiliary = _auxiliary(word, feats, heads, tree, linked)
            if auxiliary:
                kept = {name: x for name, x in feats[word].items() if name not in VERBAL}
                out[word] = kept | {n: x for n, x in auxiliary.items() if n in VERBAL}
            if out[word].get("VerbForm") == "Fin":
                of = subjects.get(head if label in ("aux", "cop") else word, {})
                out[word] = {**dict.fromkeys(FINITE, UNKNOWN), **of, **out[word]}
            elif out[word].get("VerbForm") == "Part":
                agreeing = label == "acl" and tree.upos[head] in NOMINAL
                passive = subjects.get(word, {}) if feats[word].get("Voice") == "Pass" else {}
                number = feats[head].get("Number") if agreeing else passive.get("Number")
                out[word].setdefault("Number", number or UNKNOWN)
    return out


def _auxiliary(
    word: int, feats: list[Feats], heads: list[int], tree: Sentence, linked: Collection[int]
) -> Feats | None:
    """The features of a finite auxiliary that is not linked, if the verb is not finite itself."""
    if feats[word].get("VerbForm") == "Fin":
        return None
    for other, head in enumerate(heads):
        auxiliary = head == word and tree.deprels[other].startswith("aux")
        if auxiliary and other not in linked and feats[other].get("VerbForm") == "Fin":
            return feats[other]
    return None


def _subjects(tree: Sentence, feats: list[Feats], heads: list[int]) -> dict[int, Feats]:
    """Number and Person of the subject of each word that has one, or shares one."""
    labels = [label.partition(":")[0] for label in tree.deprels]
    several = {head for head, label in zip(heads, labels, strict=True) if label == "conj"}
    found: dict[int, Feats] = {}
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if label not in SUBJECTS:
            continue
        noun = word
        if feats[word].get("PronType") == "Rel" and tree.deprels[head] == "acl:relcl":
            noun = heads[head]  # *the banks that fail*
        number = "Plur" if noun in several else feats[noun].get("Number")
        person = feats[noun].get("Person") or (None if tree.upos[noun] == "PRON" else "3")
        both = {"Number": number, "Person": person}
        found.setdefault(head, {name: value for name, value in both.items() if value})
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if label == "conj" and word not in found and head in found:
            found[word] = found[head]  # *the bank failed and closed*
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
            if feats.get(name) != UNKNOWN:
                self.counts[upos, name][form.lower(), feats.get(name, "")] += 1

    def told(self, upos: str, name: str) -> float:
        """How well target forms tell the values of a feature apart: 0 not at all, 1 always.

        In a closed class the form may be any, in an open class the ending must tell: each
        occurrence is guessed from the others of its form, or from other forms with its ending.
        """
        counts = self.counts.get((upos, name))
        if not counts or counts.total() < LEAST:
            return 0.0
        most, share = _usual(_values(counts))
        if share >= CONSTANT:
            return float(most != "")
        guessed, usual = _by_form(counts) if upos in CLOSED else _by_ending(counts)
        return max(0.0, (guessed - usual) / max(1 - usual, 1e-9))


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
