"""Readers of parallel corpora, which yield (source, target) strings."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from treebridge.corpus.compressed import open_member, open_zip
from treebridge.corpus.files import name_of, read_lines
from treebridge.corpus.tmx import read_tmx
from treebridge.errors import TreebridgeError

Pairs = Iterator[tuple[str, str]]
SEPARATOR = "|||"


def read_pairs(
    *paths: str | Path, source_language: str = "en", target_language: str | None = None
) -> Pairs:
    """Yield the pairs of one file of any format or of two parallel files, stripped.

    The languages identify the sides in formats that name them (TMX, OPUS zip).
    """
    if len(paths) == 2:
        return _parallel(read_lines(paths[0]), read_lines(paths[1]), *map(name_of, paths))
    path = paths[0]
    if _looks_like_zip(path):
        return _zip(path, source_language, target_language)
    suffixes = Path(str(path)).suffixes
    if ".tmx" in suffixes:
        return read_tmx(path, source_language, target_language)
    return _one_file(path)


def _one_file(path: str | Path) -> Pairs:
    """Read `a<tab>b` (further columns are ignored) or `a ||| b`; the first line decides which."""
    separator = ""
    for number, line in read_lines(path):
        if not line.strip():
            yield "", ""
            continue
        separator = separator or (SEPARATOR if SEPARATOR in line and "\t" not in line else "\t")
        parts = line.split(separator)
        if len(parts) < 2:
            wanted = "tab" if separator == "\t" else SEPARATOR
            raise TreebridgeError(
                f"no {wanted} between source and target; expected one pair per line, "
                "separated by a tab or by |||",
                file=name_of(path),
                line=number,
            )
        if separator == SEPARATOR and len(parts) > 2:
            raise TreebridgeError(
                f"expected one {SEPARATOR} per line, found {len(parts) - 1}",
                file=name_of(path),
                line=number,
            )
        yield parts[0].strip(), parts[1].strip()


def _parallel(
    source: Iterable[tuple[int, str]],
    target: Iterable[tuple[int, str]],
    source_name: str,
    target_name: str,
) -> Pairs:
    """Read two files line by line."""
    for number, (left, right) in enumerate(zip_longest(source, target), 1):
        if left is None or right is None:
            short, long = (source_name, target_name) if left is None else (target_name, source_name)
            raise TreebridgeError(
                f"{short} has {number - 1} lines, {long} has more; "
                "parallel files must have the same number of lines",
                file=long,
                line=number,
            )
        yield left[1].strip(), right[1].strip()


def _looks_like_zip(path: str | Path) -> bool:
    if str(path) == "-" or not os.path.isfile(path):  # noqa: PTH113  never raises
        return False
    return zipfile.is_zipfile(path)


def _zip(path: str | Path, source_language: str, target_language: str | None) -> Pairs:
    """Read an OPUS download: `Corpus.en-pt.en` and `Corpus.en-pt.pt`, or a TMX file."""
    with open_zip(path) as archive:
        names = archive.namelist()
        for name in names:
            if name.endswith(".tmx"):
                with open_member(archive, name) as stream:
                    yield from read_tmx(stream, source_language, target_language)
                return
        source, target = _sides(names, path, source_language, target_language)
        with open_member(archive, source) as left, open_member(archive, target) as right:
            yield from _parallel(read_lines(left), read_lines(right), left.name, right.name)


def _sides(
    names: list[str], path: str | Path, source_language: str, target_language: str | None
) -> tuple[str, str]:
    """Find the two files of a zip that differ only in their suffix, a language code."""
    by_stem: dict[str, dict[str, str]] = {}
    for name in names:
        stem, _, language = name.rpartition(".")
        if stem and language != "ids":
            by_stem.setdefault(stem, {})[language] = name
    for files in by_stem.values():
        others = [language for language in files if language != source_language]
        wanted = target_language or (others[0] if len(others) == 1 else None)
        if source_language in files and wanted in files and len(files) > 1:
            return files[source_language], files[wanted]
    languages = f".{source_language} and .{target_language or 'another language'}"
    raise TreebridgeError(
        f"no two files ending in {languages} in this zip (found {', '.join(names[:6])}); "
        "specify its languages",
        file=path,
    )
