"""Further treebanks by command: joined, chosen, ranked; with errors that name the fix."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from latent import LatentEncoder
from made import command
from sisters import FIVE, WORLD

from conftest import Run
from treebridge import Parser
from treebridge.parse.probe import Gain
from treebridge.parse.settings import PRESETS
from treebridge.recipes.sources import Candidate

LANGUAGES = {"source": "qaa", "near": "qab", "far": "qac", "sister": "qad"}


def write_vectors(path: Path, language: str) -> None:
    """Word vectors that are a rotation of those of the other languages."""
    encoder = LatentEncoder(WORLD.languages[language], context=0)
    trees = (*WORLD.treebank(language, 300), *WORLD.treebank(language, 40, "dev"))
    told = (pair.target for pair in WORLD.pairs(language, 900))
    words = sorted({form for tree in (*trees, *told) for form in tree.forms})
    rows = (f"{word} " + " ".join(f"{x:.4f}" for x in encoder([word])[0]) for word in words)
    path.write_text(f"{len(words)} {encoder.dim}\n" + "\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A parser of the source, bridges of three languages, and treebanks of two of them."""
    folder = tmp_path_factory.mktemp("sources")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEBRIDGE_CACHE", str(folder / "cache"))
        patch.setitem(PRESETS, "small", FIVE)  # more steps on few trees
        patch.chdir(folder)
        for name, code in LANGUAGES.items():
            write_vectors(folder / f"{code}.vec", name)
            WORLD.treebank(name, 300 if name == "source" else 150).write(folder / f"{code}.conllu")
        WORLD.treebank("source", 30, "dev").write(folder / "dev.conllu")
        WORLD.treebank("far", 60, "dev").write(folder / "gold.conllu")
        small = ["--dev", "dev.conllu", "--preset", "small"]
        command("train", "qaa.conllu", "--encoder", "qaa.vec", *small, "-o", "en")
        (folder / "choice").mkdir()
        for where in (folder, folder / "choice"):
            (where / "LICENSE.txt").write_text("Attribution-ShareAlike 4.0 International\n")
        for name in ("near", "far", "sister"):
            code = LANGUAGES[name]
            WORLD.write_bitext(folder / f"qaa-{code}.tsv", name, 900)
            command(
                "bridge", f"qaa-{code}.tsv", "--into", "en", "--target-encoder", f"{code}.vec",
                "--source-language", "qaa", "-o", f"choice/qaa-{code}",
            )  # fmt: skip
        for code in ("qab", "qad"):
            (folder / f"choice/{code}.conllu").write_bytes((folder / f"{code}.conllu").read_bytes())
        yield folder


@pytest.fixture
def tmp_path(place: Path) -> Path:
    """`here` runs commands in the same folder."""
    return place


TRAIN = ("train", "qaa.conllu", "--encoder", "qaa.vec", "--dev", "dev.conllu", "--preset", "small")  # fmt: skip
SISTER = "--also=qad.conllu=choice/qaa-qad"


def las(*model: object) -> float:
    return json.loads(command("evaluate", *model, "gold.conllu", "--json"))["LAS"]


def test_a_sister_joins_the_training(place: Path) -> None:
    command(*TRAIN, SISTER, "-o", "hub")
    bridge = ("--bridge", "choice/qaa-qac")
    assert las("--model", "hub", *bridge) > las("--model", "en", *bridge) + 10
    (source,) = Parser.load("hub").about["sources"]
    assert source["treebank"] == "qad.conllu" and source["licence"] == "CC BY-SA 4.0"
    assert source["language"] == "qad" and source["weight"] > 1
    printed = command(*TRAIN, SISTER, "-o", "hub")
    assert "already trained" in printed  # nothing is done twice
    assert "also: qad.conllu (CC BY-SA 4.0), 150 sentences" in " ".join(printed.split())
    figures = json.loads(command(*TRAIN, SISTER, "-o", "hub", "--json"))
    assert figures["sources"] == [source] and figures["scores"]["LAS"] > 40


def test_the_ranking_is_that_of_the_languages(place: Path) -> None:
    """The sister has the target's word order; the other language has that of the source."""
    asked = ("sources", "--model", "en", "--bridge", "choice/qaa-qac", "--treebank", "qaa.conllu",
             "--bridges", "qab.conllu=choice/qaa-qab", "qad.conllu=choice/qaa-qad")  # fmt: skip
    found = json.loads(command(*asked, "--json"))
    assert [one["language"] for one in found["sources"]] == ["qad", "qab"]
    assert [one["helps"] for one in found["sources"]] == [True, False]
    assert not found["judged"] and found["sources"][0]["gain"] is None
    unknown = [word for word in asked if word not in ("--treebank", "qaa.conllu")]
    assert [one["helps"] for one in json.loads(command(*unknown, "--json"))["sources"]] == [
        None
    ] * 2
    told = ("--bitext", "qaa-qac.tsv", "--source-language", "qaa")
    judged = json.loads(command(*asked, *told, "--json"))
    first, second = judged["sources"]
    assert first["language"] == "qad" and first["gain"] > second["gain"] and first["helps"]
    assert first["gain_low"] > 0 and judged["target"] == "qac"
    assert first["expected_LAS"] > second["expected_LAS"] > 0
    printed = " ".join(command(*asked, "--target-text", "gold.conllu").split())
    assert "qad.conllu" in printed and "use it" in printed and "leave it out" in printed
    assert "--also qad.conllu=choice/qaa-qad" in printed


def test_treebanks_are_chosen_from_a_folder(place: Path) -> None:
    command(*TRAIN, "--also", "auto:choice", "--bridge", "choice/qaa-qac", "-o", "chosen")
    (source,) = Parser.load("chosen").about["sources"]
    assert source["treebank"] == "qad.conllu"


def test_a_build_chooses_for_its_own_target(place: Path) -> None:
    command(
        "build", "--treebank", "qaa.conllu", "--dev", "dev.conllu", "--bitext", "qaa-qac.tsv",
        "--source-language", "qaa", "--source-encoder", "qaa.vec", "--target-encoder", "qac.vec",
        "--preset", "small", "--also", "auto:choice", "--refine", "-o", "built",
    )  # fmt: skip
    built = Parser.load("built")
    assert [one["treebank"] for one in built.about["sources"]] == ["qad.conllu"]
    assert las("--model", "built") > 40
    card = (place / "built" / "README.md").read_text("utf-8")
    assert "| further treebank | `qad.conllu` (CC BY-SA 4.0): 150 sentences" in card


def test_models_refine_on_several_bitexts(place: Path) -> None:
    lines = (f"{p.source.text}\t{p.target.text}\n" for p in WORLD.pairs("far", 300, "sister"))
    (place / "qad-qac.tsv").write_text("".join(lines), encoding="utf-8")
    command(
        "build", "--treebank", "qaa.conllu", "--dev", "dev.conllu", "--bitext", "qaa-qad.tsv",
        "--source-language", "qaa", "--source-encoder", "qaa.vec", "--target-encoder", "qad.vec",
        "--preset", "small", SISTER, "-o", "qad",
    )  # fmt: skip
    command(
        "refine", "--model", "en", "--bridge", "choice/qaa-qac", "--epochs", 1,
        "--bitext", "qaa-qac.tsv", "--source-language", "qaa", "--bitext", "qad-qac.tsv=qad",
        "--treebank", "qaa.conllu", SISTER, "--weights", "1,2", "-o", "refined",
    )  # fmt: skip
    refined = Parser.load("refined")
    about = refined.about["refined"]
    assert about["bitexts"] == ["qad-qac.tsv"] and about["also"][0]["treebank"] == "qad.conllu"
    assert np.isfinite(las("--model", "refined"))
    command(  # the parser itself reads the sister's side, across her bridge
        "refine", "--model", "en", "--bridge", "choice/qaa-qac", "--epochs", 1,
        "--bitext", "qad-qac.tsv=choice/qaa-qad", "-o", "refined-by-bridge",
    )  # fmt: skip
    assert np.isfinite(las("--model", "refined-by-bridge"))
    said = command(
        "refine", "--model", "refined-by-bridge", "--bitext", "qaa-qac.tsv", "--epochs", 0,
        "--source-language", "qaa", "--tune", "map", "-o", "with-tags",
    )  # fmt: skip
    assert "trees as before" in said
    before, after = (Parser.load(name) for name in ("refined-by-bridge", "with-tags"))
    for name, weight in before.biaffine.state_dict().items():
        assert (weight == after.biaffine.state_dict()[name]).all()
    assert after.tag_prior is not None


def test_refine_chooses_too(place: Path, here: Run) -> None:
    asked = ("refine", "--model", "en", "--bridge", "choice/qaa-qac", "--bitext", "qaa-qac.tsv",
             "--source-language", "qaa", "--epochs", 1, "--also", "auto:choice")  # fmt: skip
    done = here(*asked, "-o", "refined-2")
    assert done.returncode == 2 and "needs the first treebank too" in done.stderr
    command(*asked, "--treebank", "qaa.conllu", "-o", "refined-2")
    (source,) = Parser.load("refined-2").about["refined"]["also"]
    assert source["treebank"] == "qad.conllu"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["--also", "qad.conllu"],
            "does not name a treebank and its bridge; write TREEBANK=BRIDGE",
        ),
        (["--also", "qad.conllu=nowhere"], "nowhere: folder not found; expected a bridge"),
        (["--also", "qad.conllu=en"], "this model has no bridge"),
        (["--also", "none.conllu=choice/qaa-qad"], "none.conllu: file not found"),
        (["--also", "auto:nowhere"], "nowhere: folder not found; expected treebanks and their"),
        (["--also", "auto:en"], "no treebank here has a bridge"),
        (["--also", "auto:choice"], "needs the bridge of the target language"),
        ([SISTER, "--weights", "1,2,3"], "3 weights for 2 treebanks"),
        ([SISTER, "--weights", "one,2"], "are not weights"),
        ([SISTER, "--weights", "1,-2"], "must not be negative"),
        ([SISTER, "--encoder", "qab.vec"], "leads into the space of"),
    ],
)
def test_mistakes_are_one_sentence(place: Path, here: Run, given: list[str], said: str) -> None:
    done = here(*TRAIN, *given, "-o", "wrong")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert said in " ".join(done.stderr.replace("│", " ").split()), done.stderr
    assert not (place / "wrong").exists()


def test_word_order_ranks_candidates_and_harm_comes_last() -> None:
    def candidate(order: float, gain: tuple[float, float, float] | None) -> Candidate:
        return Candidate(None, None, order, 70.0, None, 90.0, gain and Gain(*gain))

    near, noisy = candidate(95.0, (1.0, -0.5, 2.5)), candidate(92.0, (4.0, 3.0, 5.0))
    far, useful = candidate(80.0, (0.2, -0.5, 0.9)), candidate(80.0, (2.0, 0.5, 3.5))
    broken = candidate(99.0, (-4.0, -5.0, -3.0))
    ranked = sorted([far, broken, noisy, useful, near], key=lambda one: one.rank, reverse=True)
    assert ranked == [near, noisy, useful, far, broken]
    assert [one.helps for one in ranked] == [True, True, True, False, False]
    assert candidate(95.0, None).helps and not candidate(80.0, None).helps
