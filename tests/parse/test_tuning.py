"""Refining through the encoder: one that knows nothing learns from projected trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from far import WORLD
from latent import links_of
from made import DEV, TRAIN, command
from stop import Stop

from treebridge.bridge.collect import collect
from treebridge.bridge.fit import fit_bridge
from treebridge.bridge.settings import CollectSettings, FitSettings
from treebridge.corpus.conllu import Treebank
from treebridge.encode.encoder import Encoder
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.encode.settings import TuneSettings
from treebridge.encode.store import encode_into_store
from treebridge.errors import TreebridgeError
from treebridge.experiment.lab import Lab
from treebridge.parse.agreement import Trial
from treebridge.parse.parser import Parser
from treebridge.parse.project.carry import carry, choose_pairs
from treebridge.parse.refine import Refining
from treebridge.parse.settings import ProjectSettings, RefineSettings
from treebridge.parse.tuning import with_tuning

GOLD = WORLD.treebank("far", 80, "dev")
PROJECT = ProjectSettings(density=0.4, sentences=400)
SETTINGS = RefineSettings(
    epochs=3, learning_rate=5e-3, project=PROJECT, tuning=TuneSettings(rate=3e-3, dropout=0.0)
)
TINY = PretrainSettings(
    vocabulary=400, layers=2, hidden=32, heads=2, feed_forward=64, length=64, batch=256,
    tokens=2000, start="random",
)  # fmt: skip


@pytest.fixture(scope="module")
def run(story: tuple[Parser, Parser], tmp_path_factory: pytest.TempPathFactory) -> Refining:
    """A run in which nothing was decided, on an encoder that is almost random."""
    folder = tmp_path_factory.mktemp("tuning")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(folder / "cache"))
        parser, _ = story
        (folder / "far.txt").write_text("\n".join(WORLD.text("far", 300)), encoding="utf-8")
        target = Encoder.pretrain(folder / "far.txt", folder / "encoder", TINY)
        links = links_of(WORLD, "far", 900)
        found = collect(links, parser.load_encoder(), target, CollectSettings(), folder / "found")
        fit = FitSettings(level="word", map="least-squares")
        bridge = fit_bridge(found, parser.load_encoder(), target, parser.space, fit)[0]
        bridged = parser.across(bridge, target)
        pairs = choose_pairs(links(), PROJECT)
        projected, _ = carry(pairs, parser, bridged, PROJECT)
        held = list(links_of(WORLD, "far", 1000)())[900:]
        trial = Trial.prepare(held, parser, target)
        return Refining(bridged, projected, None, None, SETTINGS, trial=trial)


@pytest.fixture(scope="module")
def tuned(run: Refining) -> Parser:
    return with_tuning(replace(run, settings=replace(SETTINGS, tune="encoder"))).run()[0]


def las(parser: Parser) -> float:
    return parser.evaluate(GOLD)["LAS"]


def test_the_encoder_learns_and_is_saved_with_the_parser(
    run: Refining, tuned: Parser, tmp_path: Path
) -> None:
    frozen = with_tuning(replace(run, settings=replace(SETTINGS, tune="map"))).run()[0]
    assert frozen.load_encoder() is run.parser.load_encoder()
    assert las(tuned) > las(frozen) + 5 > las(run.parser) + 5
    assert tuned.reads.encoder.endswith("(tuned)")
    assert tuned.reads.fingerprint != run.parser.reads.fingerprint
    tuned.save(tmp_path / "far")
    again = Parser.load(tmp_path / "far")
    assert [s.heads for s in again(GOLD)] == [s.heads for s in tuned(GOLD)]
    assert las(run.parser) < las(frozen), "the parser that was refined is another one"


def test_a_table_scores_a_tuned_parser_with_its_own_vectors(run: Refining, tuned: Parser) -> None:
    encoder = run.parser.load_encoder()  # the lab knows the one that did not learn
    lab = SimpleNamespace(trees=lambda _: GOLD, encoder=lambda *_: encoder)
    lab.vectors = lambda *_: encode_into_store(encoder, [tree.forms for tree in GOLD])
    found = Lab.parse(lab, tuned, None, "own")
    assert [tree.heads for tree in found] == [tree.heads for tree in tuned(GOLD)]


def test_interrupted_and_resumed_is_the_same_as_in_one_go(
    run: Refining, tuned: Parser, tmp_path: Path
) -> None:
    start = replace(run, tune=True, work=tmp_path / "work")
    with pytest.raises(KeyboardInterrupt):
        replace(start, progress=Stop(0.5)).run()
    listener = Stop()
    again, _ = replace(start, progress=listener).run()
    assert listener.said == ["resuming after epoch 1"]
    assert again.reads.fingerprint == tuned.reads.fingerprint, "the same weights"
    np.testing.assert_array_equal(again.bridge.w, tuned.bridge.w)


def test_auto_tunes_an_encoder_that_gains(run: Refining, tuned: Parser) -> None:
    listener = Stop()
    chosen = with_tuning(replace(run, progress=listener))
    assert chosen.tune
    assert listener.said[-1].startswith(
        "the encoder learns: agreement with held-out source trees +"
    )
    assert chosen.run()[0].reads.fingerprint == tuned.reads.fingerprint, "nothing is lost by asking"


def test_auto_leaves_an_encoder_that_gains_nothing(run: Refining) -> None:
    still = replace(SETTINGS, tuning=TuneSettings(rate=0.0, dropout=0.0))
    assert not with_tuning(replace(run, settings=still)).tune


def test_auto_needs_an_encoder_that_can_learn(story: tuple[Parser, Parser], run: Refining) -> None:
    other = replace(run, parser=story[1])
    assert with_tuning(other) is other
    with pytest.raises(TreebridgeError, match="cannot learn"):
        with_tuning(replace(other, settings=replace(SETTINGS, tune="encoder"))).run()


def test_source_encoders_learn_with_their_parser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    for name, trees in (("train", TRAIN), ("dev", DEV)):
        Treebank(trees).write(tmp_path / f"{name}.conllu")
    text = "\n".join(" ".join(tree.forms) for tree in TRAIN)
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    encoder = Encoder.pretrain(tmp_path / "text.txt", tmp_path / "encoder", TINY)
    before = encoder(TRAIN[0].forms)
    command(
        "train", tmp_path / "train.conllu", "--dev", tmp_path / "dev.conllu", "--tune", "encoder",
        "--encoder", tmp_path / "encoder", "--preset", "small", "--epochs", 1, "-o",
        tmp_path / "en",
    )  # fmt: skip
    (tmp_path / "encoder").rename(tmp_path / "gone")
    tuned = Parser.load(tmp_path / "en")
    assert abs(tuned.load_encoder()(TRAIN[0].forms) - before).max() > 1e-3
    assert "an encoder that learned with it" in (tmp_path / "en" / "README.md").read_text()
    assert abs(tuned.evaluate(DEV)["LAS"] - tuned.scores["LAS"]) < 1e-9
    assert Path(tuned.space.encoder) == tmp_path / "en" / "encoder", "bridges find it there"
