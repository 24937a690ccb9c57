"""Projection of a bitext: confident source trees, labels mixed with the bridged parser's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from far import WORLD
from latent import links_of

from treebridge.corpus.bitext import Pair
from treebridge.errors import TreebridgeError
from treebridge.parse.distributions import distributions
from treebridge.parse.parser import Parser
from treebridge.parse.project.carry import (
    ProjectSettings,
    carry,
    choose_pairs,
    choose_sentences,
    own_distributions,
)
from treebridge.parse.project.projection import Soft, project

Story = tuple[Parser, Parser]
SETTINGS = ProjectSettings(density=0.4, sentences=60)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def pairs() -> list:
    return choose_pairs(links_of(WORLD, "far", 150)(), SETTINGS)


def believed(parser: Parser, sentences: list) -> tuple[list[Soft], list[np.ndarray]]:
    """A parser's distributions for sentences, and their vectors in its space."""
    into = parser.bridge.transform if parser.bridge else parser.space.transform
    kept = [vectors.astype(np.float16) for vectors in map(parser.load_encoder(), sentences)]
    rows = [into(vectors).astype(np.float16) for vectors in kept]
    found = dict(distributions(parser.model, rows))
    return [found[index] for index in range(len(sentences))], rows


def surest(soft: list[Soft], share: float) -> list[int]:
    """The sentences with the highest geometric mean of head probabilities."""
    sure = [np.log(part.arcs.max(1)).mean() for part in soft]
    return sorted(np.argsort(sure)[-round(share * len(sure)) :].tolist())


def which(found: list[np.ndarray], rows: list[np.ndarray]) -> list[int]:
    """The indices of the found sentences among all."""
    return [next(i for i, row in enumerate(rows) if np.array_equal(row, one)) for one in found]


def test_sentences_with_confident_source_trees_are_kept(story: Story, pairs: list) -> None:
    parser, bridged = story
    found, _ = carry(pairs, parser, bridged, replace(SETTINGS, confident=0.25))
    soft, _ = believed(parser, [pair.source for pair, _ in pairs])
    _, rows = believed(bridged, [pair.target for pair, _ in pairs])
    assert which(found.vectors, rows) == surest(soft, 0.25)


def test_labels_are_mixed_with_the_bridged_parsers_own(story: Story, pairs: list) -> None:
    parser, bridged = story
    none, half, all_own = (
        carry(pairs, parser, bridged, replace(SETTINGS, confident=1.0, own_labels=share))[0].soft
        for share in (0.0, 0.5, 1.0)
    )
    soft, _ = believed(parser, [pair.source for pair, _ in pairs])
    differs = 0.0
    for index, (pair, links) in enumerate(pairs):
        linked = np.unique(links[:, 1])
        projected = project(soft[index], links, len(pair.target))
        np.testing.assert_allclose(none[index].labels[linked], projected.labels[linked], atol=2e-3)
        mean = (none[index].labels + all_own[index].labels) / 2
        np.testing.assert_allclose(half[index].labels, mean, atol=2e-3)
        differs = max(differs, float(abs(none[index].labels - all_own[index].labels).max()))
    assert differs > 0.5


def test_unlinked_words_are_filled_or_masked(story: Story, pairs: list) -> None:
    parser, bridged = story
    first_alone = [(pair, links[links[:, 1] > 0]) for pair, links in pairs]
    filled, masked = (
        carry(first_alone, parser, bridged, replace(SETTINGS, confident=1.0, fill=fill))[0]
        for fill in (True, False)
    )
    own, _ = believed(bridged, [pair.target for pair, _ in pairs])
    for mine, whole, empty in zip(own, filled.soft, masked.soft, strict=True):
        np.testing.assert_allclose(whole.arcs[0], mine.arcs[0], atol=2e-3)
        assert not any(part[0].any() for part in empty)
    assert any(soft.arcs[1:].any() for soft in masked.soft)


def test_the_order_of_the_target_is_counted(story: Story, pairs: list) -> None:
    """The far language puts objects before the verb."""
    parser, bridged = story
    _, order = carry(pairs, parser, bridged, SETTINGS)
    after = parser.labels.index("obj"), False
    assert order.flipped[after] > 0.8 * order.arcs[after] > 10


def test_self_training_keeps_the_most_confident_sentences(story: Story) -> None:
    _, bridged = story
    sentences = [tree.forms for tree in WORLD.treebank("far", 40, "dev")]
    found = own_distributions(sentences, bridged, ProjectSettings(confident=0.25))
    soft, rows = believed(bridged, sentences)
    assert which(found.vectors, rows) == surest(soft, 0.25)
    with pytest.raises(TreebridgeError, match="no sentence has 4–40 words"):
        own_distributions([], bridged, ProjectSettings())


def test_self_training_sharpens(story: Story) -> None:
    """Squared and normalised: .6, .2, .2 become .82, .09, .09."""
    _, bridged = story
    sentences = [tree.forms for tree in WORLD.treebank("far", 10, "dev")]
    found = own_distributions(sentences, bridged, ProjectSettings(confident=1.0))
    for mine, plain in zip(found.soft, believed(bridged, sentences)[0], strict=True):
        for sharp, part in zip(mine, plain, strict=True):
            expected = part**2 / (part**2).sum(1, keepdims=True)
            np.testing.assert_allclose(sharp, expected, atol=2e-3)


def test_pairs_are_chosen_by_length_and_density() -> None:
    def pair(source: int, target: int, links: int) -> tuple:
        return Pair(["a"] * source, ["b"] * target), np.array([[i, i] for i in range(links)])

    settings = ProjectSettings(shortest=4, longest=10, density=0.5, sentences=1000)
    good = [pair(4, 4, 2), pair(10, 10, 5), pair(20, 10, 10), pair(16, 4, 4)]
    bad = [pair(4, 3, 3), pair(11, 11, 11), pair(21, 10, 11), pair(17, 4, 4), pair(4, 4, 1)]
    found = choose_pairs([*good, *bad] * 5, settings)
    assert [id(item) for item in found] == [id(item) for item in good * 5]
    with pytest.raises(TreebridgeError, match="only 19 sentence pairs"):
        choose_pairs((good * 5)[:19], settings)


def test_sentences_are_drawn_uniformly() -> None:
    words = [[str(number)] * 5 for number in range(400)]
    settings = ProjectSettings(sentences=100)
    odd = [["too", "short"], ["long"] * 41]
    drawn = [choose_sentences([*words, *odd], settings, s) for s in range(20)]
    numbers = np.array([[int(found[0]) for found in some] for some in drawn])
    assert numbers.shape == (20, 100) and all(len(set(row)) == 100 for row in numbers.tolist())
    quarters = np.bincount(numbers.ravel() // 100, minlength=4)
    assert (abs(quarters - 500) < 90).all()  # four standard deviations
    assert drawn[0] == choose_sentences([*words, *odd], settings, 0) != drawn[1]
