"""A disk that is full at the first, second, … write: one sentence, exit code 2, nothing half there."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made import WORLD, make_vectors

from conftest import Run
from treebridge import Bridge, Parser, Treebank

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
# A hook cannot be removed, so that it asks this dictionary whether anything is to be done.
DISK: dict[str, Any] = {"folder": None, "writes": 0, "full_at": None}


def write_to(path: object) -> None:
    """Count a write below the folder, and refuse it when its turn has come."""
    if not DISK["folder"] or not os.fsdecode(path).startswith(DISK["folder"]):  # type: ignore[arg-type]
        return
    DISK["writes"] += 1
    if DISK["writes"] == DISK["full_at"]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    made = event == "os.mkdir" and not Path(arguments[0]).exists()
    opened = event == "open" and not isinstance(arguments[0], int) and arguments[2] & WRITING
    if made or opened or event == "os.rename":
        write_to(arguments[0])


sys.addaudithook(hook)


@pytest.fixture
def full_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Let the disk be full at the n-th write; libraries in Rust and C are helped to notice."""
    from safetensors import SafetensorError, numpy

    save_file, allocate = numpy.save_file, os.posix_fallocate

    def save(tensors: Any, path: str, *more: Any, **named: Any) -> None:
        try:
            write_to(path)
        except OSError as error:
            raise SafetensorError(
                f"Error while serializing: I/O error: {error.strerror} (os error {error.errno})"
            ) from None
        save_file(tensors, path, *more, **named)

    def reserve(descriptor: int, start: int, size: int) -> None:
        write_to(DISK["folder"] or "")
        allocate(descriptor, start, size)

    def begin(number: int) -> None:
        DISK.update(folder=str(tmp_path), writes=0, full_at=number)

    monkeypatch.setattr(numpy, "save_file", save)
    monkeypatch.setattr(os, "posix_fallocate", reserve)
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / "cache"))
    yield begin
    DISK["folder"] = None


def files(folder: Path) -> set[str]:
    """All that is not cache nor checkpoints of an interrupted run."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return {name for name in found if not name.startswith(("cache", ".parser.training"))}


def fill_up(
    here: Run, full_at: Callable[[int], None], folder: Path, command: list[object], output: str
) -> int:
    """Run a command until it has room enough; the number of writes that failed on the way."""
    before = files(folder)
    for number in range(1, 200):
        full_at(number)
        done = here(*command)
        DISK["folder"] = None
        if DISK["writes"] < number:
            assert done.returncode == 0, done.stderr
            return number - 1
        assert done.returncode == 2, (number, done.stdout, done.stderr)
        said = done.stderr.splitlines()
        assert said[-1].startswith("error: ") and "the disk is full" in said[-1], said
        assert "Traceback" not in done.stderr and sum("error" in line for line in said) == 1
        left = files(folder) - before
        assert not left or all(name.startswith(output) for name in left), (number, left)
        if left:  # only what comes after the output failed, which is whole
            assert (folder / output / "config.json").exists()
            assert not any(".part" in name or ".lock" in name for name in left)
            shutil.rmtree(folder / output)
    raise AssertionError("it never ends")


def test_parse(here: Run, home: Path, full_at: Callable[[int], None], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One two.\n", encoding="utf-8")
    command = ["parse", "--model", home / "model", "a.txt", "-o"]
    assert fill_up(here, full_at, tmp_path, [*command, "new/out.conllu"], "new") >= 5
    assert len(Treebank.read(tmp_path / "new/out.conllu")) == 1
    (tmp_path / "out").write_text("old")
    fill_up(here, full_at, tmp_path, [*command, "out", "--force"], "out")
    assert len(Treebank.read(tmp_path / "out")) == 1


@pytest.fixture
def data(tmp_path: Path) -> Path:
    make_vectors(tmp_path / "source.vec", WORLD.treebank("source", 300))
    make_vectors(tmp_path / "target.vec", WORLD.treebank("near", 300))
    WORLD.treebank("source", 40).write(tmp_path / "train.conllu")
    WORLD.write_bitext(tmp_path / "b.tsv", "near", 150)
    return tmp_path


def test_train(here: Run, data: Path, full_at: Callable[[int], None]) -> None:
    command = ["train", "train.conllu", "--encoder", "source.vec", "-o", "parser",
               "--preset", "small", "--epochs", 1]  # fmt: skip
    assert fill_up(here, full_at, data, command, "parser") >= 15
    assert Parser.load(data / "parser").history


def test_bridge(here: Run, data: Path, full_at: Callable[[int], None]) -> None:
    command = ["bridge", "b.tsv", "--source", "source.vec", "--target", "target.vec", "-o", "b",
               "--source-language", "qaa"]  # fmt: skip
    assert fill_up(here, full_at, data, command, "b") >= 15
    assert Bridge.load(data / "b").quality["links"]


@pytest.mark.parametrize("size", [0, 30, 300, 3000, 30_000])
def test_files_that_cannot_grow(here: Run, data: Path, size: int, monkeypatch) -> None:
    """The same by the system itself, which also stops libraries that are not written in Python."""
    resource = pytest.importorskip("resource")
    monkeypatch.setenv("TREEBRIDGE_CACHE", str(data / "cache"))
    command = ["train", "train.conllu", "--encoder", "source.vec", "-o", "parser",
               "--preset", "small", "--epochs", 1]  # fmt: skip
    before, limits = files(data), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        done = here(*command)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr and files(data) == before
    assert here(*command).returncode == 0
