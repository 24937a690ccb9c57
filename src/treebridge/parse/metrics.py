"""How training went: one entry per epoch, in a file of JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

from treebridge import records
from treebridge.writing import write_file

Metrics = dict[str, float]
SCORES = ("epoch", "UAS", "LAS", "UPOS")  # in every entry of a parser's metrics


def read_metrics(path: Path) -> list[Metrics]:
    """Read what `write_metrics` wrote; an empty list if there is no file."""
    if not path.exists():
        return []
    history = records.read_records(path)
    for entry in history:
        for name in (*SCORES, *entry):
            records.field(entry, name, float, path)
    return history


def write_metrics(path: Path, history: list[Metrics]) -> None:
    """Write one JSON line per epoch."""
    write_file(path, "".join(json.dumps(entry) + "\n" for entry in history))
