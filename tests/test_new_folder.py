"""A folder takes its place whole or not at all, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from treebridge.artefact import read_config, write_config
from treebridge.errors import TreebridgeError
from treebridge.folders import new_folder


def make(path: Path, content: str) -> None:
    with new_folder(path, "parser") as folder:
        write_config(folder, "parser", 1, {"content": content})


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failed_folder_is_not_left_behind(
    tmp_path: Path, error: type[BaseException], before: bool
) -> None:
    path = tmp_path / "made"
    if before:
        make(path, "old")
    with pytest.raises((error, TreebridgeError)), new_folder(path, "parser") as folder:
        (folder / "half").write_text("written")
        raise error
    assert [left.name for left in tmp_path.iterdir()] == (["made"] if before else [])
    if before:
        assert read_config(path, "parser", 1)["content"] == "old"
        assert not (path / "half").exists()


def test_a_new_folder_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    for content in ("old", "new"):
        make(tmp_path / "made", content)
    assert read_config(tmp_path / "made", "parser", 1)["content"] == "new"
    assert [left.name for left in tmp_path.iterdir()] == ["made"]
