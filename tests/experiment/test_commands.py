"""`reproduce` and `build` as a user calls them: six languages, random encoders, tiny corpora.

The figures mean nothing; that every step fits the next, up to the table and the pictures, does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from checkpoints import make

from treebridge.cli.commands import app
from treebridge.corpus.artificial import World
from treebridge.errors import TreebridgeError
from treebridge.experiment.catalog import ENTRIES, TARGETS
from treebridge.experiment.systems import SYSTEMS

WORLD = World(3)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run the command line in this process, where torch is already loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run_command(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            app(args=[str(argument) for argument in arguments], standalone_mode=False)
        except TreebridgeError as error:
            return Done(2, capsys.readouterr().out, f"error: {error}")
        return Done(0, *capsys.readouterr())

    return run_command


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in the layout of the catalog, and two encoders."""
    folder = tmp_path_factory.mktemp("data")
    for code, entry in ENTRIES.items():
        place = folder / "ud-2.6" / f"UD_{entry.treebank}"
        place.mkdir(parents=True)
        if code == "en":
            WORLD.treebank("source", 40).write(place / entry.file("train"))
            WORLD.treebank("source", 8, "dev").write(place / entry.file("dev"))
        else:
            near = "near" if code in ("es", "pt", "ro") else "far"
            WORLD.treebank(near, 8, "dev").write(place / entry.file("dev"))
            (folder / "bitext").mkdir(exist_ok=True)
            WORLD.write_bitext(folder / "bitext" / f"en-{code}.tsv", near, 400)
    make("bert", folder / "source")
    make("roberta", folder / "target")
    return folder


@pytest.fixture
def options(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    encoders = [f"{code}={data / 'target'}" for code in TARGETS if code != "el"]
    return ["--data", data, "--source-encoder", data / "source", "--encoder", *encoders,
            "--offline"]  # fmt: skip


SMALL = ["--preset", "small", "--epochs", 1, "--part", "dev", "--anchor-words", "all"]


def test_six_languages_up_to_the_table(here: Run, options: list[object], tmp_path: Path) -> None:
    command = ["reproduce", "table1", *options, *SMALL, "--seeds", 1, "-o", "out", "--systems",
               "delexicalized", "unmapped", "word+in", "treebridge"]  # fmt: skip
    plan = here(*command, "--dry-run")
    assert plan.returncode == 0, plan.stderr
    assert "3 parsers (3 input spaces, seeds 1)" in plan.stdout
    assert not (tmp_path / "out").exists()
    done = here(*command)
    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / "out" / "table1.json").read_text())["cells"]
    good = {(cell["system"], cell["language"]) for cell in cells if cell["failed"] is None}
    failed = {cell["language"] for cell in cells if cell["failed"] is not None}
    assert failed == {"el"}  # it has no encoder and may not download one
    assert good >= {("treebridge", code) for code in ("en", "es", "pt", "ro", "pl", "fi")}
    assert ("delexicalized", "el") in good
    assert "offline mode prevents downloading it" in done.stdout
    assert "paper" in done.stdout and "81.48 / 69.04" in done.stdout
    for ending in ("md", "csv", "tex"):
        assert "treebridge" in (tmp_path / "out" / f"table1.{ending}").read_text()
    again = here(*command)
    assert "training a parser" in done.stderr and "training a parser" not in again.stderr
    assert again.stdout == done.stdout


def test_every_row_runs_from_the_command_line(
    here: Run, options: list[object], data: Path, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    files = []
    for code, name in (("en", "source"), ("es", "near")):
        words = sorted({form for tree in WORLD.treebank(name, 600) for form in tree.forms})
        rows = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=8))}" for word in words]
        (tmp_path / f"{code}.vec").write_text("\n".join([f"{len(words)} 8", *rows]) + "\n")
        files.append(f"{code}={tmp_path / code}.vec")
    near, source = (WORLD.languages[name].forms for name in ("near", "source"))
    shared = sorted(set(near) & set(source))
    pairs = "".join(f"{source[sense]} {near[sense]}\n" for sense in shared)
    (tmp_path / "es.dic").write_text(pairs)
    rows = [name for name in SYSTEMS if name != "multilingual-uncased"]  # only on the hub
    done = here(
        "reproduce", "table1", *options, *SMALL, "--seeds", 1, "-o", "out", "--languages", "es",
        "--systems", *rows, "--multilingual-encoder", data / "source", "--vectors", *files,
        "--dictionary", f"es={tmp_path / 'es.dic'}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / "out" / "table1.json").read_text())["cells"]
    assert [cell["system"] for cell in cells if cell["failed"]] == []
    assert len(cells) == 2 * len(rows)
    las = {c["system"]: c["LAS"] for c in cells if c["language"] == "es" and "LAS" in c}
    assert {"multilingual", "multilingual+in"} <= set(las)  # so little data may score the same


def test_figures_and_ablation(here: Run, options: list[object], tmp_path: Path) -> None:
    drawn = here("reproduce", "anisotropy", *options, "--languages", "pt", "el", "--sentences", 50,
                "-o", "out")  # fmt: skip
    assert drawn.returncode == 0, drawn.stderr
    assert "failed: en-el" in drawn.stdout
    for name in ("anisotropy-pairs", "anisotropy-iterations"):
        assert (tmp_path / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "out" / f"{name}.svg").read_text()
    degrees = json.loads((tmp_path / "out" / "anisotropy.json").read_text())["pt"]["target"]
    assert degrees["degrees"][0] > 0.3 > 0.01 > abs(degrees["degrees"][5])
    command = ["reproduce", "ablation", *options, *SMALL, "--language", "es", "--groups", "level",
               "tags", "blend", "rounds", "refine", "order", "-o", "out"]  # fmt: skip
    done = here(*command)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "ablation.json").read_text())["variants"]
    choices = [v["choice"] for v in found]
    assert choices[:7] == ["", "word", "sense", "occurrence", "gold", "predicted", "none"]
    assert choices[7:13] == ["sense", "occurrence", "1", "2", "self", "links"]
    assert found[9]["scores"] == found[0]["scores"]
    assert choices[-2:] == ["target", "source"] and found[-2]["scores"] == found[12]["scores"]
    assert len(found) == 21 and found[11]["quality"] == found[12]["quality"]
    assert all(v["failed"] is None for v in found), found
    assert found[0]["scores"] == found[2]["scores"] == found[4]["scores"]
    assert found[5]["scores"] != found[4]["scores"]  # predicted tags, not all of them correct
    wrong = here("reproduce", "ablation", *options, "--groups", "colour", "--dry-run")
    assert wrong.returncode == 2 and "unknown group 'colour'" in wrong.stderr


def test_build(here: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    trees = data / "ud-2.6" / "UD_English-EWT" / "en_ewt-ud-train.conllu"
    gold = data / "ud-2.6" / "UD_Spanish-GSD" / "es_gsd-ud-dev.conllu"
    command = ["build", "--treebank", trees, "--bitext", data / "bitext" / "en-es.tsv",
               "--source-encoder", data / "source", "--target-encoder", data / "target", "-o", "es",
               "--preset", "small", "--epochs", 1, "--anchor-words", "all"]  # fmt: skip
    done = here(*command)
    assert done.returncode == 0, done.stderr
    for word in ("aligning words", "training", "verdict", "parser, bridge and encoder in one"):
        assert word in done.stdout or word == "verdict", word
    assert "bridge: useless: " in done.stdout and "100 %" not in done.stdout
    assert "parser: useless: LAS " in done.stdout  # forty trees and one epoch
    assert "bridging" not in done.stdout and "fitting the map" in done.stdout
    scored = here("evaluate", "--model", "es", gold, "--json")
    assert scored.returncode == 0 and '"LAS"' in scored.stdout, scored.stderr
    again = here(*command)
    assert "already built" in again.stdout
    refused = here(*command, "--level", "word")
    assert refused.returncode == 2 and refused.stderr.endswith(
        "es: holds a finished parser made from other data or settings; --force replaces it"
    )
    other = here(*command, "--level", "word", "--force")
    assert other.returncode == 0 and "training a parser" not in other.stderr, other.stderr
    assert re.search(r"^ *training .* reused", other.stdout, re.M)
    unrefined = (tmp_path / "es" / "parser.safetensors").read_bytes()
    refined = here(*command, "--refine", "--force")
    assert refined.returncode == 0 and "training a parser" not in refined.stderr, refined.stderr
    assert "refining" in refined.stdout and "fitting the map" not in refined.stdout  # reused
    assert "| refined on | `en-es.tsv` |" in (tmp_path / "es" / "README.md").read_text()
    # Scores on eight sentences may be equal by chance.
    assert (tmp_path / "es" / "parser.safetensors").read_bytes() != unrefined
    assert "already built" in here(*command, "--refine").stdout
    broken = here(*command[:3], "--bitext", "nowhere.tsv", *command[5:])
    assert broken.returncode == 2 and "nowhere.tsv: file not found" in broken.stderr
    sides = [line.split("\t") for line in (data / "bitext/en-es.tsv").read_text().splitlines()]
    (tmp_path / "es-en.tsv").write_text("".join(f"{b}\t{a}\n" for a, b in sides))
    swapped = here(*command[:3], "--bitext", "es-en.tsv", *command[5:], "--force")
    assert swapped.returncode == 2 and "source and target look swapped" in swapped.stderr
    assert "training" not in swapped.stderr


def test_mistakes(here: Run, tmp_path: Path) -> None:
    for arguments, sentence in (
        (["--languages", "xx"], "unknown language 'xx'; choose from es, pt"),
        (["--systems", "best"], "unknown system 'best'"),
        (["--encoder", "folder"], "--encoder folder: expected the form pt=FOLDER"),
        (["--corpus", "Europarl"], "an OPUS corpus as NAME/VERSION"),
    ):
        done = here("reproduce", "table1", "--dry-run", "--offline", *arguments)
        assert done.returncode == 2 and sentence in done.stderr, done.stderr
