"""Folders of ours as outputs: replaced whole, only when asked for, and never a file of yours lost.

A hidden note in the folder says which files we wrote and from what (`key`). What else is in the
folder belongs to the user and stays in place when the folder is replaced.
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
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from treebridge.errors import OutputExists, TreebridgeError
from treebridge.writing import (
    blame,
    flock,
    is_abandoned,
    new_part,
    real_place,
    remove,
    remove_abandoned,
    write_file,
)

NOTE = ".treebridge.json"
# What versions without a note have written.
_FILES = (NOTE, "config.json", "README.md", "*.safetensors", "metrics.jsonl", "senses.jsonl",
          "words.json", "learning-curve.png", "pretraining.json", "generation_config.json",
          "tokenizer*.json", "special_tokens_map.json", "vocab.*")  # fmt: skip
_FOLDERS = ("bridge", "encoder")


def check_free(path: str | Path, kind: str) -> None:
    """Refuse a place where something of another kind is; for long work, ask before it begins."""
    place = real_place(path)
    recover(place)
    if not place.exists():
        return
    if not place.is_dir() or (any(place.iterdir()) and _kind(place) != kind):
        what = f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
        raise TreebridgeError(f"this exists and is not {what}; choose another path", file=path)
    if place.is_mount():
        raise TreebridgeError("this is a mount point; choose a folder inside it", file=path)


def is_finished(path: str | Path, kind: str, key: str | None, *, force: bool = False) -> bool:
    """Whether the folder was made from what `key` stands for; refuse to lose any other.

    With `force` the answer is no, and a folder of this kind may be replaced.
    """
    check_free(path, kind)
    place = real_place(path)
    if force or not place.exists() or not any(place.iterdir()):
        return False
    if key is not None and _read(place / NOTE).get("key") == key:
        return True
    raise OutputExists(f"a finished {kind} made from other data or settings is here", file=path)


@contextmanager
def new_folder(path: str | Path, kind: str, *, key: str | None = None) -> Iterator[Path]:
    """A folder to fill; it takes its place, or an older one's of its kind, when all went well."""
    check_free(path, kind)
    place = real_place(path)
    with ExitStack() as stack:
        with blame(path):
            place.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(place)
            made = stack.enter_context(new_part(place, folder=True))
        with blame(path, made, place):
            yield made
            _write_note(made, key)
            _keep_foreign(place, made)
            _share(made)
            _swap(made, place)


def add_to_note(folder: Path, name: str) -> None:
    """Note that a file in a finished folder is ours, too."""
    note = _read(folder / NOTE)
    note["files"] = sorted({*(_noted(folder) or ()), name})
    write_file(folder / NOTE, _as_text(note))


def work_folder(
    path: Path, kind: str, signs: Sequence[str], *, key: str | None = None, force: bool = False
) -> None:
    """Prepare a folder to work in, rather than to replace: ours, new or empty.

    One of the same kind but another `key` holds other results, which would be overwritten. By
    `signs`, the names of files in it, a folder without a note is known to be of this kind.
    """
    note = {"treebridge": kind, "key": key}
    if path.is_dir() and any(path.iterdir()) and not force:
        found = _read(path / NOTE)
        if not found and any((path / sign).exists() for sign in signs):
            found = {"treebridge": kind, "key": None}
        if found.get("treebridge") != kind:
            raise OutputExists(f"this folder was not made by `{kind}`", file=path)
        if found != note:
            raise OutputExists(f"this folder holds the results of another `{kind}`", file=path)
    write_file(path / NOTE, _as_text(note))


def recover(place: Path) -> None:
    """Put back a folder whose replacement was killed after the first of its two steps."""
    pattern = re.compile(rf"\.{re.escape(place.name)}\.old\.\w{{8}}")
    with suppress(OSError):  # where nothing can be seen or moved, there is nothing to recover
        aside = [path for path in place.parent.iterdir() if pattern.fullmatch(path.name)]
        for path in sorted(aside, key=lambda path: path.stat().st_mtime, reverse=True):
            old = path / "old"
            if old.is_dir() and _kind(old) and is_abandoned(path):
                if not place.exists():
                    old.replace(place)
                remove(path)


def _swap(made: Path, place: Path) -> None:
    """Two renames with a moment between them, after which `recover` knows what to do."""
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
    """Give the new folder what the user has put into the old one."""
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
                    f"{name} in this folder was not written by treebridge and would be lost; "
                    "move it away",
                    file=place,
                )
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            _link(path, made / name)


def _noted(folder: Path) -> list[str] | None:
    """The files that we wrote, as far as the note can be read."""
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
    """The same file in another place; a copy where the file system has no links."""
    try:
        os.link(path, to, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, to, follow_symlinks=False)


def _share(made: Path) -> None:
    """Permissions as the umask has them: some libraries write for the owner alone."""
    mode = stat.S_IMODE(made.stat().st_mode)
    for name in _noted(made) or ():
        (made / name).chmod(mode & 0o666)


def _kind(folder: Path) -> str | None:
    kind = _read(folder / "config.json").get("treebridge")
    return None if kind is None else str(kind)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _as_text(note: dict[str, Any]) -> str:
    return json.dumps(note, indent=1, ensure_ascii=False) + "\n"
