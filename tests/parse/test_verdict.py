"""A parser that has learned nothing is called useless, and so is any bridge into it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made import DEV, command

from treebridge import Bridge, Parser
from treebridge.checksums import sealed
from treebridge.parse.verdict import bridge_verdict, parser_verdict

GOOD = {"verdict": "good: 80.0 % of held-out words found"}


@pytest.mark.parametrize(
    ("scores", "useless"),
    [({"LAS": 4.8}, True), ({"LAS": 39.99}, True), ({"LAS": 40.0}, False), ({}, False)],
)
def test_below_forty_is_useless(scores: dict[str, float], useless: bool) -> None:
    verdict = parser_verdict(scores)
    assert (verdict is not None) == useless
    if verdict:
        assert verdict.startswith(f"useless: LAS {scores['LAS']:.1f} on its own dev trees")
    told = bridge_verdict(GOOD, scores)
    assert told.startswith("useless: the parser it leads into" if useless else "good: 80.0 %")
    assert GOOD["verdict"] in told


def test_a_useless_bridge_stays_what_it_is() -> None:
    first = bridge_verdict(GOOD, {"LAS": 4.8})
    assert (
        bridge_verdict({"verdict": first}, {"LAS": 4.8}) == first
    )  # saved, loaded and saved again
    assert bridge_verdict({}, {"LAS": 80.0}) == "unknown: no sentence pairs were held out"


@pytest.fixture
def poor(home: Path, tmp_path: Path) -> Path:
    """A bridged parser whose dev scores are next to nothing."""
    parser = Parser.load(home / "bridged")
    history = [{**entry, "LAS": 4.8} for entry in parser.history]
    replace(parser, history=history).save(tmp_path / "poor")
    return tmp_path / "poor"


def test_the_folder_says_it(poor: Path, home: Path) -> None:
    config = json.loads((poor / "config.json").read_text())
    assert config["bridge"]["quality"].startswith("useless: the parser it leads into has LAS 4.8")
    assert "| verdict | useless: LAS 4.8 on its own dev trees" in (poor / "README.md").read_text()
    assert Bridge.load(poor / "bridge").quality["verdict"] == config["bridge"]["quality"]
    readme = (home / "bridged" / "README.md").read_text()
    assert "useless" not in readme and "good: 80.0 %" in readme


def test_evaluate_says_it(poor: Path, home: Path, tmp_path: Path) -> None:
    DEV.write(tmp_path / "gold.conllu")
    said = command("evaluate", "--model", poor, tmp_path / "gold.conllu")
    assert "parser: useless: LAS 4.8 on its own dev trees" in said
    figures = json.loads(command("evaluate", "--model", poor, tmp_path / "gold.conllu", "--json"))
    assert figures["verdict"].startswith("useless: LAS 4.8")
    other = command("evaluate", "--model", home / "bridged", tmp_path / "gold.conllu", "--json")
    assert "verdict" not in json.loads(other)


def test_scores_are_those_of_config_where_there_is_no_history(poor: Path) -> None:
    """A shipped model has no metrics.jsonl."""
    before = Parser.load(poor).scores
    config = json.loads((poor / "config.json").read_text())
    del config["files"]["metrics.jsonl"]
    (poor / "config.json").write_text(json.dumps(sealed(config)))
    (poor / "metrics.jsonl").unlink()
    assert Parser.load(poor).scores == before and before["LAS"] == 4.8
