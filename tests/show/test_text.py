"""Trees as text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from strategies import tree_heads
from treebridge import Sentence, TreebridgeError


def draw(heads: list[int], **settings) -> list[str]:
    n = len(heads)
    sentence = Sentence.from_words([f"w{i}" for i in range(1, n + 1)], heads=heads)
    return sentence.draw(**settings).split("\n")


def test_a_small_tree() -> None:
    sentence = Sentence.from_words(
        ["The", "old", "bank", "failed"],
        upos=["DET", "ADJ", "NOUN", "VERB"],
        heads=[3, 3, 4, 0],
        deprels=["det", "amod", "nsubj", "root"],
    )
    assert sentence.draw().split("\n") == [
        "  ╭──╼ The     DET   det",
        "  ├──╼ old     ADJ   amod",
        "╭─┴──╼ bank    NOUN  nsubj",
        "┴────╼ failed  VERB  root",
    ]
    assert sentence.draw(width=10).split("\n")[0] == "  ╭──╼ The"
    assert Sentence.from_words(["Yes"], heads=[0]).draw() == "─╼ Yes  _  _"
    assert Sentence.from_words([]).draw() == ""


def test_further_columns_on_request() -> None:
    tree = Sentence.from_words(["Las", "casas"], upos=["DET", "NOUN"], heads=[2, 0])
    tree = tree.annotate(lemmas=["el", "casa"], feats=["Number=Plur", "_"])
    assert tree.draw(columns=["feats", "lemma"]).split("\n") == [
        "╭──╼ Las    DET   _  el    Number=Plur",
        "┴──╼ casas  NOUN  _  casa",
    ]
    assert "Number=Plur" not in tree.draw() and "Number" not in tree.draw(format="svg")
    svg, html = (tree.draw(format=f, columns=["lemma", "feats"]) for f in ("svg", "html"))
    assert ">casa<" in svg and ">Number=Plur<" in svg and svg in html
    with pytest.raises(TreebridgeError, match="unknown column 'upos'"):
        tree.draw(columns=["upos"])


def test_wide_letters_keep_the_columns() -> None:
    lines = Sentence.from_words(["我", "a", "e\u0301"], heads=[2, 0, 2]).draw().split("\n")
    assert [line.split()[-2:] for line in lines] == [["_", "_"]] * 3
    assert len({len(line) + line.count("我") - line.count("\u0301") for line in lines}) == 1


@given(tree_heads(max_size=20))
def test_following_the_lines_gives_the_heads_back(heads: list[int]) -> None:
    lines = [re.split(r"╼", line)[0] for line in draw(heads)]
    grid = {(y, x): char for y, line in enumerate(lines, 1) for x, char in enumerate(line)}
    for word, head in enumerate(heads, 1):
        # Walk left from the word to where its line starts; that vertical must be the head's.
        x = max(x for y, x in grid if y == word)
        while grid.get((word, x - 1), " ") in "─┼╫┴┬┤" and x > 0:
            x -= 1
        x -= grid.get((word, x - 1), " ") in "├╭╰"
        if head == 0:
            assert x == 0
            continue
        char = grid[word, x]
        assert char in "├╭╰"
        assert any(grid[head, x] in junctions for junctions in ("┼┴┬",)), (
            f"no vertical of word {head} in column {x}"
        )


def test_drawing_survives_what_is_no_tree() -> None:
    assert len(draw([2, 1, 3])) == 3
    assert len(Sentence.from_words(["a", "b"]).draw().split("\n")) == 2
