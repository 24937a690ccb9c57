"""Collect occurrences: both vectors of every kept link, on disk, in one block per type.

Two passes over the bitext. The first (`layout`) decides which links are kept and assigns their
rows; the second encodes only the sentences that contain a kept link and writes each vector to its
row. An interrupted run resumes where it stopped and produces the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.layout import Chooser, Layout, LinkArray, lay_out, places
from treebridge.bridge.memmap import release
from treebridge.bridge.settings import CollectSettings
from treebridge.bridge.shards import Fill, cut_pieces, fill_here
from treebridge.checksums import find_damage, note_files, sealed
from treebridge.corpus.bitext import Pair
from treebridge.encode.cache import alone, keeping
from treebridge.encode.encoder import Encoder
from treebridge.errors import TreebridgeError, warn_damaged
from treebridge.progress import QUIET, Progress
from treebridge.records import read_record
from treebridge.writing import reserve, write_file

FORMAT = 1
NOTE = "note.json"
LAYOUT = ("types.txt", "offsets.npy", "counts.npy")
Pairs = Callable[[], Iterable[tuple[Pair, LinkArray]]]  # starts a new pass over the bitext


@dataclass
class Occurrences:
    """The kept links with their vectors, memory-mapped."""

    layout: Layout
    target: NDArray[np.float16]  # [rows, target dim]
    source: NDArray[np.float16]  # [rows, source dim]
    where: NDArray[np.int32]  # [rows, 3]: sentence pair, source word, target word

    @classmethod
    def open(cls, folder: Path) -> Occurrences:
        """Open a folder written by `collect`."""
        note = read_record(folder / NOTE)
        layout = _read_layout(folder)
        return cls(
            layout,
            _map(folder / "target.f16", np.float16, (len(layout), note["target_dim"]), "r"),
            _map(folder / "source.f16", np.float16, (len(layout), note["source_dim"]), "r"),
            _map(folder / "where.i32", np.int32, (len(layout), 3), "r"),
        )

    def __len__(self) -> int:
        return len(self.layout)


def collect(
    pairs: Pairs,
    source: Encoder,
    target: Encoder,
    settings: CollectSettings,
    folder: Path,
    *,
    progress: Progress = QUIET,
    fill: Fill = fill_here,
) -> Occurrences:
    """Collect into a folder, resuming an interrupted run or opening a finished one.

    The folder's name must be a hash of the inputs (bitext, links, encoders, settings).
    """
    chooser = Chooser(source, target, settings)
    with alone(folder.name):
        if folder.exists() and (damage := _find_damage(folder, chooser)):
            warn_damaged(folder, damage)
            shutil.rmtree(folder)
        if not folder.exists():
            _build(pairs, chooser, folder, progress, fill)
    return Occurrences.open(folder)


def _find_damage(folder: Path, chooser: Chooser) -> str | None:
    """Describe what is wrong with the stored occurrences, if anything.

    Folders written before checksums were recorded are checked by file size.
    """
    try:
        note = read_record(folder / NOTE)
    except TreebridgeError as error:
        return f"{NOTE}: {error.problem}"
    if any(note.get(name) != value for name, value in _note(chooser).items()):
        return f"{NOTE} belongs to other occurrences"
    return find_damage(folder, note.get("files", {})) or _find_misfit(folder, chooser)


def _find_misfit(folder: Path, chooser: Chooser) -> str | None:
    """Describe which file sizes are inconsistent, if any."""
    try:
        for name, size in _sizes(len(_read_layout(folder)), chooser).items():
            if (folder / name).stat().st_size != size:
                return f"{name} should have {size:,} bytes"
    except Exception:  # numpy parses headers with Python's tokenizer, which can raise anything
        return f"{', '.join(LAYOUT)} do not belong together"
    return None


def _note(chooser: Chooser) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "source_dim": chooser.source.dim,
        "target_dim": chooser.target.dim,
        **asdict(chooser.settings),
    }


def _sizes(rows: int, chooser: Chooser) -> dict[str, int]:
    """Sizes of the large files in bytes."""
    return {
        "target.f16": 2 * chooser.target.dim * rows,
        "source.f16": 2 * chooser.source.dim * rows,
        "where.i32": 12 * rows,
    }


def _read_layout(folder: Path) -> Layout:
    """Read what `_write_layout` wrote; raise ValueError if it is inconsistent."""
    types = (folder / "types.txt").read_text(encoding="utf-8").split("\n")[:-1]
    offsets, counts = (np.load(folder / name) for name in LAYOUT[1:])
    sizes = np.diff(offsets) if offsets.ndim == 1 and len(offsets) else np.zeros(0)
    if (
        offsets.dtype != np.int64
        or counts.dtype != np.int64
        or not len(types) == len(sizes) == len(counts)
        or offsets[0] != 0
        or (sizes < 0).any()
        or (sizes > counts).any()
    ):
        raise ValueError
    return Layout(types, offsets, counts)


def _write_layout(folder: Path, layout: Layout) -> None:
    (folder / "types.txt").write_text("".join(f"{t}\n" for t in layout.types), encoding="utf-8")
    np.save(folder / "offsets.npy", layout.offsets)
    np.save(folder / "counts.npy", layout.counts)


def _build(pairs: Pairs, chooser: Chooser, folder: Path, progress: Progress, fill: Fill) -> None:
    building = folder.with_name(folder.name + ".part")
    with keeping(building):
        layout = _lay_out_on_disk(pairs, chooser, building)
        _fill(pairs, chooser, layout, building, progress, fill)
        files = [*_sizes(len(layout), chooser), *LAYOUT]
        note = {**_note(chooser), "files": note_files(building, files)}
        write_file(building / NOTE, json.dumps(sealed(note)))
        (building / "done").unlink(missing_ok=True)
        building.replace(folder)


def _lay_out_on_disk(pairs: Pairs, chooser: Chooser, building: Path) -> Layout:
    """Run pass one, or load its result from an earlier run."""
    if (building / "done").exists():
        damage = _find_misfit(building, chooser)
        if not damage and _done(building) is not None:
            return _read_layout(building)
        warn_damaged(building, damage or "its progress count is not a number")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    layout = lay_out(pairs(), chooser)
    _write_layout(building, layout)
    for name, size in _sizes(len(layout), chooser).items():
        reserve(building / name, size)
    write_file(building / "done", "0")
    return layout


def _fill(
    pairs: Pairs, chooser: Chooser, layout: Layout, building: Path, progress: Progress, fill: Fill
) -> None:
    """Run pass two, starting after the pieces already done."""
    if not len(layout):
        return
    shape = (len(layout), chooser.target.dim)
    target = _map(building / "target.f16", np.float16, shape, "r+")
    source = _map(building / "source.f16", np.float16, (len(layout), chooser.source.dim), "r+")
    where = _map(building / "where.i32", np.int32, (len(layout), 3), "r+")
    done = _done(building) or 0
    # Later choices depend on earlier ones: finished pieces are chosen again but not encoded.
    pieces = islice(
        cut_pieces(places(progress.count(pairs(), "pairs"), chooser, layout)), done, None
    )
    filled = fill(pieces, chooser.source, chooser.target)
    for step, piece in enumerate(filled, done + 1):
        target[piece.rows], source[piece.rows] = piece.target, piece.source
        where[piece.rows] = piece.where
        for array in (target, source, where):
            array.flush()  # type: ignore[attr-defined]
            release(array)
        write_file(building / "done", str(step))


def _done(building: Path) -> int | None:
    """Read the number of finished pieces; None if the file is damaged."""
    try:
        return int((building / "done").read_text())
    except ValueError:
        return None


def _map(path: Path, kind: Any, shape: tuple[int, int], mode: Any) -> NDArray[Any]:
    return np.memmap(path, kind, mode, shape=shape) if shape[0] else np.zeros(shape, kind)
