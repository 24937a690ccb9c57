"""The convention conll18 equals the official script to the last digit."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parse.damage import (  # fmt: skip
    LABELS,
    TAGS,
    T,
    Text,
    W,
    annotate,
    damaged,
    from_sentence,
    to_conllu,
    with_multiword_tokens,
)
from parse.oracle import agrees, chains, read
from strategies import tree_heads
from treebridge.corpus.artificial import World
from treebridge.corpus.conllu import read_conllu
from treebridge.parse.match import NOWHERE, match_same_text


@pytest.mark.parametrize("language", ["source", "far"])
def test_damaged_trees_against_the_official_script(language: str) -> None:
    sentences = World(seed=3).treebank(language, 500)
    seen, columns = set(), set()
    for seed in range(100):
        rng = random.Random(seed)
        chosen = rng.sample(list(sentences), 5)
        gold: Text = [with_multiword_tokens(from_sentence(s), rng) for s in chosen]
        system = damaged(gold, rng, amount=rng.choice([0, 0.02, 0.1, 0.3, 0.7]))
        scores = agrees(to_conllu(gold, rng), to_conllu(system, rng))
        seen.add((scores["UAS"], scores["LAS"], scores["CLAS"], scores["UPOS"], scores["UEM"]))
        columns.add((scores["XPOS"], scores["UFeats"], scores["AllTags"], scores["Lemmas"]))
    assert len(seen) > 70 and any(0 < uem < 100 for *_, uem in seen)
    assert len(columns) > 60 and any(len(set(figures)) == 4 for figures in columns)


@st.composite
def texts(draw: st.DrawFn, characters: str) -> Text:
    """Any way to split these few characters into sentences, tokens and words with a tree."""
    tokens: list[T] = []
    out: Text = []
    rest = characters
    while rest:
        size = draw(st.integers(1, min(3, len(rest))))
        form, rest = rest[:size], rest[size:]
        words = [form]
        if draw(st.integers(0, 2)) == 0:
            words = draw(st.lists(st.sampled_from(["a", "b", "ab", "A"]), min_size=2, max_size=4))
        made = [W(w, draw(st.sampled_from(TAGS)), draw(st.sampled_from(LABELS))) for w in words]
        for word in made:
            annotate(word, draw(st.randoms(use_true_random=False)))
        tokens.append(T(form, made, len(words) > 1))
        if not rest or draw(st.integers(0, 4)) == 0:
            row = [word for token in tokens for word in token.words]
            heads = draw(tree_heads(min_size=len(row), max_size=len(row)))
            for word, head in zip(row, heads, strict=True):
                word.head = row[head - 1] if head else None
            out.append(tokens)
            tokens = []
    return out


@st.composite
def two_texts(draw: st.DrawFn) -> tuple[Text, Text]:
    characters = draw(st.text("ab", min_size=1, max_size=12))
    return draw(texts(characters)), draw(texts(characters))


@settings(max_examples=400)
@given(two_texts(), st.randoms(use_true_random=False))
def test_any_two_ways_to_split_a_text(both: tuple[Text, Text], rng: random.Random) -> None:
    """Only two letters, so that words could match in many wrong places."""
    gold, system = (to_conllu(text, rng) for text in both)
    agrees(gold, system)


@pytest.mark.parametrize(
    ("gold", "system", "words"),
    [
        # The script skips one word before a multi-word token, here a, and treats the next as
        # part of it, although it belongs to the previous sentence.
        ("ab / bc=b+c", "a b / b c", 2),
        ("ab bc=b+c", "a b b c", 2),
        ("a b b c", "ab bc=b+c", 2),
        # A longer word is considered if it begins together with the token.
        ("ab b", "a=ab+b b b", 2),
        ("ab b / c", "a=ab+b b / b c", 3),
        ("a=ab+b b b", "ab b", 1),
        # Tokens that overlap in a chain form one stretch.
        ("ab=a+b cd=c+d e", "a bc=b+c de=d+e", 5),
    ],
)
def test_corners_of_the_official_alignment(gold: str, system: str, words: int) -> None:
    ours, theirs = chains(gold), chains(system)
    agrees(ours, theirs)
    (match,) = match_same_text(read(ours), read(theirs), ("gold", "system"))
    assert sum(g != NOWHERE for g in match.to_gold) == words


def test_damaged_real_trees(shared: Path) -> None:
    rng = random.Random(1)
    path = shared / "data/ud-2.6/UD_Portuguese-GSD/pt_gsd-ud-dev.conllu"
    gold = [from_sentence(sentence) for sentence in read_conllu(path)]
    for amount in (0.05, 0.4):
        agrees(to_conllu(gold, rng), to_conllu(damaged(gold, rng, amount), rng))
