"""Every command that makes a model: done twice, with other settings, and with --force."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from made import QUICK, TRAIN, WORLD, make_vectors
from safetensors import SafetensorError

from conftest import Run
from treebridge import Parser, TreebridgeError
from treebridge.recipes.pack import pack_encoder

OTHER = "made from other data or settings; --force replaces it\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))


def check(here: Run, output: Path, command: list[object], other: list[object]) -> None:
    """Made, found again, refused with other settings, replaced with --force: the user's file stays."""
    first = here(*command)
    assert first.returncode == 0, first.stderr
    (output / "notes.txt").write_text("mine")
    config = (output / "config.json").stat().st_mtime_ns
    again = here(*command)
    assert again.returncode == 0 and "already" in again.stdout + again.stderr, again.stderr
    assert (output / "config.json").stat().st_mtime_ns == config
    refused = here(*command, *other)
    assert refused.returncode == 2 and refused.stderr.splitlines(True)[-1].endswith(OTHER)
    assert (output / "config.json").stat().st_mtime_ns == config
    forced = here(*command, *other, "--force")
    assert forced.returncode == 0, forced.stderr
    assert (output / "config.json").stat().st_mtime_ns > config
    assert (output / "notes.txt").read_text() == "mine"
    assert "already" in here(*command, *other).stdout + here(*command, *other).stderr


def test_train(here: Run, tmp_path: Path) -> None:
    TRAIN[:40].write(tmp_path / "train.conllu")
    make_vectors(tmp_path / "source.vec", TRAIN)
    command = ["train", "train.conllu", "--encoder", "source.vec", "-o", "en", "--preset", "small"]
    check(here, tmp_path / "en", [*command, "--epochs", 1], ["--seed", 2])
    TRAIN[:41].write(tmp_path / "train.conllu")  # other data under the same name
    assert here(*command, "--epochs", 1, "--seed", 2).returncode == 2


def test_refine(here: Run, home: Path, tmp_path: Path) -> None:
    WORLD.treebank("source", 12).write(tmp_path / "trees.conllu")
    command = ["refine", "--model", home / "bridged", "--trees", "trees.conllu", "-o", "better"]
    check(here, tmp_path / "better", [*command, "--epochs", 1], ["--seed", 2])
    inside = here("refine", "--model", "better", "--trees", "trees.conllu", "-o", "better")
    assert inside.returncode == 2 and inside.stderr.endswith(OTHER)


def test_bridge(here: Run, tmp_path: Path) -> None:
    make_vectors(tmp_path / "source.vec", WORLD.treebank("source", 300))
    make_vectors(tmp_path / "target.vec", WORLD.treebank("near", 300))
    WORLD.write_bitext(tmp_path / "b.tsv", "near", 150)
    command = ["bridge", "b.tsv", "--source-encoder", "source.vec", "--target-encoder", "target.vec", "-o", "b",
               "--source-language", "qaa", "--json"]  # fmt: skip
    check(here, tmp_path / "b", command, ["--level", "word"])
    assert here(*command, "--level", "word").stdout.startswith('{"made": ')


def test_pretrain_and_pack(here: Run, tmp_path: Path) -> None:
    lines = list(WORLD.text("source", 300))
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["pretrain", "text.txt", "-o", "mini", "--tokens", 2000, "--vocabulary", 200,
               "--layers", 1, "--hidden", 16, "--heads", 2, "--feed-forward", 16]  # fmt: skip
    check(here, tmp_path / "mini", command, ["--seed", 2])
    pack_encoder(tmp_path / "mini", tmp_path / "packed")
    pack_encoder(tmp_path / "mini", tmp_path / "packed")
    assert here(*command, "--seed", 3, "--force").returncode == 0
    with pytest.raises(TreebridgeError, match="made from other data or settings"):
        pack_encoder(tmp_path / "mini", tmp_path / "packed")
    pack_encoder(tmp_path / "mini", tmp_path / "packed", force=True)


def test_aligner(here: Run, tmp_path: Path) -> None:
    WORLD.write_bitext(tmp_path / "b.tsv", "near", 60)
    command = ["align", "b.tsv", "-o", "links", "--save-model", "m"]
    assert here(*command).returncode == 0
    refused = here(*command, "--engine", "fast-align")
    assert refused.returncode == 2 and refused.stderr.endswith(OTHER)
    assert here(*command, "--engine", "fast-align", "--force").returncode == 0


def test_demo_and_reproduce_do_not_work_among_your_files(here: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("mine")
    for command in (["demo"], ["reproduce", "table1", "--offline"], ["reproduce", "ablation"],
                    ["reproduce", "anisotropy"]):  # fmt: skip
        done = here(*command, "-o", "mine")
        assert done.returncode == 2 and "was not made by" in done.stderr, done.stderr
        assert done.stderr.endswith("--force replaces it\n")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["report.html"]


@pytest.mark.parametrize("seed", [-1, 2**24, 2**30, 2**64])
def test_seeds_that_there_are_not(here: Run, seed: int) -> None:
    common = ["-o", "x", "--seed", seed]
    for command in (
        ["train", "t.conllu", "--encoder", "e", *common],
        ["bridge", "b.tsv", "--target-encoder", "e", *common],
        ["build", "--treebank", "t", "--bitext", "b", "--source-encoder", "e",
         "--target-encoder", "e", *common],
        ["refine", "--model", "m", *common],
        ["pretrain", "t.txt", *common],
        ["demo", *common],
    ):  # fmt: skip
        done = here(*command)
        assert done.returncode == 2
        assert done.stderr == f"error: seed is {seed}; expected a number from 0 to 16,777,215\n"
    if seed > 0:
        done = here("reproduce", "table1", "--first-seed", seed, "-o", "x", "--dry-run")
        assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_the_largest_seed_trains(tmp_path: Path) -> None:
    encoder = make_vectors(tmp_path / "source.vec", TRAIN)
    Parser.train(TRAIN[:40], encoder, settings=replace(QUICK, seed=2**24 - 1, epochs=2))


@pytest.mark.parametrize("device", ["cuda", "mps", "tpu"])
def test_devices_that_are_not_there(here: Run, home: Path, tmp_path: Path, device: str) -> None:
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("there is one")
    if device == "mps" and torch.backends.mps.is_available():
        pytest.skip("there is one")
    (tmp_path / "a.txt").write_text("One two.\n", encoding="utf-8")
    TRAIN[:40].write(tmp_path / "train.conllu")
    for command in (
        ["parse", "--model", home / "model", "a.txt"],
        ["train", "train.conllu", "--encoder", home / "vectors.vec", "-o", "x"],
        ["pretrain", "a.txt", "-o", "x"],
    ):
        done = here(*command, "--device", device)
        assert done.returncode == 2 and done.stderr.startswith(f"error: device {device}: ")
        assert done.stderr.count("\n") == 1 and not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (EOFError("No data left in file"), "a file is truncated (No data left in file)"),
        (MemoryError(), "not enough memory"),
        (OSError("100 requested and 3 written"), "is the disk full?"),
        (OSError(30, "", "out/x"), "out/x: the file system is read-only; choose another path"),
        (PermissionError(13, "", "out/x"), "out/x: permission denied"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you"), "not enough memory"),
    ],
)
def test_what_the_system_says_is_one_sentence(
    here: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("treebridge.show.models.show_models", fail)
    done = here("models")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ") and sentence in done.stderr
    with pytest.raises(TreebridgeError) as caught:
        here("models", "--debug")
    assert caught.value.__cause__ is error


def test_damaged_weights_are_one_sentence(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    test_what_the_system_says_is_one_sentence(
        here, monkeypatch, SafetensorError("invalid header"), "damaged weights (invalid header)"
    )


def test_mistakes_of_ours_are_not_hidden(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treebridge.show.models.show_models", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        here("models")


def test_the_output_is_tried_before_the_work(
    here: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place that cannot be written is found before anything is loaded, in every command."""
    (tmp_path / "file").write_text("mine")
    for name in ("a.txt", "t.conllu", "b.tsv"):
        (tmp_path / name).write_text("x\ty\n")
    output = ["-o", "file/x"]
    for command in (
        ["parse", "--model", home / "model", "a.txt", *output],
        ["draw", "t.conllu", *output],
        ["align", "b.tsv", *output],
        ["align", "b.tsv", "--save-model", "file/x"],
        ["train", "t.conllu", "--encoder", "none", *output],
        ["bridge", "b.tsv", "--target-encoder", "none", "--source-encoder", "none", *output],
        ["build", "--treebank", "t.conllu", "--bitext", "b.tsv", "--source-encoder", "none",
         "--target-encoder", "none", *output],
        ["refine", "--model", "none", "--trees", "t.conllu", *output],
        ["pretrain", "a.txt", *output],
        ["demo", *output],
        ["reproduce", "table1", *output],
        ["reproduce", "ablation", *output],
        ["reproduce", "anisotropy", *output],
    ):  # fmt: skip
        done = here(*command)
        assert done.returncode == 2, command
        assert re.match(
            "error: file/x.*: cannot be written: .* file.*; choose another", done.stderr
        )
        assert done.stderr.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"
