"""Contexts of a word on the terminal, grouped by translation."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from treebridge.encode.contexts import Occurrence, Translation, WordContexts

EXAMPLES = 3
SIDE = 5  # words of context on either side


def as_dict(contexts: WordContexts) -> dict[str, object]:
    """The figures, as printed by `--json`."""
    return {
        "word": contexts.word,
        "count": contexts.count,
        "translations": {t.source: t.total for t in contexts.translations},
        "cosine_same": contexts.same,
        "cosine_different": contexts.different,
    }


def show_contexts(contexts: WordContexts, console: Console) -> None:
    """Print a word's translations with typical contexts, and how close their vectors are."""
    console.print(f"[bold]{contexts.word}[/]: {contexts.count:,} occurrences")
    if not contexts.translations:
        console.print("  too few to group them by translation\n")
        return
    table = Table("translation", "count", "typical contexts", box=None, header_style="dim")
    for translation in contexts.translations:
        examples = Text("\n").join(map(_context, _typical(translation)))
        table.add_row(translation.source, f"{translation.total:,}", examples)
    console.print(table)
    console.print(
        f"mean cosine of two occurrences: same translation {contexts.same:.3f}, "
        f"different {contexts.different:.3f}\n"
    )


def _typical(translation: Translation) -> list[Occurrence]:
    """The occurrences nearest to the mean of their group."""
    if not len(translation.vectors):
        return []
    closeness = translation.vectors @ translation.vectors.mean(0)
    return [translation.occurrences[i] for i in np.argsort(-closeness)[:EXAMPLES]]


def _context(occurrence: Occurrence) -> Text:
    words, at = occurrence.words, occurrence.position
    before = " ".join(words[max(0, at - SIDE) : at])
    after = " ".join(words[at + 1 : at + 1 + SIDE])
    return Text.assemble(f"{before} ", (words[at], "bold"), f" {after}")
