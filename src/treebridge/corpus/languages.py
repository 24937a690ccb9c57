"""The target language of a parallel corpus, inferred from its file names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")
_CODE = re.compile(r"[a-z]{2,3}")
_COMPRESSED = (".gz", ".bz2", ".xz")


def target_language(paths: Sequence[str | Path], source: str = "en") -> str | None:
    """Infer the target language from a name like `en-pt.tsv.xz`, or from `news.en` and `news.pt`.

    >>> target_language(["Europarl.de-en.txt.zip"])
    'de'
    """
    for name in (Path(path).name for path in paths):
        for part in re.split("[._]", name.lower()):
            pair = _PAIR.fullmatch(part)
            if pair and source in pair.groups() and pair[1] != pair[2]:
                return pair[2] if pair[1] == source else pair[1]
    if len(paths) == 2:
        (left, first), (right, second) = (_ending(Path(path).name) for path in paths)
        if left == right and first == source != second and _CODE.fullmatch(second):
            return second
    return None


def _ending(name: str) -> tuple[str, str]:
    """Split a name into stem and last suffix, ignoring compression suffixes."""
    for compressed in _COMPRESSED:
        name = name.removesuffix(compressed)
    stem, _, ending = name.rpartition(".")
    return stem, ending.lower()
