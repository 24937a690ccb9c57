"""What forms say of tags: averaged over text, overruled by trees, joined with the tagger."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from far import WORLD
from made import DEV, TRAIN, bare

from treebridge import Parser, Sentence
from treebridge.errors import TreebridgeError
from treebridge.parse.averaged_tags import with_tag_prior
from treebridge.parse.settings import RefineSettings
from treebridge.parse.tag_prior import FILE, TagPrior, keys_of
from treebridge.recipes.pack import pack

TAGS = ("ADJ", "NOUN", "PROPN", "VERB")


def test_groups_of_words() -> None:
    keys = keys_of(["“", "Ana", "vive", "en", "Roma", "2"])
    assert [key[0] for key in keys] == ["0^.", "0^A", "0 a", "0 a", "0 A", "0 0"]
    assert keys[1] == ("0^A", "1^Aana", "2^Aana")  # first word: its capital says little
    assert keys[4] == ("0 A", "1 Aoma", "2 ARoma")


def told(*words: tuple[str, str]) -> tuple[list[str], np.ndarray]:
    """Sentences that begin with a dummy word without a tag."""
    rows = np.zeros((len(words) + 1, len(TAGS)))
    for row, (_, tag) in zip(rows[1:], words, strict=True):
        row[TAGS.index(tag)] = 1
    return ["x", *(form for form, _ in words)], rows


def test_the_narrowest_group_counts_and_trees_overrule_it() -> None:
    many = [
        told(("Roma", "PROPN"), ("come", "VERB"), ("rara", "ADJ"), ("cosa", "NOUN")),
        told(("Lima", "PROPN"), ("vive", "VERB"), ("rara", "NOUN"), ("rosa", "NOUN")),
    ]
    prior = TagPrior.of(many * 5, len(TAGS))

    def best(form: str, prior: TagPrior = prior) -> str:
        return TAGS[int(prior.added([["x", form]], 3)[0, 1].argmax())]

    assert best("Paris") == "PROPN"  # by its capital
    assert best("posa") == "NOUN"  # by its ending
    assert best("vive") == "VERB"  # by itself
    assert not prior.added([["x", "y"]], 3)[0, 2].any()  # padding
    # All words together say nothing of a tag: the mean of the ratio is one.
    forms, rows = many[0][0][1:] + many[1][0][1:], np.concatenate([m[1][1:] for m in many])
    ratio = np.exp(prior.added([["x", *forms]], len(forms) + 1)[0, 1:])
    assert ((ratio * rows).sum(1) > 1).all()
    tree = Sentence.from_words(["x", "vive", "vive"], upos=["_", "ADJ", "ADJ"])
    better = prior.updated([tree, tree], TAGS)
    assert best("vive", better) == "ADJ" and best("rosa", better) == "NOUN"


def test_it_is_saved_packed_and_loaded(parser: Parser, tmp_path: Path) -> None:
    assert with_tag_prior(parser).tag_prior is None  # nothing to average
    made = with_tag_prior(parser, [tree.forms for tree in TRAIN])
    made.save(tmp_path / "made")
    pack(tmp_path / "made", tmp_path / "packed")
    wanted = made.evaluate(DEV).values["UPOS"]
    for name in ("made", "packed"):
        found = Parser.load(tmp_path / name)
        assert found.tag_prior is not None and made.tag_prior is not None
        assert found.tag_prior.keys == made.tag_prior.keys
        np.testing.assert_array_equal(found.tag_prior.table, made.tag_prior.table)
        assert abs(found.evaluate(DEV).values["UPOS"] - wanted) < 1
    (tmp_path / "made" / FILE).write_text('{"keys": []}\n')
    with pytest.raises(TreebridgeError, match="this parser is damaged or mixed"):
        Parser.load(tmp_path / "made")


def test_it_decides_what_the_tagger_leaves_open(parser: Parser) -> None:
    noun, verb = parser.tags.index("NOUN"), parser.tags.index("VERB")
    table = np.full((2, len(parser.tags)), 1e-4, np.float16)
    table[0, verb] = 1  # every lower-case word that is not the first
    table[1, noun] = 1
    one = replace(parser, tag_prior=TagPrior({"0 a": 0}, table))
    before, after = parser(bare(DEV[:5])), one(bare(DEV[:5]))
    assert [tree.upos[0] for tree in after] == [tree.upos[0] for tree in before]
    nouns = [sum(tree.upos.count("NOUN") for tree in trees) for trees in (before, after)]
    assert nouns[1] < nouns[0] / 2
    assert any(old.heads != new.heads for old, new in zip(before, after, strict=True))


def test_refining_makes_one_from_text_and_changes_it_by_trees(story: tuple[Parser, Parser]) -> None:
    _, bridged = story
    few = list(WORLD.treebank("far", 12))
    once = RefineSettings(epochs=1, trees_times=1)
    text = [tree.text for tree in WORLD.treebank("far", 40)]
    refined = bridged.refine(text=text, settings=once)
    assert refined.tag_prior is not None
    again = refined.refine(trees=few, settings=once)
    assert again.tag_prior is not None
    assert not np.array_equal(again.tag_prior.table, refined.tag_prior.table)
    assert bridged.refine(trees=few, settings=once).tag_prior is None
