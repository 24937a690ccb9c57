"""Shipped models: packed small, found by name, and still the same parser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import QUICK

from conftest import Run
from treebridge import Bitext, Bridge, Encoder, Parser, TreebridgeError
from treebridge.artefact import read_tensors
from treebridge.bridge.settings import BridgeSettings, CollectSettings
from treebridge.corpus.artificial import World
from treebridge.encode.pretrain.corpus import make_corpus
from treebridge.encode.pretrain.folder import save_encoder
from treebridge.encode.pretrain.run import Pretraining
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.parse.shipped import find_model, shipped_models
from treebridge.recipes import pack
from treebridge.recipes.model_card import read_card
from treebridge.torchrun import TorchRun

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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as `build` leaves it, over pre-trained encoders that were not rounded."""
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
        trees = WORLD.treebank("source", 150)
        parser = Parser.train(trees, source, settings=replace(QUICK, epochs=2))
        parser.about["treebank"] = str(folder / "secret" / "train.conllu")
        WORLD.write_bitext(folder / "bitext.tsv", "near", 1000)
        bitext = Bitext.read(folder / "bitext.tsv", source_language="qaa")
        settings = BridgeSettings(collect=CollectSettings(anchor_words="all"))
        bridge = Bridge.fit(bitext, parser.space, near, source, settings)
        parser.across(bridge, near).save(folder / "model")
    (folder / "card.toml").write_text(CARD, encoding="utf-8")
    return folder


def test_a_packed_model_is_half_as_large_and_the_same_parser(made: Path, tmp_path: Path) -> None:
    pack.pack_model(made / "model", tmp_path / "nira", read_card(made / "card.toml"))
    for path in ("encoder/model.safetensors", "parser.safetensors"):
        small, large = ((f / path).stat().st_size for f in (tmp_path / "nira", made / "model"))
        assert small < 0.6 * large
    weights = read_tensors(tmp_path / "nira" / "encoder" / "model.safetensors")
    assert all(weight.dtype == np.float16 for weight in weights.values())
    assert not any(name.startswith("cls.") for name in weights)
    before, after = Parser.load(made / "model"), Parser.load(tmp_path / "nira")
    sentences = [sentence.forms for sentence in WORLD.treebank("near", 60, "dev")]
    heads = [[h for tree in parser(sentences) for h in tree.heads] for parser in (before, after)]
    assert np.mean(np.array(heads[0]) == np.array(heads[1])) > 0.98
    # What was shipped knows its own encoder, and no folder of the machine it was made on.
    after.bridge.check(Encoder.load(tmp_path / "nira" / "encoder"))
    with pytest.raises(TreebridgeError, match="another one"):
        after.bridge.check(Encoder.load(made / "near"))
    for path in (tmp_path / "nira").rglob("*.*"):
        if path.suffix in (".json", ".md"):
            assert str(made) not in path.read_text(encoding="utf-8"), path


def test_a_rounded_encoder_is_not_rounded_again(made: Path, tmp_path: Path) -> None:
    pack.pack(made / "near", tmp_path / "once")
    pack.pack(tmp_path / "once", tmp_path / "twice")
    once, twice = (Encoder.load(tmp_path / name) for name in ("once", "twice"))
    assert once.fingerprint == twice.fingerprint != Encoder.load(made / "near").fingerprint


def test_too_large_is_refused(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "LIMIT", 10_000)
    with pytest.raises(TreebridgeError, match="smaller parser"):
        pack.pack_model(made / "model", tmp_path / "nira", read_card(made / "card.toml"))
    assert not (tmp_path / "nira").exists()


def test_another_encoder_than_the_bridge_was_fitted_on_is_refused(
    made: Path, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(made / "model", tmp_path / "model")
    shutil.rmtree(tmp_path / "model" / "encoder")
    shutil.copytree(made / "source", tmp_path / "model" / "encoder")
    with pytest.raises(TreebridgeError, match="another one"):
        pack.pack_model(tmp_path / "model", tmp_path / "nira", read_card(made / "card.toml"))


def test_models_by_name(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treebridge.parse.shipped.SHIPPED", tmp_path)
    monkeypatch.chdir(made)
    pack.pack_model(made / "model", tmp_path / "nira", read_card(made / "card.toml"))
    assert find_model("nira") == tmp_path / "nira"
    assert find_model("model") == Path("model")  # a folder that is there
    assert shipped_models()["nira"].card["language"] == "Nira"
    with pytest.raises(TreebridgeError, match="shipped are nira"):
        find_model("nowhere")


def test_the_listing(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                     capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    from treebridge.show.models import show_models

    monkeypatch.setattr("treebridge.parse.shipped.SHIPPED", tmp_path)
    show_models()
    assert "no model is shipped" in capsys.readouterr().out
    pack.pack_model(made / "model", tmp_path / "nira", read_card(made / "card.toml"))
    show_models()
    told = capsys.readouterr().out
    assert "Nira" in told and "40.5" in told and 'parse --model nira "Qãm pru ."' in told


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('licence = "CC0"', 'licence = "CC BY-NC-SA 4.0"', "must not be shipped"),
        ("LAS = 40.5", "", "score 1 lacks"),
        ('attribution = "nobody"', "", "data 1 of the card has no attribution"),
        ('limits = ["Nobody speaks it."]', "", "the card has no limits"),
        ("language =", "language", "is no TOML"),
    ],
)
def test_cards_that_are_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    (tmp_path / "card.toml").write_text(CARD.replace(before, after), encoding="utf-8")
    with pytest.raises(TreebridgeError, match=message):
        read_card(tmp_path / "card.toml")


def test_a_card_must_be_utf8_and_have_tables(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    path.write_bytes(CARD.replace("Nobody", "Personne, même").encode("latin-1"))
    with pytest.raises(TreebridgeError, match=r"card\.toml: is not UTF-8"):
        read_card(path)
    path.write_text(f'{CARD.partition("[[data]]")[0]}data = ["made"]\nscores = [1]\n', "utf-8")
    with pytest.raises(TreebridgeError, match=r"write \[\[data\]\]"):
        read_card(path)


def test_by_command(run: Run, made: Path, tmp_path: Path) -> None:
    assert run("models").returncode == 0
    (tmp_path / "x.txt").write_text("Ta mira.\n")
    done = run("parse", "--model", "nowhere", "x.txt")
    assert done.returncode == 2 and "no shipped model of that name" in done.stderr
    done = run("pack", made / "model", "-o", "x")
    assert done.returncode == 2 and "give one" in done.stderr


def test_every_shipped_model_is_small_and_parses() -> None:
    for model in shipped_models().values():
        assert model.size <= pack.LIMIT
        trees = Parser.load(model.folder)(model.card["examples"])
        assert trees and all(0 in tree.heads for tree in trees)
