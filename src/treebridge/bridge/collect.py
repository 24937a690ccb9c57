"""Collecting occurrences: both vectors of every kept link, on disk, block by type (DESIGN 4).

Two passes over the bitext. The first (`layout`) decides what is kept and where it stands; the
second encodes only the sentences that hold something kept and writes each vector to its row. What
is interrupted goes on where it stopped and ends in the same bytes.
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

from treebridge.bridge.layout import Chooser, CollectSettings, Layout, LinkArray, lay_out, places
from treebridge.bridge.pages import release
from treebridge.bridge.pieces import Fill, cut_pieces, fill_here
from treebridge.corpus.bitext import Pair
from treebridge.encode.cache import alone, keeping
from treebridge.encode.encoder import Encoder
from treebridge.writing import reserve, write_file

FORMAT = 1
Pairs = Callable[[], Iterable[tuple[Pair, LinkArray]]]  # a new walk through the bitext
Watch = Callable[[Iterable[Any]], Iterable[Any]]


@dataclass
class Occurrences:
    """The kept links with their vectors, memory-mapped."""

    layout: Layout
    target: NDArray[np.float16]  # [rows, target dim]
    source: NDArray[np.float16]  # [rows, source dim]
    where: NDArray[np.int32]  # [rows, 3]: sentence pair, source word, target word

    @classmethod
    def open(cls, folder: Path) -> Occurrences:
        """Open what `collect` has written."""
        note = json.loads((folder / "note.json").read_text(encoding="utf-8"))
        types = (folder / "types.txt").read_text(encoding="utf-8").split("\n")[:-1]
        layout = Layout(types, np.load(folder / "offsets.npy"), np.load(folder / "counts.npy"))
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
    watch: Watch = iter,
    fill: Fill = fill_here,
) -> Occurrences:
    """Collect into a folder, or go on with, or just open, what is there for the same inputs.

    The folder's name must stand for the inputs (bitext, links, encoders, settings).
    """
    chooser = Chooser(source, target, settings)
    with alone(folder.name):
        if not (folder / "note.json").exists():
            _build(pairs, chooser, folder, watch, fill)
    return Occurrences.open(folder)


def _build(pairs: Pairs, chooser: Chooser, folder: Path, watch: Watch, fill: Fill) -> None:
    building = folder.with_name(folder.name + ".part")
    note = {
        "format": FORMAT,
        "source_dim": chooser.source.dim,
        "target_dim": chooser.target.dim,
        **asdict(chooser.settings),
    }
    with keeping(building):
        layout = _lay_out_on_disk(pairs, chooser, building)
        _fill(pairs, chooser, layout, building, watch, fill)
        write_file(building / "note.json", json.dumps(note))
        (building / "done").unlink(missing_ok=True)
        building.replace(folder)


def _lay_out_on_disk(pairs: Pairs, chooser: Chooser, building: Path) -> Layout:
    """Pass one, or its result where an earlier run has finished it."""
    if (building / "done").exists():
        types = (building / "types.txt").read_text(encoding="utf-8").split("\n")[:-1]
        return Layout(types, np.load(building / "offsets.npy"), np.load(building / "counts.npy"))
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    layout = lay_out(pairs(), chooser)
    (building / "types.txt").write_text("".join(f"{t}\n" for t in layout.types), encoding="utf-8")
    np.save(building / "offsets.npy", layout.offsets)
    np.save(building / "counts.npy", layout.counts)
    sizes = {"target.f16": 2 * chooser.target.dim, "source.f16": 2 * chooser.source.dim,
             "where.i32": 12}  # fmt: skip
    for name, size in sizes.items():
        reserve(building / name, len(layout) * size)
    write_file(building / "done", "0")
    return layout


def _fill(
    pairs: Pairs, chooser: Chooser, layout: Layout, building: Path, watch: Watch, fill: Fill
) -> None:
    """Pass two, from the last note of progress on."""
    if not len(layout):
        return
    shape = (len(layout), chooser.target.dim)
    target = _map(building / "target.f16", np.float16, shape, "r+")
    source = _map(building / "source.f16", np.float16, (len(layout), chooser.source.dim), "r+")
    where = _map(building / "where.i32", np.int32, (len(layout), 3), "r+")
    done = int((building / "done").read_text())
    # What is done is chosen again, as later choices depend on it, and not encoded.
    pieces = islice(cut_pieces(places(watch(pairs()), chooser, layout)), done, None)
    filled = fill(pieces, chooser.source, chooser.target)
    for step, piece in enumerate(filled, done + 1):
        target[piece.rows], source[piece.rows] = piece.target, piece.source
        where[piece.rows] = piece.where
        for array in (target, source, where):
            array.flush()  # type: ignore[attr-defined]
            release(array)
        write_file(building / "done", str(step))


def _map(path: Path, kind: Any, shape: tuple[int, int], mode: Any) -> NDArray[Any]:
    return np.memmap(path, kind, mode, shape=shape) if shape[0] else np.zeros(shape, kind)
