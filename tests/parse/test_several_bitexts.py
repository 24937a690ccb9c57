"""Trees over several bitexts, each with the parser of its own source language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from latent import LatentEncoder
from sisters import DEV, ENCODERS, FIVE, GOLD, TREES, WORLD, bridge_of, sister_of

from treebridge import Parser, TreebridgeError
from treebridge.corpus.bitext import Pair
from treebridge.parse.project.carry import carry
from treebridge.parse.project.projection import Soft
from treebridge.parse.project.several import Lesson, carry_several, in_names_of, merge
from treebridge.parse.settings import ProjectSettings
from treebridge.parse.vocab import Names

SETTINGS = ProjectSettings(density=0.3, confident=1.0)


@pytest.fixture(scope="module")
def models(place: Path) -> tuple[Parser, Parser, Parser]:
    """The parser of the source, the sister's, and the one for the target."""
    parser = Parser.train(TREES, ENCODERS["source"], DEV, FIVE)
    sister = sister_of(bridge_of(parser, "sister", place / "sister"))
    hub = Parser.train(TREES, ENCODERS["source"], DEV, FIVE, also=[sister])
    there = bridge_of(parser, "far", place / "far")
    return hub, hub.across(sister.bridge, sister.encoder), hub.across(there, ENCODERS["far"])


def pairs_of(source: str, sentences: int, part: str = "bitext") -> list[tuple[Pair, np.ndarray]]:
    return [
        (Pair(list(p.source.forms), list(p.target.forms)),
         np.array(sorted(p.sure), np.int64).reshape(-1, 2))
        for p in WORLD.pairs("far", sentences, source, part)
    ]  # fmt: skip


def test_the_same_target_sentence_is_learned_once(models: tuple[Parser, Parser, Parser]) -> None:
    hub, sister, there = models
    ours = Lesson(pairs_of("source", 30), hub, 0.6)
    theirs = Lesson(pairs_of("sister", 30), sister, 0.8)
    targets = {tuple(pair.target) for pair, _ in ours.pairs}
    found, order = carry_several([ours, theirs], there, SETTINGS)
    assert len(found) == len(targets)
    alone, alone_order = carry(ours.pairs, hub, there, SETTINGS, check_sides=False)
    assert order.arcs == alone_order.arcs  # that of the first source
    other = Lesson(pairs_of("sister", 12, "elsewhere"), sister)
    both, _ = carry_several([ours, other], there, SETTINGS)
    assert len(both) > len(alone) - (len(ours.pairs) - len(targets))


def test_one_bitext_is_what_it_was(models: tuple[Parser, Parser, Parser]) -> None:
    hub, _, there = models
    pairs = list({tuple(p.target): (p, links) for p, links in pairs_of("source", 20)}.values())
    one, _ = carry_several([Lesson(pairs, hub)], there, SETTINGS)
    two, _ = carry(pairs, hub, there, SETTINGS, check_sides=False)
    assert one.digest() == two.digest()


def test_a_mean_counts_agreement_and_only_words_with_mass() -> None:
    a = Soft(np.array([[1, 0.0], [0, 0]]), np.array([[1.0], [0]]), np.zeros((2, 0)))
    b = Soft(np.array([[0, 1.0], [0, 0.5]]), np.array([[1.0], [1]]), np.zeros((2, 0)))
    mean = merge([(a, 0.75), (b, 0.25)])
    assert np.allclose(mean.arcs, [[0.75, 0.25], [0, 0.5]])
    assert np.allclose(mean.labels, [[1], [1]])
    assert merge([(a, 0.3)]) is a


def test_labels_and_tags_are_joined_by_name(models: tuple[Parser, Parser, Parser]) -> None:
    hub, *_ = models
    labels, tags = Names(["nsubj", "nsubj:pass", "obj", "odd"]), Names(["X", "NOUN"])
    teacher = replace(hub, labels=labels, tags=tags)
    rows = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32)
    found = in_names_of(Soft(np.zeros((1, 2)), rows, np.array([[0.1, 0.9]])), teacher, hub)
    assert found.labels[0, hub.labels.index("nsubj")] == pytest.approx(0.3)
    assert found.labels[0, hub.labels.index("obj")] == pytest.approx(0.3)
    assert found.labels.sum() == pytest.approx(0.6)  # a label that it lacks is dropped
    assert found.tags[0, hub.tags.index("NOUN")] == pytest.approx(0.9)


def test_a_source_parser_must_predict_tags(models: tuple[Parser, Parser, Parser]) -> None:
    _, sister, there = models
    gold = replace(sister, model=_with_tags(sister, "gold"))
    lesson = Lesson(pairs_of("sister", 3), gold)
    with pytest.raises(TreebridgeError, match="must predict tags"):
        carry_several([lesson], there, SETTINGS)


def test_a_tagger_in_its_space_tags_for_it(models: tuple[Parser, Parser, Parser]) -> None:
    hub, sister, there = models
    gold = replace(sister, model=_with_tags(sister, "gold"))
    found, _ = carry_several([Lesson(pairs_of("sister", 3), gold)], there, SETTINGS, tagger=hub)
    assert len(found) and all(soft.tags.sum() > 0 for soft in found.soft)


def _with_tags(parser: Parser, tags: str):  # type: ignore[no-untyped-def]
    from copy import copy

    model = copy(parser.biaffine)
    model.settings = replace(parser.settings, tags=tags)
    return model


def test_refining_over_two_bitexts(models: tuple[Parser, Parser, Parser], tmp_path: Path) -> None:
    from treebridge import Bitext
    from treebridge.parse.refinement import refine_parser
    from treebridge.parse.settings import RefineSettings

    hub, sister, there = models
    for source in ("source", "sister"):
        lines = (f"{p.source.text}\t{p.target.text}\n" for p in WORLD.pairs("far", 300, source))
        (tmp_path / f"{source}.tsv").write_text("".join(lines), encoding="utf-8")
    ours, theirs = (
        Bitext.read(tmp_path / f"{name}.tsv", source_language=code, target_language="qac")
        for name, code in (("source", "qaa"), ("sister", "qad"))
    )
    settings = RefineSettings(epochs=1, project=ProjectSettings(density=0.3))
    two = refine_parser(
        there, settings, bitext=ours, bitexts=[(theirs, sister)], treebank=TREES, teacher=hub,
        also=[sister_of(sister.bridge)],  # type: ignore[arg-type]
    )  # fmt: skip
    assert two.parser.evaluate(GOLD)["LAS"] > there.evaluate(GOLD)["LAS"] - 1
    assert isinstance(ENCODERS["far"], LatentEncoder) and two.sentences > 50
    trees = [sister_of(sister.bridge, sentences) for sentences in (150, 40)]  # type: ignore[arg-type]
    both = {"bitexts": [(theirs, sister)], "also": trees, "weights": [0, 1, 5]}
    only = refine_parser(there, settings, **both)  # type: ignore[arg-type]
    assert only.sentences > 50
    same = there.refine(settings=settings, **both)  # type: ignore[arg-type]
    for name, weight in only.parser.biaffine.state_dict().items():
        np.testing.assert_array_equal(same.biaffine.state_dict()[name], weight)
