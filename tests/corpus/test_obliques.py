"""Treebanks without `obl`."""

from __future__ import annotations

from treebridge.corpus.obliques import lacks_obliques, with_obliques
from treebridge.corpus.sentence import Sentence

TREE = Sentence.from_words(
    ["She", "spoke", "of", "peace", "in", "Europe"],
    upos=["PRON", "VERB", "ADP", "NOUN", "ADP", "PROPN"],
    heads=[2, 0, 4, 2, 6, 4],
    deprels=["nsubj", "root", "case", "nmod", "case", "nmod"],
)
COPULA = Sentence.from_words(
    ["It", "is", "home", "for", "us"],
    upos=["PRON", "AUX", "NOUN", "ADP", "PRON"],
    heads=[3, 3, 0, 5, 3],
    deprels=["nsubj", "cop", "root", "case", "nmod"],
)


def test_modifiers_of_predicates_become_oblique() -> None:
    assert lacks_obliques([TREE, COPULA])
    verb, copula = with_obliques([TREE, COPULA])
    assert list(verb.deprels) == ["nsubj", "root", "case", "obl", "case", "nmod"]
    assert list(copula.deprels) == ["nsubj", "cop", "root", "case", "obl"]
    assert verb.heads == TREE.heads and verb.upos == TREE.upos


def test_treebanks_that_have_obl_or_no_modifiers_stay_as_they_are() -> None:
    (converted,) = with_obliques([TREE])
    both = [TREE, converted]
    assert with_obliques(both) is both
    alone = [TREE.annotate(deprels=["nsubj", "root", "case", "obj", "case", "obj"])]
    assert not lacks_obliques(alone) and with_obliques(alone) is alone
