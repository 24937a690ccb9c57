"""Outputs that are files: whole or not at all, never in the place of something special."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from conftest import Run
from treebridge.artefact import write_tensors
from treebridge.corpus.artificial import World
from treebridge.errors import TreebridgeError
from treebridge.locks import hold
from treebridge.writing import replacing, reserve, write_file


@pytest.fixture
def draw(here: Run, tmp_path: Path):
    """`treebridge draw -o`: the lightest command that writes a file as `parse` does."""
    World().treebank("source", 2).write(tmp_path / "t.conllu")
    return lambda *arguments: here("draw", "t.conllu", *arguments)


def test_links_are_followed_and_pipes_written_through(draw, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    assert "exists; --force replaces it" in draw("-o", "link").stderr
    assert draw("-o", "link", "--force").returncode == 0
    assert (tmp_path / "link").is_symlink() and "╼" in (tmp_path / "real").read_text()
    (tmp_path / "dangling").symlink_to("new/file")
    assert draw("-o", "dangling").returncode == 0
    assert (tmp_path / "dangling").is_symlink() and (tmp_path / "new/file").is_file()
    (tmp_path / "loop").symlink_to("loop")
    assert "choose another path" in draw("-o", "loop", "--force").stderr
    os.mkfifo(tmp_path / "pipe")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_text()))
    reader.start()
    assert draw("-o", "pipe", "--force").returncode == 0
    reader.join(10)
    assert found and "╼" in found[0] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    (tmp_path / "null").symlink_to("/dev/null")
    for place in ("/dev/null", "null"):
        assert draw("-o", place).returncode == 0, "nothing can be lost there, so no --force"
        assert draw("-o", place, "--force").returncode == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode) and (tmp_path / "null").is_symlink()
    assert not any(path.name.startswith(".") for path in tmp_path.iterdir())


def test_full_devices_are_reported(draw) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = draw("-o", "/dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("error: /dev/full: cannot be written: the disk is full")


def test_full_standard_output(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    World().treebank("source", 2).write(tmp_path / "t.conllu")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "treebridge", "draw", "t.conllu"],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: the disk is full; free some space and run again\n"


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    for mask, mode in ((0o022, 0o644), (0o007, 0o660), (0o077, 0o600)):
        before = os.umask(mask)
        try:
            write_file(tmp_path / "a", "text")
            with replacing(tmp_path / "b") as new:
                write_tensors(new, {"x": np.zeros(2)})  # by itself it is for the owner alone
        finally:
            os.umask(before)
        for name in "ab":
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode


def test_leftovers_of_killed_runs_are_removed(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom treebridge.writing import replacing\n"
        "with replacing('out') as new:\n    new.write_text('half')\n    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.") and left.suffix == ".part"
    os.utime(left, (0, 0))
    mine = tmp_path / ".out.mine"
    mine.write_text("the user's own")
    with replacing(tmp_path / "out") as first:
        first.write_text("slow")
        os.utime(first, (0, 0))
        write_file(tmp_path / "out", "quick")  # another run: it leaves what is being written
        assert first.exists() and not left.exists()
    assert (tmp_path / "out").read_text() == "slow" and mine.exists()


def test_reserved_room_is_taken_and_content_kept(tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_bytes(b"abc")
    reserve(path, 1 << 20)
    assert path.stat().st_size == 1 << 20 and path.stat().st_blocks * 512 >= 1 << 20
    assert path.read_bytes()[:5] == b"abc\0\0"
    with path.open("r+b") as stream:  # as an older version left it: all holes
        stream.truncate(0)
        stream.truncate(1 << 20)
    assert path.stat().st_blocks == 0
    reserve(path, 1 << 20)
    assert path.stat().st_blocks * 512 >= 1 << 20


@pytest.mark.parametrize("has_allocate", [True, False])
def test_reserving_on_a_full_disk_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_allocate: bool
) -> None:
    resource = pytest.importorskip("resource")
    if not has_allocate:
        monkeypatch.delattr(os, "posix_fallocate")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(TreebridgeError, match="map: cannot be written: file too large"):
            reserve(tmp_path / "map", 1 << 22)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_second_run_is_told_who_holds_the_output(draw, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom treebridge.locks import hold\n"
        "with hold('deep/out.txt'):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout and other.stdout.readline() == "held\n"
    done = draw("-o", "deep/out.txt")
    assert done.returncode == 2 and not (tmp_path / "deep/out.txt").exists()
    assert f"process {other.pid} on " in done.stderr and "is writing this output" in done.stderr
    other.kill()  # the lock ends with it
    other.wait()
    assert draw("-o", "deep/out.txt").returncode == 0
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out.txt"]


def test_a_run_that_waits(tmp_path: Path) -> None:
    order = []

    def second() -> None:
        with hold(tmp_path / "out", wait=True):
            order.append("second")

    with hold(tmp_path / "out"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"] and not list(tmp_path.iterdir())


def test_places_that_cannot_be_written(draw, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    for output, reason in (
        ("file/deep/out", "part of this path is a file, not a folder"),
        ("file/out", "a file is in the way"),
        ("x" * 250, "the file name is too long"),
        ("a/b/" + "x" * 300, "the file name is too long"),
        ("/proc/out", "no such file or folder"),
    ):
        done = draw("-o", output)
        assert done.returncode == 2 and reason in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before  # and no folder made on the way


def test_a_failed_folder_of_pictures_leaves_nothing(here: Run, tmp_path: Path) -> None:
    text = World().treebank("source", 3)
    bad = "".join(tree.to_conllu() for tree in text) + "1\tbad\n\n"
    (tmp_path / "t.conllu").write_text(bad, encoding="utf-8")
    done = here("draw", "t.conllu", "--format", "svg", "-o", "new/pictures")
    assert done.returncode == 2 and [p.name for p in tmp_path.iterdir()] == ["t.conllu"]
