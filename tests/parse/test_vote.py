"""Several parsers vote on one text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import DEV, QUICK, TRAIN, bare, command, make_vectors

from treebridge import Bridge, Parser, Sentence, TreebridgeError
from treebridge.encode.static import StaticEncoder
from treebridge.parse.vote import load_parsers, voting

pytestmark = pytest.mark.filterwarnings("ignore:.*words have no vector")


@pytest.fixture(scope="module")
def other(place: Path) -> Parser:
    """A parser with another encoder, another label and fewer tags."""
    renamed = [
        s.annotate(deprels=["obl:other" if x == "obl" else x for x in s.deprels],
                   upos=["ADV" if x == "ADJ" else x for x in s.upos])
        for s in TRAIN[:150]
    ]  # fmt: skip
    encoder = make_vectors(place / "other.vec", TRAIN, DEV, seed=2)
    return Parser.train(renamed, encoder, DEV, replace(QUICK, seed=3))


def test_one_parser_twice_is_that_parser(parser: Parser) -> None:
    voted = voting([parser, parser])
    assert voted.load_encoder().dim == parser.space.dim  # encoded once
    for one, two in zip(voted.parse(bare(DEV)), parser.parse(bare(DEV)), strict=True):
        trees = one.sentence, two.sentence
        assert trees[0].heads == trees[1].heads and trees[0].deprels == trees[1].deprels
        assert trees[0].upos == trees[1].upos
        assert np.allclose(one.arcs, two.arcs, atol=1e-5)


def test_the_mean_of_two_distributions(parser: Parser, other: Parser) -> None:
    """With the heads given, an arc's label has the mean probability of both parsers."""
    voted = voting([parser, other])
    assert {"obl", "obl:other"} <= set(voted.labels)
    assert voted.load_encoder().dim == parser.space.dim + other.space.dim
    words = [bare(DEV)[0].forms]
    parts = [p.space.transform(p.load_encoder()(words[0]))[None] for p in (parser, other)]
    length, unknown = np.array([len(words[0])]), np.full((1, len(words[0])), -1)
    joint = voted.model.score(np.concatenate(parts, -1), length, unknown)
    own = [p.model.score(x, length, unknown) for p, x in zip((parser, other), parts, strict=True)]
    wanted = np.mean([_softmax(one.arcs) for one in own], 0)
    assert np.allclose(np.exp(joint.arcs), wanted, atol=1e-5)
    heads = np.zeros((1, len(words[0])), np.int64)
    labels = np.exp(joint.labels(heads))
    assert np.allclose(labels.sum(-1), 1, atol=1e-4)
    alone = _softmax(own[0].labels(heads))[..., parser.labels.index("obl")]
    assert np.allclose(labels[..., voted.labels.index("obl")], alone / 2, atol=1e-5)
    assert joint.tags is not None and np.allclose(np.exp(joint.tags).sum(-1), 1, atol=1e-4)


def _softmax(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_votes_are_better_than_the_worse_parser(parser: Parser, other: Parser) -> None:
    voted, worse = voting([parser, other]).evaluate(DEV), other.evaluate(DEV)
    assert voted["UAS"] > worse["UAS"]


def test_given_heads_and_tags_are_kept(parser: Parser, other: Parser) -> None:
    voted = voting([parser, other])
    sentence = DEV[0]
    (one,) = voted.parse([sentence], keep_heads=True)
    assert one.sentence.heads == sentence.heads
    (two,) = voted.parse([sentence], keep_tags=True)
    assert two.sentence.upos == sentence.upos


def test_by_command(folder: Path, other: Parser, place: Path) -> None:
    other.save(place / "other")
    DEV.write(place / "dev.conllu")
    models = ["--model", folder, "--model", place / "other"]
    found = json.loads(command("evaluate", *models, place / "dev.conllu", "--json"))
    voted = load_parsers([folder, place / "other"])
    assert found["LAS"] == pytest.approx(voted.evaluate(DEV)["LAS"], abs=0.01)
    parsed = command("parse", *models, "--tokens", "--text", " ".join(DEV[0].forms))
    (tree,) = voted([DEV[0].forms])
    assert [line.split("\t")[6] for line in parsed.splitlines() if line[:1].isdigit()] == [
        str(head) for head in tree.heads
    ]


def test_a_bridge_is_for_those_that_have_none(
    parser: Parser, folder: Path, encoder: StaticEncoder, tmp_path: Path
) -> None:
    bridge = Bridge(parser.space, parser.space, np.eye(parser.space.dim))
    bridge.save(tmp_path / "bridge")
    voted = load_parsers([folder, folder], bridge=tmp_path / "bridge")
    assert voted([Sentence.from_words(DEV[0].forms)])[0].heads == parser([DEV[0].forms])[0].heads


def test_models_of_different_languages_do_not_vote(parser: Parser) -> None:
    one, two = (replace(parser, about={"language": code}) for code in ("pt", "es"))
    with pytest.raises(TreebridgeError, match=r"different languages \(es, pt\)"):
        voting([one, two])
    assert voting([one, parser]).language == "pt"
