"""Constrained decoding: what is given stays, and the rest is the best that goes with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made import DEV
from numpy.typing import NDArray
from test_biaffine import DIM, NAMES, TAGS, network, random_vectors, trees_of
from test_mst import all_trees, total

from conftest import Run
from treebridge import Parser, Sentence, Treebank, TreebridgeError
from treebridge.corpus.trees import given_heads, partial_problem, tree_problem
from treebridge.onnx_session import open_session
from treebridge.parse.given import Given
from treebridge.parse.network import Floats, Numbers, Scored, possible_arcs
from treebridge.parse.onnx_export import export_network
from treebridge.parse.onnx_network import KNOWN
from treebridge.parse.predict import log_softmax, predict
from treebridge.parse.settings import ParserSettings
from treebridge.parse.ud_rules import Rules
from treebridge.parse.vocab import UNKNOWN, Names

LABELS = Names(NAMES)
RULES = Rules.of(LABELS, ())


class Random:
    """A network whose scores come from a seed."""

    settings = ParserSettings(tags="none")
    at_once, batch_words = 1, 1000

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def score(
        self, vectors: Floats, lengths: Numbers, tags: Numbers, added: Floats | None = None
    ) -> Scored:
        batch, n = tags.shape
        arcs = self.rng.normal(size=(batch, n, n + 1)).astype(np.float32) * 3
        arcs = np.where(possible_arcs(lengths, n), arcs, np.float32(-np.inf))
        labels = self.rng.normal(size=(batch, n, len(NAMES))).astype(np.float32)
        return Scored(arcs, None, lambda heads: labels)


@st.composite
def partial_trees(draw: st.DrawFn, most: int = 6) -> list[int | None]:
    """Heads of a tree, some of them forgotten."""
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(1, n + 1)))
    heads: list[int | None] = [None] * n
    for i, word in enumerate(order):
        head = order[draw(st.integers(0, i - 1))] if i else 0
        heads[word - 1] = head if draw(st.booleans()) else None
    return heads


def given_for(n: int) -> Given:
    """Nothing, about n words."""
    return Given.of([Sentence.from_words(["word"] * n)], LABELS, Names([]))


def decoded(heads: list[int | None], seed: int) -> tuple[Scored, NDArray[np.int64]]:
    n = len(heads)
    wanted = np.array([[UNKNOWN if head is None else head for head in heads]])
    nothing = np.full((1, n), UNKNOWN)
    vectors = np.zeros((1, n, 1), np.float32)
    known = given_for(n)._replace(heads=wanted)
    found = predict(Random(seed), vectors, np.array([n]), nothing, RULES, known)
    return Random(seed).score(vectors, np.array([n]), nothing), found.heads[0]


@given(partial_trees(), st.integers(0, 2**32))
def test_the_best_tree_that_has_the_given_heads(heads: list[int | None], seed: int) -> None:
    scored, found = decoded(heads, seed)
    assert tree_problem(found.tolist()) is None
    trees = all_trees(len(heads))
    fitting = [all(h is None or h == t for h, t in zip(heads, tree, strict=True)) for tree in trees]
    assert any((found == tree).all() for tree in trees[fitting])
    scores = np.pad(log_softmax(scored.arcs[0]).astype(float), ((1, 0), (0, 0)))
    best = total(scores, trees[fitting]).max()
    assert total(scores, found) == pytest.approx(best, abs=1e-4)


@given(partial_trees(40), st.integers(0, 2**32))
def test_long_sentences_keep_their_heads(heads: list[int | None], seed: int) -> None:
    _, found = decoded(heads, seed)
    assert tree_problem(found.tolist()) is None
    assert all(head is None or head == new for head, new in zip(heads, found, strict=True))


@given(st.lists(st.none() | st.integers(0, 5), min_size=5, max_size=5))
def test_what_no_tree_can_have(heads: list[int | None]) -> None:
    possible = any(
        all(h is None or h == t for h, t in zip(heads, tree, strict=True)) for tree in all_trees(5)
    )
    problem = partial_problem(heads)
    assert (problem is None) == possible
    assert problem is None or 0 <= problem[0] < 5


def test_a_root_label_is_a_head() -> None:
    sentence = Sentence.from_words(["a", "b"], deprels=["root", "obj"])
    assert given_heads(sentence) == [0, None]


def test_labels_and_heads_stay(parser: Parser) -> None:
    """Also those that the parser does not know; what is given is certain."""
    gold = next(s for s in DEV if len(s) > 5)
    heads = [head if i % 2 else None for i, head in enumerate(gold.heads)]
    labels = ["strange" if i == 1 else "_" for i in range(len(gold))]
    (one,) = parser.parse([gold.annotate(heads=heads, deprels=labels)], keep_heads=True)
    assert tree_problem(one.sentence.heads) is None
    assert one.sentence.heads[1::2] == gold.heads[1::2]
    assert one.sentence.deprels[1] == "strange" and "_" not in one.sentence.deprels
    assert (one.arcs[1::2] == 1).all()
    (whole,) = parser.parse([gold], keep_heads=True)
    assert whole.sentence == gold and whole.score == 1
    with pytest.raises(TreebridgeError, match="sentence 1, word 2: 2 words have HEAD 0"):
        list(parser.parse([Sentence.from_words(["a", "b"], heads=[0, 0])], keep_heads=True))


def test_known_tags_reach_the_arcs() -> None:
    model, vectors = network("predicted"), random_vectors([6])
    own = trees_of(model, vectors).tags
    assert own is not None
    scores = [
        model.score(vectors[0][None], np.array([6]), tags).arcs
        for tags in (np.full((1, 6), -1), (own + 1) % TAGS)
    ]
    inside = np.isfinite(scores[0])
    assert np.abs(scores[0][inside] - scores[1][inside]).max() > 0.01


def test_known_tags_in_the_packed_graph(tmp_path: Path) -> None:
    """The same in ONNX as in torch; without tags, the graph predicts all of them."""
    model, vectors = network("predicted"), random_vectors([6])[0][None]
    graph, _ = export_network(model, 7)
    (tmp_path / "graph.onnx").write_bytes(graph.SerializeToString())
    session = open_session(tmp_path / "graph.onnx")
    lengths = np.array([6])
    inputs = {"vectors": vectors, "lengths": lengths}
    unknown, known = np.full((1, 6), -1), np.array([[0, -1, 3, 2, -1, 1]])
    for tags in (unknown, known):
        mine = model.score(vectors, lengths, tags).arcs
        (arcs,) = session.run(["arcs"], {**inputs, KNOWN: tags})
        inside = np.isfinite(mine)
        assert np.abs(arcs - mine)[inside].max() < 0.15 * np.abs(mine[inside]).max()
    np.testing.assert_array_equal(
        session.run(["arcs"], inputs)[0], session.run(["arcs"], {**inputs, KNOWN: unknown})[0]
    )
    assert vectors.shape[-1] == DIM and torch.is_grad_enabled()


def test_the_command_line(folder: Path, tmp_path: Path, here: Run) -> None:
    gold = next(s for s in DEV if len(s) > 5)
    half = gold.annotate(heads=[None, *gold.heads[1:]], deprels=["_", *gold.deprels[1:]])
    Treebank([half]).write(tmp_path / "half.conllu")
    (tmp_path / "bad.conllu").write_text(
        "# text = a b\n1\ta\t_\t_\t_\t_\t2\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n"
        "3\tc\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )
    kept = here(
        "parse", "--model", folder, str(tmp_path / "half.conllu"), "--keep-heads", "--keep-tags"
    )
    assert kept.returncode == 0 and "heads" not in kept.stderr
    assert kept.stdout.splitlines()[3:] == half.to_conllu().splitlines()[3:]
    replaced = here("parse", "--model", folder, str(tmp_path / "half.conllu"))
    assert replaced.stderr.count("--keep-heads keeps them") == 1
    bad = here("parse", "--model", folder, str(tmp_path / "bad.conllu"), "--keep-heads")
    assert bad.returncode == 2 and "bad.conllu:2: the heads from this word run into" in bad.stderr
