"""How training went: one entry per epoch, in a file of JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

from treebridge import records
from treebridge.writing import write_file

Metrics = dict[str, float]
SCORES = ("epoch", "UAS", "LAS", "UPOS")  # what every entry of a parser's metrics has


def read_metrics(path: Path) -> list[Metrics]:
    """What `write_metrics` wrote of a parser; nothing where there is no such file."""
    if not path.exists():
        return []
    history = records.read_records(path)
    for entry in history:
        for name in (*SCORES, *entry):
            records.field(entry, name, float, path)
    return history


def write_metrics(path: Path, history: list[Metrics]) -> None:
    """One line of JSON an epoch."""
    write_file(path, "".join(json.dumps(entry) + "\n" for entry in history))
