"""Verdicts in one line: a useless parser, by its dev scores, and any bridge into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

USELESS = 40.0  # dev LAS below which a parser is useless


def parser_verdict(scores: Mapping[str, float]) -> str | None:
    """Why a parser is useless, given its dev scores; None if it is not, or if it has no scores."""
    if "LAS" not in scores or scores["LAS"] >= USELESS:
        return None
    return (
        f"useless: LAS {scores['LAS']:.1f} on its own dev trees, where at least {USELESS:.0f} "
        "is needed; train longer, on more trees or with another encoder"
    )


def bridge_verdict(quality: Mapping[str, Any], scores: Mapping[str, float]) -> str:
    """The verdict on a bridge, which cannot be better than the parser it leads into."""
    alone = str(quality.get("verdict", "unknown: no sentence pairs were held out"))
    if parser_verdict(scores) is None or alone.startswith("useless"):
        return alone
    return (
        f"useless: the parser it leads into has LAS {scores['LAS']:.1f} on its own dev trees "
        f"(the bridge alone: {alone})"
    )
