"""The whole story on artificial languages: a treebank here, a bitext between, trees there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from latent import LatentEncoder
from made import QUICK

from conftest import Run
from treebridge import Bitext, Bridge, Parser
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.settings import BridgeSettings, FitSettings
from treebridge.bridge.space import Space
from treebridge.corpus.artificial import World
from treebridge.corpus.trees import tree_problem
from treebridge.parse.score import score

WORLD = World(5)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))


def test_zero_shot_parsing(tmp_path: Path) -> None:
    source, target = (
        LatentEncoder(WORLD.languages[name], context=0.5) for name in ("source", "near")
    )
    parser = Parser.train(
        WORLD.treebank("source", 500),
        source,
        WORLD.treebank("source", 60, "dev"),
        replace(QUICK, epochs=6),
    )
    path = tmp_path / "bitext.tsv"
    WORLD.write_bitext(path, "near", 2500)
    bitext = Bitext.read(path, source_language="qaa")
    bridge = Bridge.fit(bitext, into=parser.space, target=target, source=source)
    gold = WORLD.treebank("near", 80, "dev")
    bare = [sentence.annotate(heads=[None] * len(sentence), deprels=["_"] * len(sentence),
                              upos=["_"] * len(sentence)) for sentence in gold]  # fmt: skip

    def las(bridge: Bridge) -> float:
        trees = parser.across(bridge, target)(bare)
        assert all(tree_problem(tree.heads) is None for tree in trees)
        return score(gold, trees)["LAS"]

    # Unmapped: the target's own vectors, normalised, handed to the parser as they are.
    identity = Bridge(Space.of(target, bridge.target.isotropy), parser.space, bridge.w * 0)
    identity.w[range(48), range(48)] = 1
    english = score(
        WORLD.treebank("source", 60, "dev"), parser(WORLD.treebank("source", 60, "dev"))
    )
    bridged = las(bridge)
    assert bridged > las(identity) + 30
    assert bridged > english["LAS"] - 12
    bridge.save(tmp_path / "bridge")
    parser.save(tmp_path / "parser")
    again = Parser.load(tmp_path / "parser").across(Bridge.load(tmp_path / "bridge"), target)
    assert [tree.heads for tree in again(bare)] == [
        tree.heads for tree in parser.across(bridge, target)(bare)
    ]


def test_a_bridge_into_another_parser_is_refused() -> None:
    source, target = (LatentEncoder(WORLD.languages[name]) for name in ("source", "near"))
    parser = Parser.train(WORLD.treebank("source", 40), source, settings=replace(QUICK, epochs=1))
    elsewhere = Bridge(
        Space.of(target), Space.of(target, Isotropy.none(48)), parser.space.isotropy.means[:1]
    )
    with pytest.raises(Exception, match="fit the bridge into this parser"):
        parser.across(elsewhere)


def test_the_same_by_command(here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures mean nothing with random encoders; that every step fits the next one does."""
    from checkpoints import make

    WORLD.treebank("source", 150).write(tmp_path / "train.conllu")
    WORLD.treebank("near", 10, "dev").write(tmp_path / "dev.conllu")
    WORLD.write_bitext(tmp_path / "bitext.tsv", "near", 1200)
    make("bert", tmp_path / "source")
    make("roberta", tmp_path / "target")
    done = here(
        "train",
        "train.conllu",
        "--encoder",
        "source",
        "-o",
        "parser",
        "--preset",
        "small",
        "--epochs",
        1,
        "--layers",
        "last1",
    )
    assert done.returncode == 0, done.stderr
    done = here("bridge", "bitext.tsv", "--into", "parser", "--target-encoder", "target", "-o", "bridge",
               "--source-language", "qaa")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "useless" in " ".join(done.stdout.split()).partition("verdict ")[2]  # one epoch is none
    made = Bridge.load(tmp_path / "bridge")
    assert made.quality["verdict"].startswith("useless: ")
    assert made.made["collect_anchor_words"] == "all"
    assert made.into.layers == made.target.layers == "last1"  # as the parser has them
    report = json.loads(here("inspect", "bridge", "--json").stdout)
    assert {"made", "quality", "projected", "forecast"} <= set(report)
    about = json.loads(here("inspect", "parser", "--json").stdout)
    assert about["projected"] is None and about["forecast"] is None  # it has no bridge
    done = here(
        "parse", "--model", "parser", "--bridge", "bridge", "dev.conllu", "-o", "out.conllu"
    )
    assert done.returncode == 0, done.stderr
    done = here("evaluate", "out.conllu", "dev.conllu", "--json")
    assert done.returncode == 0, done.stderr
    direct = here("evaluate", "--model", "parser", "--bridge", "bridge", "dev.conllu", "--json")
    assert '"LAS"' in direct.stdout, direct.stderr
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # encoders were named by relative paths
    assert Parser.load("../parser", bridge="../bridge").load_encoder().dim
    wrong = here(
        "parse", "--model", "parser", "--bridge", "bridge", "--encoder", "source", "dev.conllu"
    )
    assert wrong.returncode == 2 and "a different encoder or uses other layers" in wrong.stderr


def test_settings_reach_the_bridge(tmp_path: Path) -> None:
    source, target = (LatentEncoder(WORLD.languages[name]) for name in ("source", "near"))
    path = tmp_path / "bitext.tsv"
    WORLD.write_bitext(path, "near", 1500)
    settings = BridgeSettings(fit=FitSettings(level="word", isotropy=False), aligner="fast-align")
    space = Space.of(source)
    bridge = Bridge.fit(Bitext.read(path, source_language="qaa"), space, target, source, settings)
    assert bridge.made["links_from"] == "fast-align" and not len(bridge.target.isotropy.means)
