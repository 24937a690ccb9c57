"""TMX, the exchange format of translation memories, read in a stream."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from typing import Any

from treebridge.corpus.files import Source, name_of, open_bytes
from treebridge.errors import TreebridgeError, first_line

CHUNK = 1 << 16  # bytes per call of the XML parser
MAX_UNIT = 1 << 20  # bytes; a longer translation unit is not a sentence pair
MAX_DEPTH = 100  # nested elements; markup inside a segment needs a few
MAX_NAMES = 1000  # distinct element names; TMX has 17, and each takes memory until the end
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_CODES = {"bpt", "ept", "it", "ph", "ut"}  # markup of the original document, not text


def read_tmx(
    source: Source, source_language: str, target_language: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of translation units that have both languages; `en` also means `EN-US`."""
    is_source = _language_test(source_language)
    is_target = _language_test(target_language) if target_language else lambda x: not is_source(x)
    for unit in _units(source):
        sides = [(_language(tuv), tuv) for tuv in unit if _tag(tuv) == "tuv"]
        left = next((tuv for language, tuv in sides if is_source(language)), None)
        right = next((tuv for language, tuv in sides if is_target(language)), None)
        if left is not None and right is not None:
            yield _segment(left), _segment(right)


def _units(source: Source) -> Iterator[ET.Element]:
    """Yield the `tu` elements; each is freed before the next."""
    name = name_of(source)
    parents: list[ET.Element] = []
    names: set[str] = set()
    for event, element in _events(source, name):
        if event == "start":
            parents.append(element)
            names.add(element.tag)
            if len(parents) > MAX_DEPTH or len(names) > MAX_NAMES:
                what = f"{MAX_DEPTH} nested elements"
                if len(names) > MAX_NAMES:
                    what = f"{MAX_NAMES} element names"
                raise TreebridgeError(f"more than {what}; is this a TMX file?", file=name)
            continue
        parents.pop()
        if _tag(element) == "tu":
            yield element
            for parent in parents:  # so that memory does not grow with the file
                parent.clear()


def _events(source: Source, name: str) -> Iterator[tuple[str, ET.Element]]:
    """Yield the starts and ends of elements."""
    parser: Any = ET.XMLPullParser(("start", "end"))
    since_unit = 0  # bytes
    with open_bytes(source) as stream:
        data = b"-"
        while data:
            data = stream.read(CHUNK)
            since_unit += len(data)
            try:
                if data:
                    parser.feed(data)
                else:
                    parser.close()
                events = list(parser.read_events())
            except ET.ParseError as error:
                raise TreebridgeError(
                    f"this is not well-formed XML ({error}); is it a TMX file?",
                    file=name,
                    line=error.position[0],
                ) from None
            except (LookupError, ValueError) as error:  # an encoding that Python does not support
                raise TreebridgeError(
                    f"this XML cannot be read ({first_line(error)}); convert it to UTF-8 "
                    'and set encoding="UTF-8" in its first line',
                    file=name,
                    line=1,
                ) from None
            for event, element in events:
                if _tag(element) == "tu":
                    since_unit = 0
                yield event, element
            if since_unit > MAX_UNIT:
                raise TreebridgeError(
                    f"no translation unit within {MAX_UNIT:,} bytes; is this a TMX file?",
                    file=name,
                )


def _language_test(wanted: str) -> Callable[[str], bool]:
    wanted = wanted.lower()
    return lambda language: language == wanted or language.startswith(f"{wanted}-")


def _language(tuv: ET.Element) -> str:
    return (tuv.get(_XML_LANG) or tuv.get("lang") or "").lower().replace("_", "-")


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _segment(tuv: ET.Element) -> str:
    """Text of one side of a translation unit, on one line."""
    segment = next((child for child in tuv if _tag(child) == "seg"), None)
    return "" if segment is None else " ".join("".join(_plain(segment)).split())


def _plain(element: ET.Element) -> Iterator[str]:
    if _tag(element) not in _CODES:
        yield element.text or ""
        for child in element:
            yield from _plain(child)
            yield child.tail or ""
