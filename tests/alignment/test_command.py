"""`treebridge align` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Run
from treebridge import Bitext
from treebridge.alignment.pharaoh import read_pharaoh
from treebridge.corpus.artificial import World


@pytest.fixture
def bitext(tmp_path: Path) -> Path:
    """A bitext with three pairs that are left out."""
    path = tmp_path / "b.tsv"
    World(2).write_bitext(path, "near", 300)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[10:10] = ["same\tsame", "\t", lines[3]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_links_models_and_scores(here: Run, bitext: Path, tmp_path: Path) -> None:
    done = here("align", "b.tsv", "-o", "out/links", "--save-model", "m", "--threads", 2)
    assert done.returncode == 0, done.stderr
    assert "hmm: 300 of 303 pairs (left out: 1 empty, 1 identical, 1 duplicate)" in done.stdout
    lines = (tmp_path / "out/links").read_text().split("\n")
    assert len(lines) == 304 and lines[10:13] == ["", "", ""] and all(lines[:10])
    assert len(read_pharaoh(tmp_path / "out/links", Bitext.read(bitext))) == 300

    again = here("align", "b.tsv", "--model", "m", "--pairs", 20)
    assert again.returncode == 0, again.stderr
    assert again.stdout.split("\n")[:15] == lines[:15]  # to standard output, figures apart
    assert "20 of 23 pairs" in again.stderr

    pairs = list(World(2).pairs("near", 40, part="gold"))
    (tmp_path / "gold.tsv").write_text(
        "".join(
            f"{' '.join(p.source.forms)}\t{' '.join(p.target.forms)}\t"
            + " ".join(f"{i}-{j}" for i, j in sorted(p.sure))
            + "\n"
            for p in pairs
        ),
        encoding="utf-8",
    )
    done = here("align", "b.tsv", "--engine", "fast-align", "--score", "gold.tsv", "--json")
    figures = json.loads(done.stdout)
    assert figures["engine"] == "fast-align" and figures["pairs"] == 300
    rows = {(row["links"], row["one_to_one"]): row for row in figures["scores"]}
    assert len(rows) == 14
    assert rows["intersection", True]["number"] == figures["links"]
    assert rows["intersection", False]["precision"] >= rows["union", False]["precision"]
    assert rows["intersection", False]["recall"] <= rows["union", False]["recall"]
    assert all(0 <= row["aer"] <= 25 for row in rows.values())
    table = here("align", "b.tsv", "--score", "gold.tsv", "--pairs", 50).stdout
    assert "grow-diag-final-and" in table and "AER" in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("b.tsv", "--model", "nowhere"),
            "nowhere: folder not found; expected an alignment model",
        ),
        (
            ("b.tsv", "--model", "m", "--aligner", "hmm"),
            "a trained aligner (--model) sets the aligner",
        ),
        (("none.tsv",), "none.tsv: file not found"),
        (
            ("empty.tsv", "-o", "links"),
            "empty.tsv: source and target are the same text in 1 of 1 pairs",
        ),
        (("b.tsv", "--score", "b.tsv"), "b.tsv:1: expected 3 columns (source, target, links"),
    ],
)
def test_mistakes_are_one_sentence(
    here: Run, bitext: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty.tsv").write_text("a\ta\n")
    done = here("align", *arguments)
    assert done.returncode == 2 and done.stderr.startswith(f"error: {message}"), done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "links").exists()


def test_contractions(here: Run, tmp_path: Path) -> None:
    """Links are between the words that a bridge sees, a score between those that people saw."""
    (tmp_path / "en-pt.tsv").write_text("sea\tdo mar\nbig sea\tdo mar grande\nbig\tgrande\n")
    (tmp_path / "gold.tsv").write_text("sea\tdo mar\t0-1\n")
    apart, whole = 8, 6  # words of the target
    for options, target_words in (
        ((), apart),
        (("--no-contractions",), whole),
        (("--score", "gold.tsv"), whole + 2),
    ):
        done = here("align", "en-pt.tsv", "-o", "links", "--json", *options)
        assert done.returncode == 0, done.stderr
        source_words = 4 + ("--score" in options)
        assert json.loads(done.stdout)["words"] == source_words + target_words, options


def test_quiet_says_nothing(here: Run, bitext: Path, tmp_path: Path) -> None:
    loud = here("align", "b.tsv", "-o", "links")
    assert loud.returncode == 0 and "links" in loud.stdout
    for arguments in (("--quiet", "align"), ("align", "-q")):
        quiet = here(*arguments, "b.tsv", "-o", "links")
        assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
