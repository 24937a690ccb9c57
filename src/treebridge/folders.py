"""Output folders: replaced atomically, only on request, and without losing the user's files.

A hidden note in the folder lists the files that treebridge wrote and the `key` of their inputs. All
other files belong to the user and are kept when the folder is replaced.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from treebridge.artefact import kind_of_folder
from treebridge.errors import OutputExists, TreebridgeError, with_article
from treebridge.writing import flock, is_abandoned, real_place, remove, temporary, write_file

NOTE = ".treebridge.json"
# Written by versions that left no note.
_FILES = (NOTE, "config.json", "README.md", "*.safetensors", "metrics.jsonl", "senses.jsonl",
          "words.json", "learning-curve.png", "pretraining.json", "generation_config.json",
          "tokenizer*.json", "special_tokens_map.json", "vocab.*")  # fmt: skip
_FOLDERS = ("bridge", "encoder")


def check_free(path: str | Path, kind: str) -> None:
    """Refuse a path that holds anything but a folder of this kind; call it before long work."""
    place = real_place(path)
    recover(place)
    if not place.exists():
        return
    if not place.is_dir() or (any(place.iterdir()) and kind_of_folder(place) != kind):
        message = f"exists and is not {with_article(kind)}; choose another path"
        raise TreebridgeError(message, file=path)
    if place.is_mount():
        raise TreebridgeError("this is a mount point; choose a folder inside it", file=path)


def is_finished(path: str | Path, kind: str, key: str | None, *, force: bool = False) -> bool:
    """Whether the folder was made from the inputs of `key`; refuse to overwrite any other.

    With `force` the answer is no, so that the folder is replaced.
    """
    check_free(path, kind)
    place = real_place(path)
    if force or not place.exists() or not any(place.iterdir()):
        return False
    if key is not None and _read(place / NOTE).get("key") == key:
        return True
    raise OutputExists(f"holds a finished {kind} made from other data or settings", file=path)


@contextmanager
def new_folder(path: str | Path, kind: str, *, key: str | None = None) -> Iterator[Path]:
    """Yield a temporary folder that replaces `path` when the block succeeds."""
    check_free(path, kind)
    place = real_place(path)
    with temporary(path, place, folder=True) as made:
        yield made
        _write_note(made, key)
        _keep_foreign(place, made)
        _share(made)
        _swap(made, place)


def add_to_note(folder: Path, name: str) -> None:
    """Add a file to the list of files that treebridge wrote."""
    note = _read(folder / NOTE)
    note["files"] = sorted({*(_noted(folder) or ()), name})
    write_file(folder / NOTE, _as_text(note))


def work_folder(
    path: Path, kind: str, signs: Sequence[str], *, key: str | None = None, force: bool = False
) -> None:
    """Prepare a folder to work in: a new or empty one, or one of the same kind and `key`.

    A folder without a note is of this kind if it contains one of the files named in `signs`.
    """
    note = {"treebridge": kind, "key": key}
    if path.is_dir() and any(path.iterdir()) and not force:
        found = _read(path / NOTE)
        if not found and any((path / sign).exists() for sign in signs):
            found = {"treebridge": kind, "key": None}
        if found.get("treebridge") != kind:
            raise OutputExists(f"this folder was not made by `{kind}`", file=path)
        if found != note:
            raise OutputExists(f"this folder holds the results of a different `{kind}`", file=path)
    write_file(path / NOTE, _as_text(note))


def recover(place: Path) -> None:
    """Restore a folder whose replacement was killed between the two renames of `_swap`."""
    pattern = re.compile(rf"\.{re.escape(place.name)}\.old\.\w{{8}}")
    with suppress(OSError):  # nothing can be restored where nothing can be read or moved
        aside = [path for path in place.parent.iterdir() if pattern.fullmatch(path.name)]
        for path in sorted(aside, key=lambda path: path.stat().st_mtime, reverse=True):
            old = path / "old"
            if old.is_dir() and kind_of_folder(old) and is_abandoned(path):
                if not place.exists():
                    old.replace(place)
                remove(path)


def _swap(made: Path, place: Path) -> None:
    """Replace a folder by two renames; `recover` repairs an interruption between them."""
    if not place.exists() or not any(place.iterdir()):
        made.replace(place)
        return
    aside = place.with_name(f".{place.name}.old.{secrets.token_hex(4)}")
    aside.mkdir()
    descriptor = os.open(aside, os.O_RDONLY)
    try:
        flock(descriptor)
        place.replace(aside / "old")
        made.replace(place)
    finally:
        if not place.exists():
            (aside / "old").replace(place)
        remove(aside)
        os.close(descriptor)


def _write_note(made: Path, key: str | None) -> None:
    files = [path.relative_to(made).as_posix() for path in made.rglob("*") if not path.is_dir()]
    note = {"key": key} if key else {}
    (made / NOTE).write_text(_as_text({**note, "files": sorted([*files, NOTE])}), "utf-8")


def _keep_foreign(place: Path, made: Path) -> None:
    """Carry the user's own files over into the new folder."""
    if not place.is_dir():
        return
    files = _noted(place)
    for path in sorted(place.rglob("*")):
        name = path.relative_to(place)
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                (made / name).mkdir(parents=True, exist_ok=True)
        elif not _is_ours(name, files):
            if os.path.lexists(made / name):
                raise TreebridgeError(
                    f"{name} in this folder was not written by treebridge and would be "
                    "overwritten; move it elsewhere",
                    file=place,
                )
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            _link(path, made / name)


def _noted(folder: Path) -> list[str] | None:
    """Return the files listed in the note; None if it is missing or damaged."""
    files = _read(folder / NOTE).get("files")
    whole = isinstance(files, list) and all(isinstance(name, str) for name in files)
    return files if whole else None


def _is_ours(name: Path, files: list[str] | None) -> bool:
    if files is not None:
        return name.as_posix() in files
    if len(name.parts) > 1:
        return name.parts[0] in _FOLDERS
    return any(fnmatch.fnmatch(name.name, pattern) for pattern in _FILES)


def _link(path: Path, to: Path) -> None:
    """Hard-link a file, or copy it where links are not supported."""
    try:
        os.link(path, to, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, to, follow_symlinks=False)


def _share(made: Path) -> None:
    """Set permissions by the umask: some libraries make files readable by the owner only."""
    mode = stat.S_IMODE(made.stat().st_mode)
    for name in _noted(made) or ():
        (made / name).chmod(mode & 0o666)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _as_text(note: dict[str, Any]) -> str:
    return json.dumps(note, indent=1, ensure_ascii=False) + "\n"
