"""A lexicon limits tags before arcs are scored, and labels afterwards."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch
from made import DEV, bare, command

from treebridge import Parser
from treebridge.corpus.lexicon import Entry, Lexicon
from treebridge.errors import TreebridgeError
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.lexical import LexiconLimits
from treebridge.parse.onnx_export import export_network
from treebridge.parse.onnx_network import ADDED, ARCS, LABELS, OnnxNetwork
from treebridge.parse.settings import ParserSettings
from treebridge.parse.vocab import Names

FORMS = list(DEV[0].forms)
WORD = next(f for f, u in zip(FORMS, DEV[0].upos, strict=True) if u == "NOUN")


def test_other_tags_get_no_probability(parser: Parser) -> None:
    allowed = {"ADP", "DET"}
    lexicon = [Entry(WORD, tag) for tag in (*allowed, "X")]  # the parser does not know X
    chosen = parser.with_lexicon(Lexicon(lexicon))
    assert allowed <= set(parser.tags) and "X" not in parser.tags
    for plain, known in zip(parser.parse(bare(DEV)), chosen.parse(bare(DEV)), strict=True):
        assert known.tags is not None and plain.tags is not None
        np.testing.assert_allclose(known.tags.sum(1), 1, atol=1e-5)
        words = zip(known.sentence.forms, known.sentence.upos, known.tags, strict=True)
        for form, tag, tags in words:
            if form.lower() == WORD:
                assert tag in allowed and (tags > 0).sum() == 2
        if WORD not in map(str.lower, plain.sentence.forms):
            assert plain.sentence == known.sentence


def test_arcs_know_of_the_tags(parser: Parser) -> None:
    verb = parser.with_lexicon(Lexicon([Entry(WORD, "VERB")]))
    before, after = (next(p.parse([FORMS])) for p in (parser, verb))
    assert after.sentence.upos[FORMS.index(WORD)] == "VERB"
    assert not np.allclose(before.arcs, after.arcs, atol=1e-4)


def test_labels_go_with_tags_and_a_root_is_a_root(parser: Parser) -> None:
    (tree,) = parser([FORMS])
    place = next(i for i, head in enumerate(tree.heads) if head and tree.upos[i] == "NOUN")
    entry = Entry(FORMS[place], "NOUN", deprel="vocative:x")
    with pytest.raises(TreebridgeError, match="no label 'vocative:x'"):
        parser.with_lexicon(Lexicon([entry], "words.tsv"))
    (found,) = parser.with_lexicon(Lexicon([entry._replace(deprel="obl:x")]))([FORMS])
    assert found.deprels[place] == "obl" and tree.deprels[place] != "obl"
    root = tree.heads.index(0)
    label = Entry(FORMS[root], tree.upos[root], deprel="obl")
    (same,) = parser.with_lexicon(Lexicon([label]))([FORMS])
    assert same.deprels[same.heads.index(0)] == "root"


def test_lemmas_and_features_of_a_lexicon_go_with_the_tag(parser: Parser) -> None:
    entries = [Entry(WORD, "NOUN", "lemma", "Number=Sing"), Entry(WORD, "VERB", "other")]
    (tree,) = parser.with_lexicon(Lexicon(entries))([[w.capitalize() for w in FORMS]])
    place = FORMS.index(WORD)
    wanted = {"NOUN": ("lemma", "Number=Sing"), "VERB": ("other", "_")}[tree.upos[place]]
    assert (tree.lemmas[place], tree.feats[place]) == wanted
    assert tree.lemmas[place - 1] == "_"  # this parser predicts none


def test_projected_tags_are_limited_too() -> None:
    tags, labels = Names(["ADJ", "NOUN", "VERB"]), Names(["obj", "root"])
    limits = LexiconLimits(Lexicon([Entry("a", "ADJ"), Entry("a", "NOUN")]), tags, labels)
    rows = np.array([[0.2, 0.2, 0.6], [0.0, 0.0, 1.0], [0.1, 0.2, 0.7]], np.float32)
    found = limits.allowed(rows, ["A", "a", "b"])
    np.testing.assert_allclose(found, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0.1, 0.2, 0.7]], atol=1e-6)
    assert rows[0, 2] == np.float32(0.6)


def test_packed_graphs_take_limits_and_older_ones_only_in_the_tags(tmp_path: Path) -> None:
    torch.manual_seed(1)
    settings = ParserSettings(layers=1, hidden=24, arc=20, label=12, tag=8, tagger=16)
    network = Biaffine(settings, 16, 5, 4)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    for name, graph in zip((ARCS, LABELS), export_network(network, 8), strict=True):
        (tmp_path / name).write_bytes(gzip.compress(graph.SerializeToString()))
    light, old = OnnxNetwork(tmp_path, settings), OnnxNetwork(tmp_path, settings)
    assert light._adds
    old._adds = False  # as if the graph had no such input
    vectors = np.random.default_rng(0).normal(size=(2, 5, 16)).astype(np.float32) * 0.25
    lengths, unknown = np.array([5, 5]), np.full((2, 5), -1)
    added = np.zeros((2, 5, 4), np.float32)
    added[0, 1, 1:] = -np.inf
    plain = light.score(vectors, lengths, unknown)
    limited, before = (n.score(vectors, lengths, unknown, added) for n in (light, old))
    wanted = network.score(vectors, lengths, unknown, added)
    for scored in (limited, before, wanted):
        assert scored.tags is not None and scored.tags[0, 1].argmax() == 0
        assert np.isinf(scored.tags[0, 1, 1:]).all() and np.isfinite(scored.tags[1]).all()
    inside = np.isfinite(plain.arcs)
    change = wanted.arcs[inside] - network.score(vectors, lengths, unknown).arcs[inside]
    assert np.abs(change).max() > 0.05
    np.testing.assert_allclose(limited.arcs[inside] - plain.arcs[inside], change, atol=0.1)
    np.testing.assert_array_equal(before.arcs, plain.arcs)
    assert ADDED not in {given.name for given in light._arcs.get_inputs()}  # it is optional


def test_suggestions_are_frequent_unsure_and_a_lexicon(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.conllu"
    text.write_text("".join(tree.to_conllu() for tree in bare(DEV)))
    out = command("suggest", folder, text, "-n", "5")
    header, *lines = out.splitlines()
    assert header.split("\t")[:4] == ["FORM", "UPOS", "LEMMA", "FEATS"] and len(lines) == 5
    words = tmp_path / "words.tsv"
    command("suggest", folder, text, "-n", "5", "-o", words)
    lexicon = Lexicon.read(words)
    assert [entry.form for entry in lexicon] == [line.split("\t")[0] for line in lines]
    parsed = list(Parser.load(folder).parse(bare(DEV)))
    wrong: dict[str, float] = {}
    for one in parsed:
        assert one.tags is not None
        for form, tags in zip(one.sentence.forms, one.tags, strict=True):
            wrong[form.lower()] = wrong.get(form.lower(), 0) + 1 - float(tags.max())
    ranked = sorted(wrong, key=lambda form: -wrong[form])
    assert {entry.form.lower() for entry in lexicon} & set(ranked[:8])
    more = command("suggest", folder, text, "-n", "5", "--lexicon", words)
    assert not {line.split("\t")[0] for line in more.splitlines()[1:]} & set(lexicon.entries)
