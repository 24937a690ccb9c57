"""The demo in a small size: every part of the story is told, and a second run reuses the first."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest
from made import QUICK

from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.experiment import demo
from treebridge.experiment.demo import ROWS, DemoSize
from treebridge.parse.shipped import shipped_models
from treebridge.show.demo import run_demo
from treebridge.show.demo_lessons import ABOUT
from treebridge.show.figures import bars, lines

SMALL = DemoSize(
    trees=150, scored=25, pairs=1200, text=1500,
    encoder=PretrainSettings(vocabulary=1500, layers=2, hidden=48, feed_forward=48, length=32,
                             batch=512, tokens=40_000, learning_rate=3e-3),
    parser=replace(QUICK, epochs=2), refined=100,
)  # fmt: skip


def test_the_whole_story(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    path = run_demo(tmp_path / "made", 2, SMALL)
    told = capsys.readouterr()
    assert path.name == "report.html" and str(path.absolute()) in told.out.replace("\n", "")
    page = path.read_text(encoding="utf-8")
    for row in ROWS:
        label, about = ABOUT[row]
        assert re.search(rf"^ *{re.escape(label)} +{re.escape(about)} +\d", told.out, re.M), row
        assert f"<td><b>{label}</b></td><td>{escape(about)}</td>" in page
    assert "“treebridge” − “paper, senses, isotropic”" in page
    assert told.out.count("heads are correct") == 2 and "╼" in told.out
    for words in ("What to take away", "A bridge is needed", "What to do next"):
        assert words in told.out and words in page
    for model in shipped_models().values():  # one sentence each
        language, (first, *others) = model.card["language"], model.card["examples"]
        for text in (told.out, page):
            assert text.count(f"{language}: LAS {model.best['LAS']:.1f} on") == 1
        shown = told.out.partition(f"{language}: LAS")[2]
        assert first.split()[1] in shown and not any(other in page for other in others)
    assert page.index("<svg") < page.index("<table")  # the figure first
    for text in (told.out, page):  # names of languages, not codes
        assert not re.search("qa[ab]", text.partition("What to do next")[0])
    figures = re.findall(r"<svg.*?</svg>", page)
    assert len(figures) >= 5 and all(ET.fromstring(figure) is not None for figure in figures)
    files = {file.name for file in (tmp_path / "made").iterdir()}
    assert {"qaa-train.conllu", "qaa-qab.tsv", "qab-encoder"} <= files

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the second run repeats the first")

    monkeypatch.setattr(demo, "pretrain", fail)
    monkeypatch.setattr("treebridge.parse.parser.Parser.train", fail)
    figures_before = re.findall(r"<td>.*?</td>", page)
    again = run_demo(tmp_path / "made", 2, SMALL).read_text(encoding="utf-8")
    assert re.findall(r"<td>.*?</td>", again) == figures_before


def test_bars_are_as_long_as_their_values() -> None:
    svg = bars({"a < b": {"x": 10.0, "y": None}, "c": {"x": 40.0, "y": 20.0}})
    assert "a &lt; b" in svg
    found = [float(width) for width in re.findall(r'y="\d+" width="([\d.]+)" height="12"', svg)]
    assert found == [105.0, 420.0, 210.0]


def test_lines_have_their_points() -> None:
    svg = lines({"one": [(0, 0), (5, 2)], "two": [(10, 4)]}, "x", "y")
    root = ET.fromstring(svg)
    drawn = [child for child in root if child.tag.endswith("polyline")]
    assert [len(child.attrib["points"].split()) for child in drawn] == [2, 1]
    assert drawn[1].attrib["points"] == "506.0,8.0"
