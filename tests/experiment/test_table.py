"""The rows of the table on artificial languages, where their ranking is known."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from latent import LatentEncoder
from made import QUICK

from treebridge.corpus.artificial import Language, World
from treebridge.corpus.bitext import Bitext
from treebridge.errors import TreebridgeError
from treebridge.experiment.inputs import Source, Target
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.experiment.systems import SYSTEMS, choose_systems
from treebridge.experiment.table import Table, run_table
from treebridge.progress import Progress
from treebridge.show.results import save_table, to_csv, to_latex, to_markdown

WORLD = World(5)
MAPPED = [
    "fasttext-rcsls",
    "anchor-mean",
    "word",
    "sense",
    "word+in",
    "sense+in",
    "treebridge",
    "self-trained",
    "refined",
]
ROWS = ["delexicalized", "unmapped", *MAPPED, "fasttext", "multilingual", "multilingual-uncased"]


class Static(LatentEncoder):
    """Vectors without context."""

    def __init__(self, language: Language):
        super().__init__(language, context=0.0)

    @property
    def fingerprint(self) -> str:
        return f"static {self.name}"


class Said(Progress):
    """Forwards messages and counts the parsers trained."""

    def __init__(self, laboratory: Laboratory, say) -> None:
        self.laboratory, self.say = laboratory, say

    def done(self, stage: str) -> None:
        self.laboratory.trained += stage == "training"


class Laboratory:
    """Source and one target, created for each run so that nothing stays in memory."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.trained = 0
        WORLD.write_bitext(folder / "near.tsv", "near", 1000)
        pairs = [
            f"{form} {WORLD.languages['near'].forms[concept]}\n"
            for concept, form in WORLD.languages["source"].forms.items()
            if " " not in form + WORLD.languages["near"].forms.get(concept, " ")
        ]
        (folder / "dictionary.txt").write_text("".join(pairs), encoding="utf-8")

    def run(
        self, rows: list[str], seeds: tuple[int, ...] = (1,), say=lambda text: None, **changes
    ) -> Table:
        encoders = {
            name: {
                "own": LatentEncoder(WORLD.languages[name], context=0.5),
                "vectors": Static(WORLD.languages[name]),
                "multilingual": Static(WORLD.languages["source"]),
            }
            for name in ("source", "near")
        }
        source = Source(
            "qaa",
            "Source",
            WORLD.treebank("source", 30, "dev"),
            encoders["source"],
            WORLD.treebank("source", 150),
            WORLD.treebank("source", 30, "dev"),
        )
        target = Target(
            "qab",
            "Near",
            WORLD.treebank("near", 50, "dev"),
            encoders["near"],
            Bitext.read(self.folder / "near.tsv", source_language="qaa"),
            self.folder / "dictionary.txt",
        )
        settings = LabSettings(
            replace(QUICK, tags=changes.pop("tags", "gold"), epochs=4),
            **changes,
        )
        self.trained = 0

        lab = Lab(source, settings, self.folder / "lab", Said(self, say))
        systems = [SYSTEMS[name] for name in rows]
        about = {"tags": settings.parser.tags, "seeds": list(seeds)}
        return run_table(lab, [target], systems, seeds, about=about)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("lab")
        patch.setenv("TREEBRIDGE_CACHE", str(folder / "cache"))
        laboratory = Laboratory(folder)
        laboratory.first = laboratory.run(ROWS)
        yield laboratory


def test_all_possible_rows_are_filled_and_ranked_as_expected(lab: Laboratory) -> None:
    table = lab.first
    possible = ROWS[:-1]
    assert table.cell(ROWS[-1], "qab").failed.startswith("no multilingual encoder given")
    las = {name: table.cell(name, "qab").mean("LAS") for name in possible}
    for mapped in MAPPED:
        without = "fasttext" if mapped == "fasttext-rcsls" else "unmapped"
        assert las[mapped] > las[without] + 5, (mapped, las)
    assert las["refined"] > las["treebridge"]
    assert not list((lab.folder / "lab" / "refining").glob("*"))  # no checkpoints left
    # One source parser per input space: blank, plain, isotropic, and one shared by vectors and
    # multilingual, which use the same encoder here; plus one that tags text.
    folders = sorted((lab.folder / "lab" / "parsers").glob("[!.]*"))
    assert len(folders) == 5 and not list((lab.folder / "lab" / "parsers").glob(".*"))
    plain = {table.cell(name, "qaa").mean("LAS") for name in ("word", "sense", "unmapped")}
    assert len(plain) == 1


def test_a_second_run_reuses_everything_and_a_changed_one_what_is_unchanged(
    lab: Laboratory,
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (lab.folder / "lab").rglob("*.*")}
    again = lab.run(ROWS)
    assert lab.trained == 0
    assert {p: p.stat().st_mtime_ns for p in (lab.folder / "lab").rglob("*.*")} == before
    assert to_csv(again) == to_csv(lab.first)
    other = lab.run(["word+in"], isotropy_from="input")
    assert lab.trained == 0
    old, new = (t.cell("word+in", "qab").mean("LAS") for t in (lab.first, other))
    assert old != new
    assert other.cell("word+in", "qaa").mean("LAS") == again.cell("word+in", "qaa").mean("LAS")


def test_an_interrupted_run_resumes(lab: Laboratory) -> None:
    """A run interrupted at its last result computes only that one later."""
    said: list[str] = []

    def interrupt(text: str) -> None:
        said.append(text)
        if text.startswith("[4/") and text.endswith("…"):
            raise KeyboardInterrupt

    rows = ["word+in", "treebridge"]
    runs = lab.folder / "lab" / "runs"
    before = set(runs.glob("*.json"))
    with pytest.raises(KeyboardInterrupt):
        lab.run(rows, isotropy_from="input", say=interrupt)
    lab.run(rows, isotropy_from="input", say=said.append)
    new = set(runs.glob("*.json")) - before
    assert len(new) <= 2 and not list(runs.glob(".*"))
    started = [text for text in said if text.endswith("seed 1 …")]
    assert len(started) == len(set(started)) + 1  # only the interrupted one started twice


def test_seeds_and_formats(lab: Laboratory, tmp_path: Path) -> None:
    table = lab.run(["word+in", "sense+in", "multilingual-uncased"], seeds=(1, 2))
    assert lab.trained == 1
    cell = table.cell("sense+in", "qab")
    values = [result.scores["LAS"] for result in cell.results]
    assert len(values) == 2
    assert cell.spread("LAS") == pytest.approx(abs(values[0] - values[1]) / 2**0.5)
    save_table(table, tmp_path)
    data = json.loads((tmp_path / "table1.json").read_text())
    assert data["comparisons"][0]["systems"] == ["sense+in", "word+in"]
    difference = cell.mean("LAS") - table.cell("word+in", "qab").mean("LAS")
    assert data["comparisons"][0]["difference"] == pytest.approx(difference)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "table1.csv").read_text())))
    assert len([row for row in rows if row["failed"]]) == 2 and len(rows) == 2 * 2 * 2 + 2
    markdown = to_markdown(table)
    best = max(table.cell(name, "qab").mean("LAS") for name in ("word+in", "sense+in"))
    assert f"**{best:.2f} ±" in markdown and "| failed |" in markdown
    assert "no multilingual encoder given for" in markdown
    assert to_latex(table).count(r"\\") == 4 and r"\textbf{" in to_latex(table)


def test_predicted_tags_are_reported_and_delexicalized_needs_gold_tags(lab: Laboratory) -> None:
    table = lab.run(["delexicalized", "treebridge", "self-trained", "refined"], tags="predicted")
    assert "use gold tags" in table.cell("delexicalized", "qab").failed
    cell = table.cell("treebridge", "qab")
    assert 20 < cell.mean("UPOS") < 100
    refined = table.cell("refined", "qab")
    assert refined.mean("UPOS") != cell.mean(
        "UPOS"
    )  # it learned something; how much is chance here
    assert refined.mean("LAS") > cell.mean("LAS") - 5
    assert table.cell("self-trained", "qab").mean("LAS") != cell.mean("LAS")
    assert "UAS / LAS / UPOS" in to_markdown(table)


def test_the_papers_figures_are_shown_next_to_its_rows() -> None:
    table = Table([SYSTEMS["sense+in"]], [Target("pt", "Portuguese", ())])
    assert "*81.99 / 69.49*" in to_markdown(table)
    assert r"\textit{81.99 / 69.49}" in to_latex(table)


def test_systems_by_name() -> None:
    assert "delexicalized" not in [s.name for s in choose_systems(None, "predicted")]
    assert [s.name for s in choose_systems(["sense", "word", "sense"], "gold")] == ["sense", "word"]
    with pytest.raises(TreebridgeError, match="unknown system 'nothing'; choose from delex"):
        choose_systems(["nothing"], "gold")
