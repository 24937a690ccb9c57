"""Outputs that are folders: replaced when asked for, recovered, and nothing of the user's lost."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treebridge.artefact import write_config, write_tensors
from treebridge.errors import OutputExists, TreebridgeError
from treebridge.folders import NOTE, check_free, is_finished, new_folder, work_folder

KIND = "parser"


def save(path: Path, *names: str, key: str | None = None) -> None:
    with new_folder(path, KIND, key=key) as folder:
        write_config(folder, KIND, 1, {})
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            write_tensors(folder / name, {"x": np.ones(3)})


def files(path: Path) -> list[str]:
    return sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if not p.is_dir())


def test_what_the_user_put_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "en"
    save(path, "a.safetensors", "sub/b.safetensors")
    (path / "notes.txt").write_text("mine")
    (path / "sub" / "mine.safetensors").write_bytes(b"mine")
    (path / "link").symlink_to("notes.txt")
    (path / "empty").mkdir()
    for _ in range(2):
        save(path, "c.safetensors")
        assert files(path) == sorted(
            [NOTE, "c.safetensors", "config.json", "link", "notes.txt", "sub/mine.safetensors"]
        )
        assert (path / "notes.txt").read_text() == "mine" and (path / "empty").is_dir()
        assert (path / "link").is_symlink()
    with pytest.raises(TreebridgeError, match=r"notes.txt .* was not written by treebridge"):
        save(path, "notes.txt")
    assert (path / "notes.txt").read_text() == "mine" and (path / "c.safetensors").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["en"]


def test_folders_of_versions_without_a_note(tmp_path: Path) -> None:
    path = tmp_path / "en"
    save(path, "parser.safetensors", "bridge/w.safetensors")
    (path / NOTE).unlink()
    for name in ("notes.txt", "mine/parser.safetensors"):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text("mine")
    save(path, "parser.safetensors")
    wanted = [NOTE, "config.json", "mine/parser.safetensors", "notes.txt", "parser.safetensors"]
    assert files(path) == sorted(wanted)


def test_finished_folders_are_found_again_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "en"
    assert not is_finished(path, KIND, "one")
    save(path, key="one")
    assert is_finished(path, KIND, "one") and not is_finished(path, KIND, "one", force=True)
    for other in ("two", None):
        with pytest.raises(OutputExists, match="made from other data or settings") as caught:
            is_finished(path, KIND, other)
        assert "--" not in str(caught.value)  # flags are the command line's business
        assert not is_finished(path, KIND, other, force=True)
    with pytest.raises(TreebridgeError, match="exists and is not a bridge"):
        is_finished(path, "bridge", "one", force=True)


def test_damaged_notes_are_no_reason_to_lose_anything(tmp_path: Path) -> None:
    path = tmp_path / "en"
    save(path, "parser.safetensors", key="one")
    (path / "notes.txt").write_text("mine")
    for damage in ("", "[]", '{"files": 3}', "[" * 10**5, '{"files": [3]}'):
        (path / NOTE).write_text(damage)
        with pytest.raises(OutputExists):
            is_finished(path, KIND, "one")
        save(path, "parser.safetensors", key="one")
        assert (path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("moment", [1, 2])
def test_killed_between_the_two_renames(tmp_path: Path, moment: int) -> None:
    """Before the second rename, and just after it, when the old folder is still aside."""
    save(tmp_path / "en", key="old")
    code = f"""
import os, pathlib, sys
from treebridge.folders import new_folder
from treebridge.artefact import write_config
renames, replace = [], pathlib.Path.replace
def dying(self, target):
    if len(renames) == {moment}:
        os.kill(os.getpid(), 9)
    renames.append(target)
    return replace(self, target)
import shutil
shutil.rmtree = lambda *a, **k: os.kill(os.getpid(), 9)
pathlib.Path.replace = dying
with new_folder('en', {KIND!r}, key='new') as folder:
    write_config(folder, {KIND!r}, 1, {{}})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == -9
    assert (tmp_path / "en").exists() == (moment == 2)
    assert len(list(tmp_path.glob(".en.old.*"))) == 1
    assert is_finished(tmp_path / "en", KIND, "old" if moment == 1 else "new")
    save(tmp_path / "en", key="newer")
    assert [p.name for p in tmp_path.iterdir()] == ["en"]


def test_a_folder_that_an_older_version_left_aside(tmp_path: Path) -> None:
    save(tmp_path / "en")
    (tmp_path / ".en.old.k3_x9abc").mkdir()
    (tmp_path / "en").rename(tmp_path / ".en.old.k3_x9abc" / "old")
    (tmp_path / ".en.training").mkdir()  # checkpoints, not leftovers
    check_free(tmp_path / "en", KIND)
    assert files(tmp_path / "en") and (tmp_path / ".en.training").exists()
    assert not (tmp_path / ".en.old.k3_x9abc").exists()


def test_leftovers_of_killed_runs_are_removed(tmp_path: Path) -> None:
    code = f"""
import os
from treebridge.folders import new_folder
with new_folder('en', {KIND!r}) as folder:
    (folder / 'half').write_text('x')
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    (left,) = tmp_path.iterdir()
    with new_folder(tmp_path / "en", KIND) as slow:
        write_config(slow, KIND, 1, {})
        assert not left.exists()
        save(tmp_path / "en")  # another run: it leaves what is being made
        assert slow.exists()
    assert [p.name for p in tmp_path.iterdir()] == ["en"]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    for mask in (0o022, 0o007, 0o077):
        before = os.umask(mask)
        try:
            save(tmp_path / "en", "a.safetensors", "sub/b.safetensors")
        finally:
            os.umask(before)
        for path in [tmp_path / "en", *(tmp_path / "en").rglob("*")]:
            wanted = (0o777 if path.is_dir() else 0o666) & ~mask
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_links_to_folders_are_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        save(tmp_path / "link")
        assert (tmp_path / "link").is_symlink() and (tmp_path / "real/config.json").exists()


def test_a_failed_folder_is_not_left_behind(tmp_path: Path) -> None:
    save(tmp_path / "en", key="old")
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "en", KIND) as folder:
        (folder / "half").write_text("x")
        raise ZeroDivisionError
    assert is_finished(tmp_path / "en", KIND, "old") and len(list(tmp_path.iterdir())) == 1


def test_folders_to_work_in(tmp_path: Path) -> None:
    work_folder(tmp_path / "new", "demo", (), key="1")
    work_folder(tmp_path / "new", "demo", (), key="1")
    with pytest.raises(OutputExists, match="results of a different `demo`"):
        work_folder(tmp_path / "new", "demo", (), key="2")
    work_folder(tmp_path / "new", "demo", (), key="2", force=True)
    assert json.loads((tmp_path / "new" / NOTE).read_text())["key"] == "2"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "table1.md").write_text("mine")
    with pytest.raises(OutputExists, match="not made by `reproduce`"):
        work_folder(tmp_path / "mine", "reproduce", ("runs",))
    (tmp_path / "mine" / "runs").mkdir()  # as older versions left it
    work_folder(tmp_path / "mine", "reproduce", ("runs",))
    assert (tmp_path / "mine" / "table1.md").read_text() == "mine"
