"""Trees as SVG and HTML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import DEV
from typer.testing import CliRunner

from strategies import tree_heads
from treebridge import Sentence, Treebank, TreebridgeError
from treebridge.cli.commands import app
from treebridge.corpus.multiword import Contractions
from treebridge.show.draw import draw_files
from treebridge.show.html import html_page

SVG = "{http://www.w3.org/2000/svg}"


def make(heads: list[int], **columns: list[str]) -> Sentence:
    forms = [f"w{i}" for i in range(1, len(heads) + 1)]
    return Sentence.from_words(forms, heads=heads, **columns)


def words(picture: ET.Element) -> dict[str, float]:
    """Where each word stands."""
    texts = picture.findall(f"{SVG}text")
    return {t.text or "": float(t.get("x", 0)) for t in texts if (t.text or "")[:1] == "w"}


@given(tree_heads(max_size=15))
def test_arrows_point_from_heads_to_words(heads: list[int]) -> None:
    """Every arc ends in the middle of its word, and begins nearest to its head."""
    sentence = make(heads, deprels=[f"l{i}" for i in range(1, len(heads) + 1)])
    picture = ET.fromstring(sentence.draw(format="svg"))
    places = list(words(picture).values())
    assert places == sorted(places) and len(places) == len(heads)
    found = {}
    for arc in picture.findall(f"{SVG}g"):
        label = int((arc.findtext(f"{SVG}text") or "")[1:])
        path = arc.find(f"{SVG}path")
        assert path is not None
        start = float(re.match(r"M([\d.]+)", path.get("d", ""))[1])  # type: ignore[index]
        tip = float(re.findall(r"M([\d.]+)", arc.findall(f"{SVG}path")[-1].get("d", ""))[0]) + 3.5
        assert tip == pytest.approx(places[label - 1], abs=0.1)
        nearest = min(range(len(places)), key=lambda i: abs(places[i] - start))
        found[label] = 0 if "q" not in path.get("d", "") else nearest + 1
    assert [found[i] for i in range(1, len(heads) + 1)] == heads


@given(tree_heads(max_size=12))
def test_no_two_arcs_share_a_line(heads: list[int]) -> None:
    picture = ET.fromstring(make(heads).draw(format="svg"))
    lines = []
    for arc in picture.findall(f"{SVG}g"):
        label, path = arc.find(f"{SVG}text"), arc.find(f"{SVG}path")
        assert label is not None and path is not None
        if "q" in path.get("d", ""):
            ends = sorted(map(float, re.findall(r"(?:M|H)([\d.]+)", path.get("d", ""))))
            lines.append((label.get("y"), ends[0], ends[-1]))
    for i, (y, a, b) in enumerate(lines):
        assert not any(y == z and a < d - 12 and c < b - 12 for z, c, d in lines[:i])


def test_right_to_left_scripts_run_from_right_to_left() -> None:
    sentence = Sentence.from_words(["הבנק", "סגר"], heads=[2, 0])
    picture = ET.fromstring(sentence.draw(format="svg"))
    first, second = (t for t in picture.findall(f"{SVG}text") if t.text in sentence.forms)
    assert first.text == "הבנק" and float(first.get("x", 0)) > float(second.get("x", 0))
    assert "\u200eהבנק\u200e" in sentence.draw()


def test_doubt_is_visible() -> None:
    misc = ["ArcProb=0.900|LabelProb=0.900", "ArcProb=0.600|LabelProb=0.600", "_"]
    sentence = make([2, 0, 2], misc=misc, deprels=["a", "root", "b"])
    picture = sentence.draw(format="svg")
    assert picture.count("stroke-dasharray") == 1 and 'class="arc low"' in picture
    assert "root: arc 60%, label 60%" in picture
    lines = sentence.draw().split("\n")
    assert lines[1].endswith("36% ?") and "┄╼" in lines[1] and "┄" not in lines[0] + lines[2]


def test_multiword_tokens_are_shown() -> None:
    sentence = Contractions({"do": ("de", "o")}).expand(Sentence.from_words(["do", "mar"]))
    picture = sentence.annotate(heads=[3, 3, 0]).draw(format="svg")
    assert "italic" in picture and ">do<" in picture and ">de<" in picture


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


_nasty = st.sampled_from(
    ["<script>alert(1)</script>", '"onload="x', "'", "&amp;", "\x00", "\ud800", "]]>", "</svg>"]
)


@given(st.lists(_nasty | st.text(min_size=1, max_size=5), min_size=1, max_size=4))
def test_no_text_becomes_markup(cells: list[str]) -> None:
    n = len(cells)
    sentence = Sentence.from_words(cells, heads=[0, *[1] * (n - 1)], deprels=cells, upos=cells)
    ET.fromstring(sentence.draw(format="svg"))
    page = Tags()
    page.feed("".join(html_page([sentence], cells[0])))
    assert "script" not in page.tags and not {a for a in page.attributes if a.startswith("on")}


def test_draw_command(tmp_path: Path) -> None:
    def draw(*arguments: object, stdin: str | None = None) -> str:
        result = CliRunner().invoke(
            app, ["draw", *map(str, arguments)], input=stdin, catch_exceptions=False
        )
        assert result.exit_code == 0, result.output
        return result.stdout

    path = tmp_path / "t.conllu"
    DEV[:3].write(path)
    assert draw(path) == draw(stdin=path.read_text("utf-8"))
    assert draw(path).startswith(f"{DEV[0].text}\n{DEV[0].draw()}\n\n")
    assert draw(path, "--sentences", "2") == f"{DEV[1].text}\n{DEV[1].draw()}\n\n"
    draw(path, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").count("<svg") == 3
    draw(path, "--sentences", "3", "-o", tmp_path / "one.svg")
    ET.parse(tmp_path / "one.svg")
    draw(path, "--format", "svg", "-o", tmp_path / "all")
    assert len(list((tmp_path / "all").iterdir())) == 3
    Treebank([]).write(tmp_path / "empty.conllu")
    for wrong, message in (
        ((path, "--sentences", "9"), "fewer sentences"),
        ((path, "--sentences", "x"), "expected a number"),
        ((tmp_path / "empty.conllu",), "no sentences to draw"),
        ((path, "-o", tmp_path / "page.html"), "--force"),
        ((path, "--format", "svg"), "several pictures"),
    ):
        with pytest.raises(TreebridgeError, match=message):
            draw(*wrong)


def test_a_file_name_that_promises_another_format_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "tree.conllu"
    source.write_text("1\tHola\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    with pytest.raises(TreebridgeError, match=r"name a file .svg, .html or .txt"):
        draw_files([str(source)], tmp_path / "tree.pdf", None, None)
    assert not (tmp_path / "tree.pdf").exists()
