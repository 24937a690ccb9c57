"""What a parser is, in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from treebridge.parse.shipped import best_scores, folder_size

if TYPE_CHECKING:
    from treebridge.parse.parser import Parser


def facts_of(parser: Parser) -> Iterator[str]:
    """Its language, where it comes from, its accuracy and its size, as far as they are known."""
    yield parser.language or "unknown language"
    if parser.bridge:
        yield f"from {parser.about.get('language') or parser.space.encoder}"
    if parser.card:
        yield f"LAS {best_scores(parser.card)['LAS']:.1f}"
    elif parser.scores:
        source = "source " if parser.bridge else ""
        yield f"{source}dev LAS {parser.scores['LAS']:.1f}"
    if parser.folder:
        yield f"{folder_size(parser.folder) / 1e6:.0f} MB"
