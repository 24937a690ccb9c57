"""Shipped models: packed small, found by name, and still the same parser."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from made import QUICK

from conftest import Run
from treebridge import (
    Bitext,
    Bridge,
    Encoder,
    Parser,
    ParserSettings,
    RefineSettings,
    TreebridgeError,
)
from treebridge.bridge.settings import BridgeSettings, CollectSettings
from treebridge.corpus.artificial import World
from treebridge.corpus.conllu import write_conllu
from treebridge.corpus.sentence import Sentence
from treebridge.encode.pretrain.corpus import make_corpus
from treebridge.encode.pretrain.folder import save_encoder
from treebridge.encode.pretrain.run import Pretraining
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.onnx_export import export_network
from treebridge.parse.onnx_network import ARCS, LABELS, OnnxNetwork
from treebridge.parse.shipped import find_model, folder_size, shipped_models
from treebridge.recipes import pack
from treebridge.recipes.model_card import read_card
from treebridge.torchrun import TorchRun

LIMIT = 10_000_000  # bytes of a shipped model
TRAIN = ["torch", "transformers", "tokenizers", "numba", "scipy", "kneed", "onnx", "onnxscript"]
WORLD = World(4)
TINY = PretrainSettings(
    vocabulary=900, layers=2, hidden=32, heads=2, feed_forward=32, length=32, batch=256, tokens=4096
)
CARD = """
language = "Nira"
code = "nira"
summary = "A made-up language."
licence = "CC BY-SA 4.0"
limits = ["Nobody speaks it."]
examples = ["Qãm pru ."]

[[data]]
what = "made by the tests"
licence = "CC0"
attribution = "nobody"

[[scores]]
file = "dev"
tags = "predicted"
UAS = 50.0
LAS = 40.5
"""


def rich(tree: Sentence) -> Sentence:
    """A tree with lemmas, and with the number of nouns and determiners."""
    return tree.annotate(
        lemmas=[form.lower() for form in tree.forms],
        feats=["Number=Sing" if upos in ("NOUN", "DET") else "_" for upos in tree.upos],
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as `build` leaves it, over pre-trained encoders that were not packed."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(folder / "cache"))
        for name in ("source", "near"):
            text = folder / f"{name}.txt"
            text.write_text("\n".join(WORLD.text(name, 800)), encoding="utf-8")
            corpus = make_corpus([str(text)], None, TINY, folder / "work")
            training = Pretraining(corpus, TINY, TorchRun("cpu"))
            about = {"text": [text.name], "pieces": 1}
            history = training.run()
            save_encoder(folder / name, training.network, corpus.tokenizer, TINY, history, about)
        source, near = (Encoder.load(folder / name) for name in ("source", "near"))
        trees = [rich(tree) for tree in WORLD.treebank("source", 150)]
        parser = Parser.train(trees, source, settings=replace(QUICK, epochs=2))
        parser.about["treebank"] = str(folder / "secret" / "train.conllu")
        WORLD.write_bitext(folder / "bitext.tsv", "near", 1000)
        bitext = Bitext.read(folder / "bitext.tsv", source_language="qaa")
        settings = BridgeSettings(collect=CollectSettings(anchor_words="all"))
        bridge = Bridge.fit(bitext, parser.space, near, source, settings)
        parser.across(bridge, near).save(folder / "model")
    (folder / "card.toml").write_text(CARD, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def packed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with that model in it, packed, as `nira`."""
    place = tmp_path_factory.mktemp("packed")
    pack.pack_model(made / "model", place / "nira", read_card(made / "card.toml"))
    return place


def test_a_packed_model_is_a_third_as_large_and_the_same_parser(made: Path, packed: Path) -> None:
    assert folder_size(packed / "nira") < folder_size(made / "model") / 3
    before, after = Parser.load(made / "model"), Parser.load(packed / "nira")
    sentences = [sentence.forms for sentence in WORLD.treebank("near", 60, "dev")]
    heads = [[h for tree in parser(sentences) for h in tree.heads] for parser in (before, after)]
    assert np.mean(np.array(heads[0]) == np.array(heads[1])) > 0.95
    # What was shipped knows its own encoder, and no folder of the machine it was made on.
    after.bridge.check(Encoder.load(packed / "nira" / "encoder"))
    with pytest.raises(TreebridgeError, match="a different encoder"):
        after.bridge.check(Encoder.load(made / "near"))
    for path in (packed / "nira").rglob("*.*"):
        if path.suffix in (".json", ".md"):
            assert str(made) not in path.read_text(encoding="utf-8"), path


def test_a_sentence_has_the_same_tree_and_confidence_alone_or_in_a_batch(packed: Path) -> None:
    parser = Parser.load(packed / "nira")
    sentences = [sentence.forms for sentence in WORLD.treebank("near", 40, "dev")]
    together = list(parser.parse(sentences))
    for words, parsed in zip(sentences, together, strict=True):
        (alone,) = parser.parse([words])
        assert alone.sentence == parsed.sentence
        np.testing.assert_allclose(alone.arcs, parsed.arcs, atol=1e-6)
        np.testing.assert_allclose(alone.labels, parsed.labels, atol=1e-6)


def test_using_a_packed_model_needs_no_torch(made: Path, packed: Path, tmp_path: Path) -> None:
    """Nor any other package of the extra `train`: a fresh process may not import them."""
    nira = str(packed / "nira")
    gold = tmp_path / "gold.conllu"
    write_conllu(WORLD.treebank("near", 20, "dev"), gold)
    for arguments in (
        ["parse", "--model", nira, "ba da"],
        ["evaluate", "--model", nira, str(gold)],
    ):
        done = run_without_train(tmp_path, *arguments)
        assert done.returncode == 0 and done.stdout, done.stderr
    refused = run_without_train(
        tmp_path, "train", str(gold), "--encoder", str(made / "near"), "-o", "x"
    )
    assert refused.returncode == 2
    assert "pip install 'treebridge[train]'" in refused.stderr and "Traceback" not in refused.stderr
    unpacked = run_without_train(tmp_path, "parse", "--model", str(made / "model"), "ba da")
    assert unpacked.returncode == 2 and "pip install 'treebridge[train]'" in unpacked.stderr


def test_a_packed_model_has_columns_without_torch_and_in_spacy(
    packed: Path, tmp_path: Path
) -> None:
    nira = str(packed / "nira")
    assert Parser.load(nira).predicts == ("upos", "feats", "lemma")
    words = list(WORLD.treebank("near", 1, "dev")[0].forms)
    words[0] = words[0].capitalize()
    arguments = ["parse", "--model", nira, "--tokens", "--text", " ".join(words)]
    done = run_without_train(tmp_path, *arguments)
    rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    assert [row[1] for row in rows] == words, done.stderr
    assert any(row[5] == "Number=Sing" for row in rows)
    assert all(row[2] == row[1].lower() for row in rows if row[3] != "PROPN")
    few = run_without_train(tmp_path, *arguments, "--columns", "upos,lemma")
    bare = [line.split("\t") for line in few.stdout.splitlines() if "\t" in line]
    assert [row[:5] for row in bare] == [row[:5] for row in rows]
    assert all(row[5] == "_" for row in bare)
    spacy = pytest.importorskip("spacy", reason="needs the extra text")
    nlp = spacy.blank("xx")
    nlp.add_pipe("treebridge", config={"model": nira})
    doc = nlp.get_pipe("treebridge")(spacy.tokens.Doc(nlp.vocab, words))
    assert [token.lemma_ for token in doc] == [row[2] for row in rows]
    assert [str(token.morph) or "_" for token in doc] == [row[5] for row in rows]


def run_without_train(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = f"""
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {TRAIN!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
sys.argv = ["treebridge", *sys.argv[1:]]
from treebridge.cli import main
main()
"""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True
    )


def test_a_packed_parser_can_be_trained_further(packed: Path, tmp_path: Path) -> None:
    nira = Parser.load(packed / "nira")
    trees = list(WORLD.treebank("near", 20))
    refined = nira.refine(trees=trees, settings=RefineSettings(epochs=1))
    refined.save(tmp_path / "refined")
    again = Parser.load(tmp_path / "refined")
    sentences = [sentence.forms for sentence in trees]
    assert again(sentences) == refined(sentences)
    pack.pack(tmp_path / "refined", tmp_path / "packed")  # and be packed once more
    assert len(Parser.load(tmp_path / "packed")(sentences)) == len(sentences)


def test_a_parser_without_a_bridge_is_packed_with_its_encoder(made: Path, tmp_path: Path) -> None:
    source = Parser.load(made / "model")
    trees = WORLD.treebank("source", 40)
    parser = Parser(
        source.model,
        source.space,
        source.labels,
        source.tags,
        encoder=Encoder.load(made / "source"),
    )
    parser.save(tmp_path / "en")
    pack.pack(tmp_path / "en", tmp_path / "packed")
    packed = Parser.load(tmp_path / "packed")
    assert packed.evaluate(trees).values["UAS"] > parser.evaluate(trees).values["UAS"] - 2


@pytest.mark.parametrize("tags", ["gold", "none", "predicted"])
def test_exported_networks_score_like_torch_and_come_back(tags: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    settings = ParserSettings(tags=tags, layers=2, hidden=24, arc=20, label=12, tag=8, tagger=16)  # type: ignore[arg-type]
    network = Biaffine(settings, 16, 5, 4)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    for name, graph in zip((ARCS, LABELS), export_network(network, 7), strict=True):
        (tmp_path / name).write_bytes(gzip.compress(graph.SerializeToString()))
    light = OnnxNetwork(tmp_path, settings)
    rng, lengths = np.random.default_rng(0), np.array([7, 4, 1])
    vectors = rng.normal(size=(3, 7, 16)).astype(np.float32) * 0.25
    known = rng.integers(-1, 4, (3, 7))
    for row, n in enumerate(lengths):
        vectors[row, n:], known[row, n:] = 0, -1
    heads = np.array([[0, 1, 1, 2, 2, 3, 3], [2, 0, 2, 2, -1, -1, -1], [0] + [-1] * 6])
    for other in (light, light.unpacked):
        a, b = network.score(vectors, lengths, known), other.score(vectors, lengths, known)
        assert (a.tags is None) == (b.tags is None) == (tags != "predicted")
        pairs = [(a.arcs, b.arcs), (a.labels(heads), b.labels(heads))]
        for one, two in pairs if a.tags is None else [*pairs, (a.tags, b.tags)]:
            for row, n in enumerate(lengths):
                x, y = one[row, :n], two[row, :n]
                assert (np.isfinite(x) == np.isfinite(y))[..., : n + 1].all()
                seen = np.isfinite(x) & np.isfinite(y)
                close = np.linalg.norm(x[seen] - y[seen]) / np.linalg.norm(x[seen])
                assert close < 0.2


def test_another_encoder_than_the_bridge_was_fitted_on_is_refused(
    made: Path, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(made / "model", tmp_path / "model")
    shutil.rmtree(tmp_path / "model" / "encoder")
    shutil.copytree(made / "source", tmp_path / "model" / "encoder")
    with pytest.raises(TreebridgeError, match="damaged or mixed with another"):
        pack.pack_model(tmp_path / "model", tmp_path / "nira", read_card(made / "card.toml"))


def test_models_by_name(made: Path, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treebridge.parse.shipped.SHIPPED", packed)
    monkeypatch.chdir(made)
    assert find_model("nira") == packed / "nira"
    assert find_model("model") == Path("model")  # a folder that is there
    assert shipped_models()["nira"].card["language"] == "Nira"
    with pytest.raises(TreebridgeError, match="shipped are nira"):
        find_model("nowhere")


def test_the_listing(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                     capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    from treebridge.show.models import show_models

    monkeypatch.setattr("treebridge.parse.shipped.SHIPPED", tmp_path)
    show_models()
    assert "no models are shipped" in capsys.readouterr().out
    monkeypatch.setattr("treebridge.parse.shipped.SHIPPED", packed)
    show_models()
    told = capsys.readouterr().out
    assert "Nira" in told and "40.5" in told and 'parse --model nira "Qãm pru ."' in told


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('licence = "CC0"', 'licence = "CC BY-NC-SA 4.0"', "does not permit shipping"),
        ("LAS = 40.5", "", r"entry 1 of \[\[scores\]\] must have"),
        ('attribution = "nobody"', "", r"entry 1 of \[\[data\]\] lacks .attribution."),
        ('limits = ["Nobody speaks it."]', "", "the card lacks .limits."),
        ("language =", "language", "not valid TOML"),
    ],
)
def test_cards_that_are_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    (tmp_path / "card.toml").write_text(CARD.replace(before, after), encoding="utf-8")
    with pytest.raises(TreebridgeError, match=message):
        read_card(tmp_path / "card.toml")


def test_a_card_must_be_utf8_and_have_tables(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_bytes(CARD.replace("Nobody", "Personne, même").encode("latin-1"))
    with pytest.raises(TreebridgeError, match=r"card\.toml: not UTF-8"):
        read_card(path)
    path.write_text(f'{CARD.partition("[[data]]")[0]}data = ["made"]\nscores = [1]\n', "utf-8")
    with pytest.raises(TreebridgeError, match=r"write \[\[data\]\]"):
        read_card(path)


def test_by_command(run: Run, made: Path, tmp_path: Path) -> None:
    assert run("models").returncode == 0
    (tmp_path / "x.txt").write_text("Ta mira.\n")
    done = run("parse", "--model", "nowhere", "x.txt")
    assert done.returncode == 2 and "no shipped model of that name" in done.stderr
    done = run("pack", made / "model", "-o", "x", "--bits", "9")
    assert done.returncode == 2 and "choose from 4 to 7" in done.stderr
    done = run("pack", made / "model", "-o", "x")
    assert done.returncode == 0 and "MB" in done.stdout + done.stderr


def test_every_shipped_model_is_small_and_parses() -> None:
    for model in shipped_models().values():
        assert model.size < LIMIT
        trees = Parser.load(model.folder)(model.card["examples"])
        assert trees and all(0 in tree.heads for tree in trees)


def test_every_shipped_model_can_be_inspected(run: Run) -> None:
    for name in shipped_models():
        done = run("inspect", name, "--json")
        assert done.returncode == 0, done.stderr
        about = json.loads(done.stdout)
        assert about["kind"] == "model" and {"projected", "forecast"} <= set(about)
        assert "Scores" in run("inspect", name).stdout
