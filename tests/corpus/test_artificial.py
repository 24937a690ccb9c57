"""Artificial languages: valid trees, true links, real ambiguity, and the same for every seed."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from treebridge import Bitext, Splitter
from treebridge.corpus.artificial import World
from treebridge.corpus.artificial.grammar import topic_of
from treebridge.corpus.trees import tree_problem


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=7)


def test_same_seed_same_text(world: World) -> None:
    again, other = World(seed=7), World(seed=8)
    assert again.treebank("far", 20).sentences == world.treebank("far", 20).sentences
    assert list(again.text("near", 20)) == list(world.text("near", 20))
    assert list(other.text("near", 20)) != list(world.text("near", 20))
    assert world.treebank("source", 30)[:10].sentences == world.treebank("source", 10).sentences


@pytest.mark.parametrize("language", ["source", "near", "far"])
def test_treebanks_look_like_treebanks(world: World, language: str) -> None:
    treebank = world.treebank(language, 1500)
    forms: Counter[str] = Counter()
    for sentence in treebank:
        assert tree_problem(sentence.heads) is None
        assert tuple(Splitter().words(sentence.text)) == sentence.forms
        forms.update(form.lower() for form in sentence.forms)
    labels = {label for sentence in treebank for label in sentence.deprels}
    tags = {tag for sentence in treebank for tag in sentence.upos}
    assert {"nsubj", "obj", "obl", "amod", "advcl", "ccomp", "acl:relcl", "conj", "punct"} <= labels
    assert {"NOUN", "VERB", "ADJ", "ADV", "PRON", "PROPN", "AUX", "PUNCT"} <= tags
    assert len(forms) > 2000
    counts = sorted(forms.values(), reverse=True)
    assert counts[0] > 20 * counts[100] and counts.count(1) > 0.2 * len(counts)  # Zipf


def test_the_far_language_is_far(world: World) -> None:
    far, source = world.treebank("far", 300), world.treebank("source", 300)
    final = 0
    for sentence in far:
        assert "case" not in sentence.deprels
        for word in sentence:
            head = 0 if word.head is None else word.head
            if word.deprel in ("obj", "nsubj", "obl"):
                final += 1
                assert word.id < head
    assert final > 300
    assert sum(map(len, far)) < 0.9 * sum(map(len, source))
    order = [w.id < (w.head or 0) for s in source for w in s if w.deprel == "obj"]
    assert not any(order)


def test_links_join_words_of_one_concept(world: World) -> None:
    source = world.languages["source"]
    for name in ("near", "far"):
        target = world.languages[name]
        linked = total = 0
        for pair in world.pairs(name, 200):
            assert pair.sure <= pair.possible
            assert (
                len({i for i, _ in pair.sure}) == len({j for _, j in pair.sure}) == len(pair.sure)
            )
            total += len(pair.target)
            linked += len(pair.sure)
            for i, j in pair.sure:
                assert pair.source.upos[i] == pair.target.upos[j]
                word, translation = pair.source.forms[i].lower(), pair.target.forms[j].lower()
                stems = {
                    target.forms[concept]
                    for concept, form in source.forms.items()
                    if word.startswith(form)
                }
                assert not stems or any(translation.startswith(stem) for stem in stems)
        assert linked == total  # every target word says something that the source says too


def test_ambiguous_words_have_two_senses_in_different_contexts(world: World) -> None:
    target, source = world.languages["near"], world.languages["source"]
    assert len(target.ambiguous) > 30
    for form, (first, second) in target.ambiguous.items():
        assert target.forms[first] == target.forms[second] == form
        assert source.forms[first] != source.forms[second]
        assert topic_of(first) != topic_of(second)
    senses: dict[str, Counter[str]] = {form: Counter() for form in target.ambiguous}
    for pair in world.pairs("near", 3000):
        for i, j in pair.sure:
            form = pair.target.forms[j].lower()
            if form in senses:
                senses[form][pair.source.forms[i].lower()] += 1
    common = [counts.most_common(2) for counts in senses.values() if counts.total() > 40]
    assert len(common) > 5
    assert all(len(two) == 2 and two[1][1] > 3 for two in common)


def test_bitext_file(world: World, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    world.write_bitext(path, "far", 50)
    walk = iter(Bitext.read(path, source_language="qaa"))
    pairs = list(walk)
    assert walk.counts.kept == len(pairs) >= 45
    first = next(islice(world.pairs("far", 1), 1))
    assert pairs[0].source == list(first.source.forms)
