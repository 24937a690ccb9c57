"""Text for pre-training: lines of text files, or one side of a bitext, in a stream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from treebridge.corpus.files import read_lines
from treebridge.corpus.pairs import read_pairs
from treebridge.errors import TreebridgeError

SIDES = ("source", "target")
_BITEXT = re.compile(r"\.(tsv|tmx|zip)(\.(xz|gz|bz2))?$")


def read_side(files: Iterable[str | Path], side: str | None = None) -> Iterator[str]:
    """Yield the lines of text files and one side of bitexts (TSV, `|||`, TMX, zip)."""
    if side not in (None, *SIDES):
        raise TreebridgeError(f"unknown side {side!r}; choose from {', '.join(SIDES)}")
    for file in files:
        if not is_bitext(file):
            yield from _text(file, side)
        elif side is None:
            raise TreebridgeError("this is a bitext; choose its source or target side", file=file)
        else:
            index = SIDES.index(side)
            yield from (pair[index] for pair in read_pairs(file) if pair[index])


def is_bitext(file: str | Path) -> bool:
    """Whether a file is parallel text, by its name."""
    return _BITEXT.search(str(file)) is not None


def _text(file: str | Path, side: str | None) -> Iterator[str]:
    """Yield non-blank lines; with `side`, a separator in the first line marks a bitext."""
    index, separator = SIDES.index(side) if side else 0, ""
    for number, line in read_lines(file, cut_long=True):
        if number == 1 and side:
            separator = next((mark for mark in ("\t", " ||| ") if mark in line), "")
        if separator:
            parts = line.split(separator)
            if len(parts) < 2 and line.strip():
                raise TreebridgeError(
                    "no separator between source and target", file=file, line=number
                )
            line = parts[index] if len(parts) > index else ""
        if line := line.strip():
            yield line
