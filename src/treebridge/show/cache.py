"""`treebridge cache list`."""

from __future__ import annotations

import time

from rich.console import Console
from rich.table import Table

from treebridge.encode.cache import Entry, cache_entries, cache_folder
from treebridge.errors import TreebridgeError
from treebridge.records import field, read_record


def show_cache() -> None:
    """Print the contents of the cache, least recently used first."""
    entries = cache_entries()
    if not entries:
        print(f"the cache {cache_folder()} is empty")
        return
    table = Table("kind", "contents", "MB", "last used", box=None, header_style="dim")
    for entry in entries:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        table.add_row(entry.kind, _describe(entry), f"{entry.size / 1e6:,.1f}", used)
    console = Console()
    console.print(table)
    console.print(f"{sum(entry.size for entry in entries) / 1e6:,.1f} MB in {cache_folder()}")


def _describe(entry: Entry) -> str:
    note = entry.path / "store.json"
    if not note.is_file():
        return entry.name
    try:
        facts = read_record(note)
        words, encoder = field(facts, "words", int, note), field(facts, "encoder", str, note)
    except TreebridgeError:
        return f"{entry.name} (damaged)"
    unfinished = " (unfinished)" if entry.name.endswith(".part") else ""
    return f"{words:,} word vectors from {encoder}{unfinished}"
