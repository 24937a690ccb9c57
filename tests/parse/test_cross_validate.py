"""What trees are worth, by themselves: before and after, and whether anybody corrected them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from far import WORLD

from treebridge import Sentence
from treebridge.parse.cross_validate import FOLDS, Validation, cross_validate
from treebridge.parse.parser import Parser
from treebridge.parse.refinement import refine_parser
from treebridge.parse.score import score
from treebridge.parse.settings import RefineSettings

TREES = list(WORLD.treebank("far", 24))


def test_before_is_what_evaluate_says(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    found = cross_validate(bridged, TREES, None)
    gold = score(TREES, [one.sentence for one in bridged.parse(TREES, retag=True)])
    for name in ("UPOS", "UAS", "LAS"):
        assert found.before[name] == pytest.approx(gold[name])
    assert found.after == {} and found.gains == {} and not found.uncorrected


def test_each_fold_is_parsed_by_a_parser_that_has_not_seen_it(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    learned: list[Sequence[Sentence]] = []

    def refine(trees: Sequence[Sentence], fold: int) -> Parser:
        learned.append(trees)
        settings = RefineSettings(epochs=3, learning_rate=5e-3, trees_times=5)
        return refine_parser(bridged, settings, trees=trees).parser

    found = cross_validate(bridged, TREES, refine)
    assert [len(trees) for trees in learned] == [12] * FOLDS
    held = [{s.text for s in TREES} - {s.text for s in trees} for trees in learned]
    assert set.union(*held) == {s.text for s in TREES}
    assert found.gains["LAS"] > 3
    for name, (low, high) in found.intervals.items():
        assert low < found.gains[name] < high
    assert found.figures()["folds"] == FOLDS


def test_few_and_partial_trees(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    some = [tree.annotate(upos=["_"] * len(tree)) for tree in TREES[:4]]
    found = cross_validate(bridged, some, lambda trees, fold: bridged)
    assert set(found.before) == {"UAS", "LAS"} and found.intervals == {}
    assert found.gains == {"UAS": 0, "LAS": 0}
    assert cross_validate(bridged, some[:1], lambda trees, fold: bridged).folds == 0


def test_uncorrected_trees_are_noticed(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    own = bridged([tree.forms for tree in TREES])
    assert cross_validate(bridged, own, None).uncorrected
    one = own[0].annotate(deprels=["other", *own[0].deprels[1:]])
    assert cross_validate(bridged, [one, *own[1:]], None).uncorrected  # nearly all are its own
    assert not Validation(9, 0, {"UPOS": 99.0}).uncorrected
    assert np.isfinite(cross_validate(bridged, own, None).before["UAS"])
