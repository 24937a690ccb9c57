"""Pharaoh format: one line of source–target links `i-j` per pair, counted from 0.

The file is parallel to the bitext: it has one line per raw pair, empty if the pair is filtered out.
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
    """Write links to the lines that their pairs have in the bitext; `-` is standard output."""
    stream: AbstractContextManager[TextIO]
    stream = nullcontext(sys.stdout) if str(path) == "-" else write_text(path)
    with stream as out:
        out.writelines(f"{line}\n" for line in links.to_pharaoh())


def read_pharaoh(path: str | Path, bitext: Bitext) -> Links:
    """Read the links of the pairs that a bitext keeps; check every index against its words."""
    lines = read_lines(path)
    links, at = array("H"), array("q", [0])  # compact: there may be millions
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
                    f"expected one line per pair of the bitext, found only {used - 1:,} lines",
                    file=name_of(path),
                ) from None
        found = set(parse_links(text, len(pair.source), len(pair.target), path, used))
        links.extend(chain.from_iterable(sorted(found)))
        at.append(len(links) // 2)
    rest = sum(1 for _ in lines)
    unread = bitext.limit is not None and walk.counts.kept == bitext.limit
    if used + rest != walk.counts.read and not unread:
        raise TreebridgeError(
            f"expected one line per pair of the bitext ({walk.counts.read:,}), "
            f"found {used + rest:,} lines",
            file=name_of(path),
        )
    flat = np.array(links, np.uint16).reshape(-1, 2)
    return Links(flat[:, 0].copy(), flat[:, 1].copy(), np.array(at, np.int64))


def parse_links(
    text: str, source: int, target: int, path: str | Path, line: int
) -> Iterator[tuple[int, int]]:
    """Parse the links of a line; `source` and `target` are the numbers of words."""
    for part in text.split():
        left, dash, right = part.partition("-")
        if not (dash and left.isascii() and left.isdigit() and right.isascii() and right.isdigit()):
            raise TreebridgeError(
                f"expected a link such as 3-4 (source-target, counted from 0), found {part!r}",
                file=name_of(path),
                line=line,
            )
        i, j = int(left), int(right)
        for side, position, words in (("source", i, source), ("target", j, target)):
            if position >= words:
                raise TreebridgeError(
                    f"link {part} is out of range: the {side} sentence has {words} words; were the "
                    "links made with another tokenizer or with the sides swapped?",
                    file=name_of(path),
                    line=line,
                )
        yield i, j
