"""`treebridge draw`: trees from CoNLL-U as text, SVG or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from treebridge.corpus.conllu import read_conllu
from treebridge.corpus.files import name_of
from treebridge.corpus.sentence import Sentence
from treebridge.errors import TreebridgeError
from treebridge.show.output import WRITERS, check_output


def draw_files(
    files: Sequence[str],
    output: Path | None,
    kind: str | None,
    wanted: str | None,
    *,
    columns: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Draw all sentences, or only those `wanted` (3, or 3-5), with further `columns`."""
    if kind is None:
        suffix = output.suffix.lower() if output else ""
        if suffix in (".pdf", ".png", ".jpg"):
            raise TreebridgeError(
                f"{suffix} is not a format of drawings; name a file .svg, .html or .txt",
                file=output,
            )
        kind = {".svg": "svg", ".html": "html", ".htm": "html"}.get(suffix, "text")
    check_output(output, kind, force=force)
    sentences = chain.from_iterable(_read(file) for file in files)
    WRITERS[kind](_choose(sentences, wanted), output, columns)


def _read(file: str) -> Iterator[Sentence]:
    found = False
    for sentence in read_conllu(file):
        found = True
        yield sentence
    if not found:
        raise TreebridgeError("no sentences to draw", file=name_of(file))


def _choose(sentences: Iterable[Sentence], wanted: str | None) -> Iterator[Sentence]:
    if wanted is None:
        yield from sentences
        return
    match = re.fullmatch(r"([1-9]\d*)(?:-([1-9]\d*))?", wanted)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise TreebridgeError(
            f"sentences {wanted!r}: expected a number or a range, such as 3 or 3-5"
        )
    first, last = int(match[1]), int(match[2] or match[1])
    chosen = list(islice(sentences, first - 1, last))
    if not chosen:
        raise TreebridgeError(f"sentences {wanted!r}: the input has fewer sentences")
    yield from chosen
