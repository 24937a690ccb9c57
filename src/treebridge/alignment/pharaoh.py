"""Links as text: one line of `i-j` a pair, source–target, counted from 0, as all aligners write it.

The file is parallel to the bitext's own: it has a line for every raw pair, and an empty one for a
pair that the filters leave out.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from treebridge.alignment.links import Links
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.files import name_of, read_lines, write_text
from treebridge.errors import TreebridgeError


def write_pharaoh(path: str | Path, links: Links) -> None:
    """Write links, each on the line that its pair has in the bitext; `-` is standard output."""
    stream: AbstractContextManager[TextIO]
    stream = nullcontext(sys.stdout) if str(path) == "-" else write_text(path)
    with stream as out:
        out.writelines(f"{line}\n" for line in links.to_pharaoh())


def read_pharaoh(path: str | Path, bitext: Bitext) -> Links:
    """The links of the pairs that a bitext keeps; every index is checked against its words."""
    lines = read_lines(path)
    links, at = array("H"), array("q", [0])  # many: not a Python object each
    used = 0
    walk = iter(bitext)
    for pair in walk:
        text = ""
        while used < walk.counts.read:
            used += 1
            try:
                _, text = next(lines)
            except StopIteration:
                raise TreebridgeError(
                    f"the links end after {used - 1:,} lines, the bitext goes on; "
                    "a links file has a line for every pair of the bitext",
                    file=name_of(path),
                ) from None
        found = set(parse_links(text, len(pair.source), len(pair.target), path, used))
        links.extend(chain.from_iterable(sorted(found)))
        at.append(len(links) // 2)
    rest = sum(1 for _ in lines)
    unread = bitext.limit is not None and walk.counts.kept == bitext.limit
    if used + rest != walk.counts.read and not unread:
        raise TreebridgeError(
            f"the links have {used + rest:,} lines, the bitext has {walk.counts.read:,} pairs; "
            "a links file has a line for every pair of the bitext",
            file=name_of(path),
        )
    flat = np.array(links, np.uint16).reshape(-1, 2)
    return Links(flat[:, 0].copy(), flat[:, 1].copy(), np.array(at, np.int64))


def parse_links(
    text: str, source: int, target: int, path: str | Path, line: int
) -> Iterator[tuple[int, int]]:
    """The links of a line, for sentences of so many words."""
    for part in text.split():
        left, dash, right = part.partition("-")
        if not (dash and left.isascii() and left.isdigit() and right.isascii() and right.isdigit()):
            raise TreebridgeError(
                f"{part!r} is no link; a link is source-target, two positions from 0, like 3-4",
                file=name_of(path),
                line=line,
            )
        i, j = int(left), int(right)
        for side, position, words in (("source", i, source), ("target", j, target)):
            if position >= words:
                raise TreebridgeError(
                    f"link {part}: the {side} sentence has {words} words, counted from 0; "
                    "were the links made from other words, or with the sides exchanged?",
                    file=name_of(path),
                    line=line,
                )
        yield i, j
