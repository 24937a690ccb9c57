"""Judging by trees: which arcs links carry over, and which of them a bridged parser finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from far import WORLD
from latent import links_of

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.settings import CollectSettings
from treebridge.corpus.bitext import Pair
from treebridge.corpus.sentence import Sentence
from treebridge.parse.agreement import (
    Agreement,
    Carried,
    Trial,
    carry_arcs,
    held_out_pairs,
    known_arcs,
    without_held_out,
)
from treebridge.parse.judge import tree_temperatures
from treebridge.parse.parser import Parser

Story = tuple[Parser, Parser]
HALF = CollectSettings(held_out=0.5)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))


def tree(words: str, heads: list[int], labels: str, tags: str) -> Sentence:
    made = Sentence.from_words(words.split())
    return made.annotate(heads=heads, deprels=labels.split(), upos=tags.split())


def test_arcs_are_carried_if_both_words_are_linked() -> None:
    source = tree("the old dog barks !", [3, 3, 4, 0, 4], "det amod nsubj root punct",
                  "DET ADJ NOUN VERB PUNCT")  # fmt: skip
    pair = Pair("the old dog barks !".split(), "late o cão !".split())
    links = np.array([[3, 0], [0, 1], [2, 2], [4, 3]])
    found = carry_arcs([source], [(pair, links)])
    arcs = zip(found.word.tolist(), found.head.tolist(), found.label, found.tag, strict=True)
    # "old" has no link, and punctuation is not judged.
    assert sorted(arcs) == [
        (0, 0, "root", "VERB"),
        (1, 3, "det", "DET"),
        (2, 1, "nsubj", "NOUN"),
    ]
    without_verb = carry_arcs([source], [(pair, links[1:])])
    assert without_verb.label.tolist() == ["det"]  # its head is linked, that of the noun is not


def test_held_out_pairs_are_those_no_bridge_is_fitted_on() -> None:
    pairs = list(links_of(WORLD, "far", 60)())
    held: list = []
    rest = list(without_held_out(pairs, HALF, held))
    assert 0 < len(held) < 60 and len(held) + len(rest) <= 60
    assert not {id(pair) for pair, _ in held} & {id(pair) for pair, _ in rest}
    assert [id(pair) for pair, _ in held_out_pairs(pairs, HALF)] == [id(p) for p, _ in held]
    assert len(held_out_pairs(pairs, HALF, most=3)) == 3


@pytest.fixture(scope="module")
def trial(story: Story) -> Trial:
    parser, bridged = story
    made = Trial.prepare(list(links_of(WORLD, "far", 100)()), parser, bridged.load_encoder())
    assert made is not None
    return made


def test_a_better_bridge_agrees_more(story: Story, trial: Trial) -> None:
    """A random rotation finds fewer arcs than the fitted one, clearly so."""
    _, bridged = story
    good = trial.judge(bridged)
    assert bridged.bridge is not None
    rng = np.random.default_rng(1)
    noise = np.linalg.qr(rng.normal(size=bridged.bridge.w.shape))[0]
    bad = trial.judge(replace(bridged, bridge=replace(bridged.bridge, w=noise)))
    assert good.las > bad.las + 8 and good.uas >= good.las
    gain, low, high = good.gain_over(bad)
    assert gain == pytest.approx(good.las - bad.las) and 0 < low < gain < high


def test_the_teacher_agrees_with_itself(story: Story) -> None:
    """With the source on both sides, every word linked to itself, all arcs are found."""
    parser, _ = story
    pairs = [
        (Pair(pair.source, pair.source), np.array([[i, i] for i in range(len(pair.source))]))
        for pair, _ in links_of(WORLD, "far", 60)()
    ]
    same = Bridge(parser.space, parser.space, np.eye(parser.space.dim))
    trial = Trial.prepare(pairs, parser, parser.load_encoder())
    assert trial is not None
    found = trial.judge(parser.across(same, parser.load_encoder()))
    assert found.uas == found.las == found.upos == 100
    assert found.interval() == (100, 100)


def agreement(labelled: list[bool], sentences: list[int], labels: list[str]) -> Agreement:
    right = np.array(labelled)
    numbers = np.zeros(len(right), np.int64)
    carried = Carried(np.array(sentences), numbers, numbers, np.array(labels), np.array(labels))
    sure = np.ones(len(right))
    return Agreement(carried, 2 * len(right), right, right, right, numbers, np.array(labels), sure)


def test_figures_by_label_and_their_interval() -> None:
    found = agreement([True, False, True, True], [0, 0, 1, 4], ["obj", "obj", "det", "obj"])
    figures = found.as_dict()
    assert figures["LAS"] == 75 and figures["arcs"] == 4 and figures["sentences"] == 3
    assert figures["coverage"] == 50
    assert list(figures["labels"]) == ["obj", "det"]
    assert figures["labels"]["obj"]["LAS"] == pytest.approx(200 / 3)
    assert figures["LAS_low"] == 50 and figures["LAS_high"] == 100


def test_intervals_resample_sentences_not_arcs() -> None:
    """Arcs of a sentence stand or fall together: the interval is wider than that of arcs."""
    one = agreement([True] * 50 + [False] * 50, [0] * 50 + [1] * 50, ["obj"] * 100)
    many = agreement([True] * 50 + [False] * 50, list(range(100)), ["obj"] * 100)
    assert one.interval() == (0, 100)
    low, high = many.interval()
    assert 38 < low < 42 and 58 < high < 62


def test_too_few_arcs_or_gold_tags_make_no_trial(story: Story) -> None:
    parser, bridged = story
    pairs = list(links_of(WORLD, "far", 5)())
    assert Trial.prepare(pairs, parser, bridged.load_encoder()) is None
    assert Trial.prepare([], parser, bridged.load_encoder()) is None


def test_temperatures_come_from_trees_too(story: Story) -> None:
    """Across a bridge to a verb-final language the parser is far too sure."""
    _, bridged = story
    trees = list(WORLD.treebank("far", 60, "dev"))
    heat = tree_temperatures(bridged, trees)
    assert heat is not None and heat.arc > 1.5
    assert tree_temperatures(bridged, trees[:3]) is None
    halved = [tree.annotate(heads=[None, *tree.heads[1:]]) for tree in trees]
    assert len(known_arcs(halved)) < len(known_arcs(trees))
