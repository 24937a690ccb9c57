"""`treebridge bridge` as a user calls it, on artificial text and tiny random encoders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from checkpoints import make
from typer.testing import CliRunner

from conftest import Run
from treebridge import Bridge
from treebridge.bridge.settings import BridgeSettings
from treebridge.cli.commands import app
from treebridge.corpus.artificial import World
from treebridge.recipes import bridge as recipe
from treebridge.recipes.bridge import Bridged


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    world = World(3)
    world.write_bitext(folder / "qaa-qab.tsv", "near", 1500)
    make("bert", folder / "source")
    make("marian", folder / "target")
    return folder


def test_bridge_command(here: Run, corpus: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    common = [
        "bridge",
        corpus / "qaa-qab.tsv",
        "--source",
        corpus / "source",
        "--target",
        corpus / "target",
    ]
    common += ["--source-language", "qaa"]
    first = here(*common, "-o", "b", "--json")
    assert first.returncode == 0, first.stderr
    report = json.loads(first.stdout)
    assert report["made"]["links_from"] == "hmm" and report["quality"]["links"] > 10_000
    assert report["made"]["target_language"] == "qab"  # from the file name
    assert report["made"]["collect_anchor_words"] == "all"
    assert set(report["quality"]["target_to_source"]) == {"nn_p1", "nn_p5", "csls_p1", "csls_p5"}
    shown = here("inspect", "b")
    assert shown.returncode == 0 and "verdict" in shown.stdout and "anisotropy" in shown.stdout
    again = here(*common, "-o", "c", "--level", "word", "--no-isotropy", "--json")  # from the cache
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["quality"]["occurrences"] == report["quality"]["occurrences"]
    senses = here("inspect", "b", "--word", ".", "--word", "nothing").stdout
    assert "typical contexts" in senses
    assert "nothing is not an anchor of this bridge: it has fewer than 5 links\n" in senses
    made = Bridge.load(tmp_path / "b")
    made.made["collect_anchor_words"] = "whole"
    made.save(tmp_path / "whole")
    whole = here("inspect", "whole", "--word", "nothing").stdout
    assert "it has fewer than 5 links, or is not a single piece of the vocabulary" in whole
    links = here("align", corpus / "qaa-qab.tsv", "-o", "links.txt", "--source", "qaa")
    assert links.returncode == 0, links.stderr
    given = here(*common, "-o", "d", "--links", "links.txt", "--json")
    assert json.loads(given.stdout)["made"]["links_from"] == "links.txt"
    paper = here(*common, "-o", "e", "--preset", "paper", "--json")
    assert paper.returncode == 2 and "if only whole words were used" in paper.stderr


def test_an_option_wins_over_the_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[BridgeSettings] = []

    def record(*given: object, **_: object) -> Bridged:
        made.append(given[3])
        return Bridged(Bridge(None, None, np.eye(1)), Path("c"))  # type: ignore[arg-type]

    monkeypatch.setattr(recipe, "bridge", record)

    def chosen(*options: str) -> tuple[str, str, str]:
        command = ["--quiet", "bridge", "a.tsv", "--source-encoder", "a", "--target-encoder", "b",
                   "-o", "c", *options]  # fmt: skip
        assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
        return made[-1].aligner, made[-1].fit.weighting, made[-1].collect.anchor_words

    paper = ("--preset", "paper")
    assert chosen() == ("hmm", "count", "all")
    assert chosen(*paper) == ("fast-align", "none", "whole")
    assert chosen(*paper, "--aligner", "hmm") == ("hmm", "none", "whole")
    assert chosen(*paper, "--weighting", "count") == ("fast-align", "count", "whole")
    assert chosen(*paper, "--anchor-words", "all") == ("fast-align", "none", "all")


def test_mistakes(here: Run, corpus: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    target = ["--target-encoder", corpus / "target", "-o", "b"]
    assert (
        "give the parser to connect to with --into PARSER"
        in here("bridge", corpus / "qaa-qab.tsv", *target).stderr
    )
    both = [*target, "--source", corpus / "source"]
    assert "file not found" in here("bridge", "nowhere.tsv", *both).stderr
    few = here("bridge", corpus / "qaa-qab.tsv", *both, "--pairs", 3)
    assert few.returncode == 2 and "give more parallel text" in few.stderr
    assert not (tmp_path / "b").exists()
    (tmp_path / "links.txt").write_text("0-99\n")
    broken = here("bridge", corpus / "qaa-qab.tsv", *both, "--links", "links.txt")
    assert broken.returncode == 2 and "links.txt:1: link 0-99" in broken.stderr
