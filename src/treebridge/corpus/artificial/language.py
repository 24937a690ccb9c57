"""How an artificial language expresses a tree: words, word order, marking and omission."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from treebridge.corpus.artificial.grammar import CLOSED, SIZES, Node, topic_of
from treebridge.corpus.sentence import Sentence
from treebridge.corpus.tokens import rule_words

# Position of a dependent, by its word or relation, from left to right; negative ones precede the
# head.
_VERB_MEDIAL = {
    ",": -95, "cc": -90, "mark": -80, "case": -70, "nsubj": -60, "cop": -55, "aux": -50, "not": -45,
    "det": -40, "nummod": -30, "amod": -20,
    "xcomp": 10, "obj": 20, "nmod": 10, "obl": 30, "advmod": 25, "acl:relcl": 50,
    "ccomp": 60, "advcl": 70, "conj": 80, "punct": 99,
}  # fmt: skip
_VERB_FINAL = {
    "cc": -90, "advcl": -80, "nsubj": -60, "obl": -50, "obj": -40, "ccomp": -45, "xcomp": -30,
    "advmod": -20, "acl:relcl": -50, "nmod": -40, "nummod": -30, "amod": -20,
    "cop": 10, "aux": 20, "mark": 30, "conj": 80, ",": 90, "punct": 99,
}  # fmt: skip


@dataclass(frozen=True)
class Profile:
    """What distinguishes one artificial language from another."""

    code: str
    name: str
    onsets: str
    vowels: str
    codas: str
    order: dict[str, int] = field(default_factory=lambda: dict(_VERB_MEDIAL))
    case_suffixes: bool = False  # instead of prepositions
    articles: bool = True
    drops_pronouns: bool = False  # as subjects
    ambiguous: float = 0.0  # the share of frequent nouns and verbs that share a form


SOURCE = Profile(
    "qaa", "Sorsa", "b d f g h k l m n p r s t w br dr fl gr pl st tr", "a e i o u", " n r s t l"
)
NEAR = Profile(
    "qab", "Nira", "b c d f j l m n p q r s t v ch lh nh pr tr", "a e i o u ã", " s r l m",
    ambiguous=0.12,
)  # fmt: skip
FAR = Profile(
    "qac", "Fahr", "h j k l m n p r s t v", "a e i o u y ä ö aa ee uu ää", " n s t l",
    order=_VERB_FINAL, case_suffixes=True, articles=False, drops_pronouns=True, ambiguous=0.12,
)  # fmt: skip


@dataclass
class Said:
    """A sentence in one language; its word i expresses `nodes[i]`."""

    sentence: Sentence
    nodes: list[Node]
    marked: dict[int, int]  # id of a node expressed by a suffix → index of the word with the suffix


class Language:
    """A profile with a vocabulary that is determined by the seed."""

    def __init__(self, profile: Profile, seed: int):
        self.profile = profile
        self.code = profile.code
        self.name = profile.name
        rng = random.Random(f"{seed}/{profile.code}")
        self._taken: set[str] = set()
        self.forms: dict[str, str] = {}  # concept → stem; frequent concepts get short ones
        for words in [*CLOSED.values(), ["be", "that", "to", "not", "which"]]:
            for concept in words:
                self.forms.setdefault(concept, self._invent(rng, 1))
        for upos, size in SIZES.items():
            for rank in range(size):
                self.forms[f"{upos}.{rank}"] = self._invent(rng, 1 + (rank > 20) + (rank > 400))
        marks = ("Plur", "Past", "obj", *CLOSED["ADP"])
        self.suffixes = {mark: self._invent(rng, 1, suffix=True) for mark in marks}
        self.ambiguous = self._merge(rng)

    def _invent(self, rng: random.Random, syllables: int, suffix: bool = False) -> str:
        """Invent a word form that is not taken yet."""
        onsets, vowels = self.profile.onsets.split(" "), self.profile.vowels.split(" ")
        codas = self.profile.codas.split(" ")
        for attempt in range(10_000):
            parts = [rng.choice(onsets) + rng.choice(vowels) for _ in range(syllables)]
            form = "".join(parts) + rng.choice(codas)
            if suffix:
                form = rng.choice(vowels) + rng.choice(codas).strip() + rng.choice(onsets)[:1]
            # A name like "Dr" would keep the full stop after it.
            if form not in self._taken and len(rule_words(f"{form.capitalize()}.")) == 2:
                self._taken.add(form)
                return form
            syllables += attempt % 8 == 7
        raise AssertionError("no word forms are left")

    def _merge(self, rng: random.Random) -> dict[str, tuple[str, str]]:
        """Give pairs of frequent concepts of different topics one form; return form → senses.

        Half of the pairs are two nouns, half a noun and a verb.
        """
        free = {"NOUN": list(range(160)), "VERB": list(range(80))}
        senses = {}
        for index in range(int(self.profile.ambiguous * 300)):
            rank = rng.choice(free["NOUN"])
            free["NOUN"].remove(rank)
            upos = "NOUN" if index % 2 else "VERB"
            near = (r for r in free[upos] if topic_of(f"{upos}.{r}") != topic_of(f"NOUN.{rank}"))
            # Two senses of about the same frequency, so that neither drowns the other.
            other = min(near, key=lambda r: abs(r * SIZES["NOUN"] / SIZES[upos] - rank))
            free[upos].remove(other)
            form = self.forms[f"{upos}.{other}"] = self.forms[f"NOUN.{rank}"]
            senses[form] = (f"NOUN.{rank}", f"{upos}.{other}")
        return senses

    def say(self, tree: Node, name: str) -> Said:
        """Express a tree as a sentence of this language, with its own tree, tags and text."""
        order: list[tuple[Node, Node | None]] = []
        self._linearise(tree, None, order)
        index = {id(node): i for i, (node, _) in enumerate(order)}
        forms = [self._inflect(node) for node, _ in order]
        forms[0] = forms[0][:1].upper() + forms[0][1:]
        misc = ["SpaceAfter=No" if after.upos == "PUNCT" else "_" for after, _ in order[1:]] + ["_"]
        text = "".join(form + " " * (m == "_") for form, m in zip(forms, misc, strict=True)).strip()
        sentence = Sentence.from_words(
            forms,
            upos=[node.upos for node, _ in order],
            heads=[0 if head is None else index[id(head)] + 1 for _, head in order],
            deprels=[node.deprel for node, _ in order],
            misc=misc,
            comments=[f"# sent_id = {name}", f"# text = {text}"],
        )
        marked = {
            id(child): index[id(node)]
            for node, _ in order
            for child in node.children
            if child.deprel == "case" and id(child) not in index
        }
        return Said(sentence, [node for node, _ in order], marked)

    def _linearise(
        self, node: Node, head: Node | None, out: list[tuple[Node, Node | None]]
    ) -> None:
        spoken = [(self._place(child), child) for child in node.children if not self._silent(child)]
        spoken.sort(key=lambda item: item[0])
        for place, child in spoken:
            if place < 0:
                self._linearise(child, node, out)
        out.append((node, head))
        for place, child in spoken:
            if place >= 0:
                self._linearise(child, node, out)

    def _place(self, node: Node) -> int:
        if "Front" in node.features and not self.profile.case_suffixes:
            return -75
        order = self.profile.order
        return order.get(node.concept, order.get(node.deprel, 0))

    def _silent(self, node: Node) -> bool:
        profile = self.profile
        return (
            (node.deprel == "case" and profile.case_suffixes)
            or (node.concept in ("the", "a") and not profile.articles)
            or (node.deprel == "nsubj" and node.upos == "PRON" and node.concept != "which"
                and profile.drops_pronouns)
        )  # fmt: skip

    def _inflect(self, node: Node) -> str:
        if node.upos == "PUNCT":
            return node.concept
        form = self.forms[node.concept]
        if node.upos == "PROPN":
            form = form[:1].upper() + form[1:]
        form += "".join(self.suffixes[f] for f in ("Plur", "Past") if f in node.features)
        if self.profile.case_suffixes and node.upos in ("NOUN", "PROPN", "PRON"):
            case = next((c.concept for c in node.children if c.deprel == "case"), None)
            case = case or ("obj" if node.deprel == "obj" else None)
            form += self.suffixes[case] if case else ""
        return form
