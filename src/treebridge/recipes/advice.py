"""What the scores of a parser mean, and the one thing that would help most.

The gains quoted are those of docs/results.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from treebridge.bridge.card import forecast_in_words
from treebridge.parse.verdict import bridge_verdict, parser_verdict

if TYPE_CHECKING:
    from treebridge.parse.parser import Parser

Action = Literal["train", "check", "text", "encoder", "refine", "trees", "more trees"]
FEW_PAIRS = 3_000
WEAK_TAGS = 75.0  # UPOS in percent

_TREES = "10 corrected trees gained 4.4 LAS on Portuguese, 100 gained 15.5"
_NEXT: dict[Action, str] = {
    "train": "Train the source parser longer, on more trees or with another encoder.",
    "check": "Check that the sides of the bitext and the two encoders are not swapped, and that "
    "the bitext is parallel.",
    "text": "Use more parallel text: 60,000 sentence pairs instead of 3,000 gained 1.5 LAS on "
    "Portuguese.",
    "encoder": "Use better encoders: a translation encoder instead of a small BERT for English "
    "gained 5 LAS on Portuguese.",
    "refine": "Refine the parser on parallel text: that takes minutes and gained 3.8 LAS on "
    "Portuguese and 12.0 on Spanish.",
    "trees": f"Correct a few trees and refine on them: {_TREES}.",
    "more trees": f"Correct more trees and refine on all of them: {_TREES}.",
}


@dataclass(frozen=True)
class Advice:
    """The meaning of the scores, and what to do next."""

    meaning: str
    action: Action
    next: str


def advise(parser: Parser, scores: Mapping[str, float] | None = None) -> Advice:
    """Advice for a parser, from its dev scores, its bridge and, if known, its target scores."""
    action = _action(parser, scores or {})
    return Advice(_meaning(parser, scores), action, _NEXT[action])


def _action(parser: Parser, target: Mapping[str, float]) -> Action:
    if parser_verdict(parser.scores) or parser.bridge is None:
        return "train"
    quality, refined = parser.bridge.quality, parser.about.get("refined")
    if quality.get("verdict", "").startswith("useless"):
        return "check"
    if parser.bridge.made.get("pairs", FEW_PAIRS) < FEW_PAIRS:
        return "text"
    if quality.get("verdict", "").startswith("weak"):
        return "encoder"
    if not refined:
        return "refine"
    if refined.get("trees"):
        return "more trees"
    return "encoder" if target.get("UPOS", 100.0) < WEAK_TAGS else "trees"


def _meaning(parser: Parser, target: Mapping[str, float] | None) -> str:
    if target is not None:
        return meaning_of(target["LAS"])
    if useless := parser_verdict(parser.scores):
        return f"the parser is {useless}"
    quality: dict[str, Any] = parser.bridge.quality if parser.bridge else {}
    if expected := quality.get("forecast"):
        return f"{forecast_in_words(quality)}: {meaning_of(expected['LAS'])}"
    return f"the bridge is {bridge_verdict(quality, parser.scores)}"


def meaning_of(las: float) -> str:
    """An LAS in words."""
    wrong = f"about {100 - las:.0f} of 100 words have a wrong head or label"
    if las < 40:
        return f"too inaccurate to use: {wrong}"
    if las < 60:
        return f"a rough draft: {wrong}"
    if las < 80:
        return f"good enough to pre-annotate text for correction: {wrong}"
    return f"close to a parser trained on a treebank: {wrong}"
