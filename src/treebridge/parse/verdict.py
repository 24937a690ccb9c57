"""What is worth nothing, said in a line: a parser by its dev scores, and any bridge into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

USELESS = 40.0  # LAS on dev; below it fewer than half of the arcs are right, with their labels


def parser_verdict(scores: Mapping[str, float]) -> str | None:
    """Why a parser is useless, by its scores on dev; None where it is not, or nothing is known."""
    if "LAS" not in scores or scores["LAS"] >= USELESS:
        return None
    return (
        f"useless: LAS {scores['LAS']:.1f} on its own dev trees, and at least {USELESS:.0f} is "
        "needed; train longer, on more trees, or with another encoder"
    )


def bridge_verdict(quality: Mapping[str, Any], scores: Mapping[str, float]) -> str:
    """A bridge's verdict; a bridge is no better than the parser that it leads into."""
    alone = str(quality.get("verdict", "nothing was held out"))
    if parser_verdict(scores) is None or alone.startswith("useless"):
        return alone
    return (
        f"useless: the parser it leads into has LAS {scores['LAS']:.1f} on its own dev trees "
        f"(the map by itself: {alone})"
    )
