"""The files that parallel corpora come in, each as a stream of (source, target) strings."""

from __future__ import annotations

import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from treebridge.corpus.files import name_of, open_bytes, read_lines
from treebridge.errors import TreebridgeError

Pairs = Iterator[tuple[str, str]]
SEPARATOR = "|||"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_TMX_CODES = {"bpt", "ept", "it", "ph", "ut"}  # mark-up of the original document, not text


def read_pairs(
    *paths: str | Path, source_language: str = "en", target_language: str | None = None
) -> Pairs:
    """Yield the pairs of one file of any kind or of two parallel files, outer space stripped.

    The languages say which side is which in files that name them (TMX, OPUS zip).
    """
    if len(paths) == 2:
        return _parallel(read_lines(paths[0]), read_lines(paths[1]), *map(name_of, paths))
    path = paths[0]
    if _looks_like_zip(path):
        return _zip(path, source_language, target_language)
    suffixes = Path(str(path)).suffixes
    if ".tmx" in suffixes:
        return _tmx(path, source_language, target_language)
    return _one_file(path)


def _one_file(path: str | Path) -> Pairs:
    """`a<tab>b` (further columns are left alone) or `a ||| b`; the first line decides which."""
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
                f"no {wanted} between source and target; a pair is one line, "
                "its two sides separated by a tab or by |||",
                file=name_of(path),
                line=number,
            )
        if separator == SEPARATOR and len(parts) > 2:
            raise TreebridgeError(
                f"{len(parts) - 1} times {SEPARATOR} in a line; a pair has one",
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
    """Two files, line by line."""
    for number, (left, right) in enumerate(zip_longest(source, target), 1):
        if left is None or right is None:
            short, long = (source_name, target_name) if left is None else (target_name, source_name)
            raise TreebridgeError(
                f"{short} ends after {number - 1} lines, {long} goes on; "
                "parallel files have the same number of lines",
                file=long,
                line=number,
            )
        yield left[1].strip(), right[1].strip()


def _looks_like_zip(path: str | Path) -> bool:
    return str(path) != "-" and Path(path).is_file() and zipfile.is_zipfile(path)


def _zip(path: str | Path, source_language: str, target_language: str | None) -> Pairs:
    """An OPUS download: `Corpus.en-pt.en` and `Corpus.en-pt.pt` (or a TMX) beside a licence."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        for name in names:
            if name.endswith(".tmx"):
                with archive.open(name) as stream:
                    yield from _tmx(cast(BinaryIO, stream), source_language, target_language)
                return
        source, target = _sides(names, path, source_language, target_language)
        with archive.open(source) as left, archive.open(target) as right:
            yield from _parallel(
                read_lines(cast(BinaryIO, left)),
                read_lines(cast(BinaryIO, right)),
                f"{path}/{source}",
                f"{path}/{target}",
            )


def _sides(
    names: list[str], path: str | Path, source_language: str, target_language: str | None
) -> tuple[str, str]:
    """The two files of a zip that differ only in their last ending, a language code."""
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
        f"no two files ending in {languages} in this zip (it has {', '.join(names[:6])}); "
        "name its languages",
        file=path,
    )


def _tmx(path: str | Path | BinaryIO, source_language: str, target_language: str | None) -> Pairs:
    """Translation units that have both languages; `en` also means `EN-US`."""
    name = name_of(path)
    is_source = _language_test(source_language)
    is_target = _language_test(target_language) if target_language else lambda x: not is_source(x)
    with open_bytes(path) as stream:
        try:
            parents: list[ET.Element] = []
            for event, element in ET.iterparse(stream, events=("start", "end")):
                if event == "start":
                    parents.append(element)
                    continue
                parents.pop()
                if _tag(element) != "tu":
                    continue
                sides = [(_language(tuv), tuv) for tuv in element if _tag(tuv) == "tuv"]
                source = next((tuv for language, tuv in sides if is_source(language)), None)
                target = next((tuv for language, tuv in sides if is_target(language)), None)
                if source is not None and target is not None:
                    yield _segment(source), _segment(target)
                parents[-1].clear()  # else memory grows with the file
        except ET.ParseError as error:
            raise TreebridgeError(
                f"this is not well-formed XML ({error}); is it a TMX file?",
                file=name,
                line=error.position[0],
            ) from None


def _language_test(wanted: str) -> Callable[[str], bool]:
    wanted = wanted.lower()
    return lambda language: language == wanted or language.startswith(f"{wanted}-")


def _language(tuv: ET.Element) -> str:
    return (tuv.get(_XML_LANG) or tuv.get("lang") or "").lower().replace("_", "-")


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _segment(tuv: ET.Element) -> str:
    """The text of a translation unit's side, on one line."""
    segment = next((child for child in tuv if _tag(child) == "seg"), None)
    return "" if segment is None else " ".join("".join(_plain(segment)).split())


def _plain(element: ET.Element) -> Iterator[str]:
    if _tag(element) not in _TMX_CODES:
        yield element.text or ""
        for child in element:
            yield from _plain(child)
            yield child.tail or ""
