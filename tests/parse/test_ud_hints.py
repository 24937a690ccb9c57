"""Broken rules of Universal Dependencies in words."""

from __future__ import annotations

from treebridge import Sentence
from treebridge.parse.ud_hints import broken_rules


def test_what_a_tree_breaks() -> None:
    good = Sentence.from_words(
        ["The", "girl", "eats", "apples", "."],
        upos=["DET", "NOUN", "VERB", "NOUN", "PUNCT"],
        heads=[2, 3, 0, 3, 3],
        deprels=["det", "nsubj", "root", "obj", "punct"],
    )
    assert broken_rules(good) == []
    assert broken_rules(good.annotate(deprels=["det", "obj", "root", "obj", "punct"])) == [
        "3 eats has 2 objects: 2 girl and 4 apples"
    ]
    assert broken_rules(good.annotate(upos=["NOUN", "NOUN", "VERB", "NOUN", "PUNCT"])) == [
        "1 The: the label det does not go with the tag NOUN"
    ]
    assert broken_rules(good.annotate(deprels=["det", "conj", "root", "obj", "punct"])) == [
        "2 girl: the head of conj must stand before it"
    ]
    assert broken_rules(good.annotate(heads=[5, 3, 0, 3, 3])) == [
        "5 .: a word with the label punct cannot govern 1 The (det)"
    ]
    unknown = good.annotate(heads=[None] * 5, upos=["_"] * 5)
    assert broken_rules(unknown) == [] == broken_rules(good.annotate(deprels=["_"] * 5))
