"""Trees that Universal Dependencies accept, whatever the scores: the official validator says so."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebridge import Parser, Sentence
from treebridge.corpus.trees import tree_problem
from treebridge.parse.given import Given
from treebridge.parse.network import Floats, Numbers, Scored, possible_arcs
from treebridge.parse.predict import annotated, predict
from treebridge.parse.settings import ParserSettings
from treebridge.parse.ud_rules import Rules
from treebridge.parse.vocab import Names

LABELS = Names(
    """acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp compound conj cop csubj dep
    det discourse expl fixed flat goeswith iobj list mark nmod nsubj nsubj:pass nummod obj obl
    obl:tmod parataxis punct root xcomp""".split()
)
TAGS = Names(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)
WORDS = "a word or two , . ? ( ) % - said « » 3 of it".split()


class Random:
    """A network whose scores come from a seed; it predicts tags unless told not to."""

    at_once, batch_words = 1, 1000

    def __init__(self, seed: int, tags: str = "predicted"):
        self.rng, self.settings = np.random.default_rng(seed), ParserSettings(tags=tags)  # type: ignore[arg-type]

    def score(
        self, vectors: Floats, lengths: Numbers, tags: Numbers, added: Floats | None = None
    ) -> Scored:
        def normal(*size: int) -> Floats:
            return (self.rng.normal(size=size) * 3).astype(np.float32)

        batch, n = tags.shape
        arcs = np.where(possible_arcs(lengths, n), normal(batch, n, n + 1), np.float32(-np.inf))
        tag_scores = normal(batch, n, len(TAGS)) if self.settings.tags == "predicted" else None
        labels = normal(batch, n, n + 1, len(LABELS))

        def chosen(heads: Numbers) -> Floats:
            at = np.maximum(heads, 0)[..., None, None]
            found: Floats = np.take_along_axis(labels, at, 2)[:, :, 0]
            return found

        return Scored(arcs, tag_scores, chosen)


def parse(
    sentence: Sentence, seed: int, tags: str = "predicted", *, keep: bool = False
) -> Sentence:
    n = len(sentence)
    known = Given.of([sentence], LABELS, TAGS, keep_heads=keep, keep_tags=keep or tags == "gold")
    rules = Rules.of(LABELS, TAGS if tags != "none" else ())
    unknown = np.full((1, n), -1)
    found = predict(
        Random(seed, tags), np.zeros((1, n, 1), np.float32), np.array([n]), unknown, rules, known
    )
    return annotated(sentence, found, 0, LABELS, TAGS, retag=not keep, relabel=not keep)


def complaints(sentences: list[Sentence]) -> Counter[str]:
    """What the validator says up to level 3; warnings do not count."""
    from udtools.validator import Validator

    for number, sentence in enumerate(sentences, 1):
        sentence.comments = [f"# sent_id = {number}", f"# text = {' '.join(sentence.forms)}"]
    text = "".join(sentence.to_conllu() for sentence in sentences)
    validator = Validator(lang="ud", level=3, output=None)
    state = validator.validate_file_handle(io.StringIO(text))
    return Counter(one.testid for one in state.error_tracker if one.is_error())


def words(rng: np.random.Generator, most: int = 30) -> Sentence:
    return Sentence.from_words(list(rng.choice(WORDS, rng.integers(1, most))))


def test_the_validator_accepts_any_scores() -> None:
    trees = [parse(words(np.random.default_rng(seed)), seed) for seed in range(250)]
    assert complaints(trees) == {}
    # It does complain where there is something to complain about.
    bad = Sentence.from_words(["a", "b"], heads=[2, 0], deprels=["conj", "root"], upos=["X", "X"])
    assert complaints([bad]) == {"right-to-left-conj": 1}


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=25), st.integers(0, 2**32),
       st.sampled_from(["predicted", "none"]))  # fmt: skip
def test_rules_that_need_no_tags(forms: list[str], seed: int, tags: str) -> None:
    tree = parse(Sentence.from_words(forms), seed, tags)
    assert tree_problem(tree.heads) is None
    base = [label.partition(":")[0] for label in tree.deprels]
    marks = [form in {",", ".", "?", "(", ")", "«", "»"} for form in forms]
    for place, (head, label, mark) in enumerate(zip(tree.heads, base, marks, strict=True), 1):
        assert head is not None
        assert (label == "root") == (head == 0)
        assert not mark or label in ("punct", "root")
        assert not head or not marks[head - 1] or base[head - 1] == "root"
        assert label not in ("conj", "flat", "fixed", "appos", "goeswith") or head < place
    for kind in (("nsubj", "csubj"), ("obj",)):
        of = Counter(head for head, label in zip(tree.heads, base, strict=True) if label in kind)
        assert max(of.values(), default=0) <= 1
    for place, mark in enumerate(marks, 1):
        assert not mark or not tree.heads[place - 1] or not _crosses(tree.heads, place)


def _crosses(heads: Sequence[int | None], place: int) -> bool:
    """Whether the arc of a word crosses that of another."""
    arcs = [(min(h or 0, i), max(h or 0, i)) for i, h in enumerate(heads, 1)]
    low, high = arcs[place - 1]
    return any(a < low < b < high or low < a < high < b for a, b in arcs)


@given(st.integers(0, 2**32), st.integers(0, 2**32))
def test_what_the_user_says_stays(seed: int, other: int) -> None:
    """Even what breaks the rules."""
    rng = np.random.default_rng(seed)
    sentence = words(rng, 12)
    n = len(sentence)
    other_tree = parse(sentence, other)
    fixed = rng.random(n) < 0.5
    others = [label for label in LABELS if label != "root"]
    strange = [str(rng.choice(others)) if head else "root" for head in other_tree.heads]
    asked = sentence.annotate(
        heads=[h if f else None for h, f in zip(other_tree.heads, fixed, strict=True)],
        deprels=[d if f else "_" for d, f in zip(strange, fixed, strict=True)],
        upos=[str(rng.choice(list(TAGS))) if f else "_" for f in rng.random(n) < 0.5],
    )
    tree = parse(asked, seed, keep=True)
    assert tree_problem(tree.heads) is None
    for given_, found in (
        (asked.heads, tree.heads),
        (asked.deprels, tree.deprels),
        (asked.upos, tree.upos),
    ):
        assert all(a in (None, "_", b) for a, b in zip(given_, found, strict=True))
    assert "_" not in tree.deprels and "_" not in tree.upos


def test_raw_text_has_what_ud_requires(parser: Parser) -> None:
    first, second = parser("Yes, it is. And so on!")
    assert first.comments == ["# newpar", "# sent_id = 1", "# text = Yes, it is."]
    assert second.comments == ["# sent_id = 2", "# text = And so on!"]
    assert next(misc for *_, misc in first.tokens()) == "SpaceAfter=No"


@pytest.mark.parametrize("forms", [["."], ["?", "!"], ["(", ")", "."]])
def test_a_sentence_of_punctuation(forms: list[str]) -> None:
    tree = parse(Sentence.from_words(forms), 1)
    assert tree_problem(tree.heads) is None
    assert Counter(tree.deprels) == Counter(["root", *["punct"] * (len(forms) - 1)])
