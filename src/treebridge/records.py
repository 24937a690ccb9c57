"""JSON files that treebridge wrote, checked for damage when they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from treebridge.checksums import are_notes, is_intact
from treebridge.errors import TreebridgeError

T = TypeVar("T")
FIX = "copy it again from its source or recreate it"


def read_record(path: Path, *, verify: bool = True) -> dict[str, Any]:
    """Read a JSON object; refuse one that does not match its checksum.

    With `verify=False` the caller must call `check_seal`.
    """
    record = _object(_text(path), path)
    if verify:
        check_seal(record, path)
    return record


def check_seal(record: Mapping[str, Any], path: Path) -> None:
    """Refuse a record that does not match its checksum."""
    if not is_intact(record):
        raise TreebridgeError(f"damaged: the content does not match its checksum; {FIX}", file=path)
    if not are_notes(record.get("files", {})):
        raise TreebridgeError(f"damaged: its list of files is invalid; {FIX}", file=path)


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read JSON objects, one per line; blank lines are skipped."""
    lines = enumerate(_text(path).split("\n"), 1)
    return [_object(line, path, number) for number, line in lines if line.strip()]


def field(record: Mapping[str, Any], name: str, kind: type[T], file: str | Path) -> T:
    """Return a required value of a record, which must have this type; an int is also a float."""
    if name not in record:
        raise TreebridgeError(f"damaged: {name!r} is missing; {FIX}", file=file)
    value = record[name]
    if not _is(value, kind):
        found = type(value).__name__
        message = f"damaged: {name!r} should be {kind.__name__}, not {found}; {FIX}"
        raise TreebridgeError(message, file=file)
    return value  # type: ignore[no-any-return]


def names(record: Mapping[str, Any], name: str, file: str | Path) -> list[str]:
    """Return a required value of a record that is a list of distinct strings."""
    found = field(record, name, list, file)
    if not all(isinstance(item, str) for item in found) or len(set(found)) < len(found):
        message = f"damaged: {name!r} should be a list of distinct strings; {FIX}"
        raise TreebridgeError(message, file=file)
    return found


def _is(value: object, kind: type) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TreebridgeError(f"cannot be read: {error.strerror}; {FIX}", file=path) from None
    except UnicodeDecodeError:
        raise TreebridgeError(f"damaged: not UTF-8; {FIX}", file=path) from None


def _object(text: str, path: Path, line: int | None = None) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise TreebridgeError(f"damaged: not JSON; {FIX}", file=path, line=line) from None
    if not isinstance(found, dict):
        message = f"expected a JSON object, found {type(found).__name__}; {FIX}"
        raise TreebridgeError(message, file=path, line=line)
    return found
