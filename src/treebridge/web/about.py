"""What `GET /models` says about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from treebridge.parse.parser import Parser
from treebridge.parse.shipped import best_scores
from treebridge.parse.verdict import bridge_verdict
from treebridge.web.examples import EXAMPLES

METRICS = ("UAS", "LAS", "CLAS", "UPOS")
SHOWN = 4  # examples
UNMAPPED_SUMMARY = (
    "The same model without its bridge's map, for comparison: the vectors of the target language "
    "go into the parser unchanged."
)


def describe(name: str, parser: Parser, *, mapped: bool = True) -> dict[str, Any]:
    """Describe a model; file names only, because the server's paths are private."""
    card, bridge = parser.card, parser.bridge
    scores, scored_on = _scores(parser) if mapped else ({}, None)
    described = {
        "name": name,
        "language": parser.language,
        "language_name": card.get("language"),
        "source_language": parser.about.get("language") if bridge else None,
        "summary": _summary(parser) if mapped else UNMAPPED_SUMMARY,
        "scores": scores,
        "scored_on": scored_on,
        "source_scores": _metrics(parser.scores) if bridge else {},
        "encoder": Path(parser.reads.encoder).name,
        "tags": parser.settings.tags,
        "columns": list(parser.predicts),
        "bridge": _bridge(parser) if bridge and mapped else None,
        "data": card.get("data", []),
        "limits": card.get("limits", []),
        "licence": card.get("licence"),
        "examples": _examples(parser),
    }
    return {key: _finite(value) for key, value in described.items()}


def _scores(parser: Parser) -> tuple[dict[str, float], str | None]:
    """Scores in the language that the model parses, and the trees they were measured on."""
    if parser.card:
        best = best_scores(parser.card)
        return _metrics(best), best["file"]
    if parser.bridge or not parser.scores:
        return {}, None
    return _metrics(parser.scores), _file(parser.about.get("dev")) or "held-out trees"


def _metrics(scores: Any) -> dict[str, float]:
    return {name: scores[name] for name in METRICS if name in scores}


def _summary(parser: Parser) -> str:
    """What a model was made from."""
    if summary := parser.card.get("summary"):
        return " ".join(summary.split())
    about, made = parser.about, parser.bridge.made if parser.bridge else {}
    said = [f"Trained on {_amount(about.get('sentences'), 'trees', about.get('treebank'))}."]
    if parser.bridge:
        pairs = _amount(made.get("pairs"), "sentence pairs", made.get("bitext"))
        said.append(f"Its bridge was fitted on {pairs}.")
    if refined := about.get("refined"):
        given = (refined.get("bitext"), *refined.get("self", ()), refined.get("trees"))
        names = dict.fromkeys(name for one in given if (name := _file(one)))
        said.append(f"Refined on {', '.join(names)}." if names else "Refined.")
    return " ".join(said)


def _amount(number: int | None, unit: str, file: str | None) -> str:
    amount = f"{number:,} {unit}" if number else unit
    return f"{amount} ({name})" if (name := _file(file)) else amount


def _file(path: str | None) -> str | None:
    return Path(path).name if path else None


def _bridge(parser: Parser) -> dict[str, Any]:
    assert parser.bridge is not None
    verdict = bridge_verdict(parser.bridge.quality, parser.scores)
    return {
        "into": Path(parser.bridge.into.encoder).name,
        "quality": {**parser.bridge.quality, "verdict": verdict},
    }


def _examples(parser: Parser) -> list[str]:
    """Examples of the model card, then those of the language."""
    known = (*parser.card.get("examples", ()), *EXAMPLES.get(parser.language or "", ()))
    return list(dict.fromkeys(known))[:SHOWN]


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by None."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
