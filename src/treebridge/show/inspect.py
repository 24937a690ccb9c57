"""`treebridge inspect`: look at files, whatever they are."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console

from treebridge.corpus.bitext import Bitext
from treebridge.corpus.statistics import (
    bitext_statistics,
    kind_of,
    text_statistics,
    treebank_statistics,
)
from treebridge.errors import TreebridgeError
from treebridge.show.progress import watch
from treebridge.show.tables import Statistics, as_dict, show


def inspect_files(
    files: Sequence[str],
    *,
    kind: str | None,
    parallel: bool,
    languages: tuple[str, str | None],
    pairs: int | None,
    as_json: bool,
) -> list[str]:
    """Print the figures of every file; return the problems found in all of them.

    Of a bitext only the first `pairs` that are kept are looked at.
    """
    console = Console(soft_wrap=False)
    groups = [tuple(files)] if parallel else [(file,) for file in files]
    problems = []
    for group in groups:
        statistics = _statistics(group, "bitext" if parallel else kind, languages, pairs)
        if as_json:
            print(json.dumps(as_dict(statistics), ensure_ascii=False))
        else:
            show(statistics, console)
        problems += statistics.problems
    return problems


def _statistics(
    files: tuple[str, ...],
    kind: str | None,
    languages: tuple[str, str | None],
    pairs: int | None,
) -> Statistics:
    if kind is None and files[0] == "-":
        raise TreebridgeError("say what standard input is: --as treebank, bitext or text")
    kind = kind or kind_of(files[0])
    if kind == "treebank":
        return treebank_statistics(files[0], watch("sentences"))
    if kind == "bitext":
        source, target = languages
        bitext = Bitext(files, source_language=source, target_language=target, limit=pairs)
        return bitext_statistics(bitext, watch("pairs"))
    return text_statistics(files[0], watch("lines"))
