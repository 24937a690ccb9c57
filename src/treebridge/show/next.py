"""The result of choosing sentences to annotate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treebridge.recipes.next_trees import NextTrees


def summary(found: NextTrees, output: Path | None) -> str:
    """One line: how many sentences, from how many, and what to look at."""
    words = sum(map(len, found.sentences))
    where = f"wrote {output}: " if output is not None else ""
    return (
        f"{where}{len(found.sentences)} of {found.candidates:,} candidates; "
        f"{found.doubtful:,} of {words:,} words highlighted, about {found.expected_errors:.0f} "
        "errors expected"
    )


def as_dict(found: NextTrees) -> dict[str, Any]:
    """The figures for `--json`."""
    return {
        "sentences": len(found.sentences),
        "words": sum(map(len, found.sentences)),
        "highlighted": found.doubtful,
        "expected_errors": round(found.expected_errors, 1),
        "candidates": found.candidates,
        "seen": found.seen,
        "sent_ids": [sentence.comment("sent_id") for sentence in found.sentences],
    }
