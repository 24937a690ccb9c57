"""What held-out source trees say about a bridged parser: agreement, forecast and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treebridge.corpus.sentence import Sentence
from treebridge.parse.agreement import Agreement, Trial, known_arcs
from treebridge.parse.calibration import (
    MIN_ARCS,
    Temperatures,
    calibration_error,
    fit_temperature,
    reliability,
)
from treebridge.parse.forecast import Profile, forecast
from treebridge.parse.padding import batches_by_length, pad_numbers, pad_vectors
from treebridge.parse.parser import Parser

WRONG = 0.08  # share of carried arcs that are wrong, because the source parser or a link is
MOST_RIGHT = 0.98  # never certain
STALE = ("projected", "forecast")  # keys in a bridge's quality


def judged(parser: Parser, trial: Trial | None) -> Parser:
    """The parser with its figures renewed; without a trial, with those that no longer hold removed.

    Temperatures are kept if they cannot be fitted again.
    """
    bridge = parser.bridge
    if bridge is None:
        return parser
    kept = {name: value for name, value in bridge.quality.items() if name not in STALE}
    if trial is None:
        return replace(parser, bridge=replace(bridge, quality=kept))
    plain = replace(parser, bridge=replace(bridge, quality=_without(kept, "calibration")))
    before = trial.judge(plain)
    heat = fit_temperatures(plain, trial, before)
    quality = {
        **kept,
        "projected": before.as_dict(),
        "calibration": {"arc": heat.arc, "label": heat.label},
    }
    if "profiles" in kept:
        quality["forecast"] = _forecast(before.las, kept["profiles"], parser.scores.get("LAS"))
    calibrated = replace(parser, bridge=replace(bridge, quality=quality))
    quality["calibration"] |= _errors(before, trial.judge(calibrated))
    return calibrated


def tree_temperatures(parser: Parser, trees: Sequence[Sentence]) -> Temperatures | None:
    """Fit both temperatures on target trees that the parser has not learned; None for few trees."""
    known = known_arcs(trees)
    if len(known) < MIN_ARCS or parser.bridge is None:
        return None
    kept = _without(parser.bridge.quality, "calibration")
    cold = replace(parser, bridge=replace(parser.bridge, quality=kept))
    words = [tree.forms for tree in trees]
    vectors = [item.vectors for item in cold.load_encoder().encode(words)]
    trial = Trial([Sentence.from_words(forms) for forms in words], vectors, known)
    return fit_temperatures(cold, trial, trial.judge(cold), wrong=0.0)


def fit_temperatures(
    parser: Parser, trial: Trial, found: Agreement, wrong: float = WRONG
) -> Temperatures:
    """Fit both temperatures on the carried arcs, a share of which is `wrong`."""
    carried, bridge = trial.carried, parser.bridge
    assert bridge is not None
    lengths = np.array([len(rows) for rows in trial.vectors], np.int64)
    arcs = np.full((len(carried), lengths.max() + 1), -np.inf, np.float32)
    labels = np.zeros((len(carried), len(parser.labels)), np.float32)
    arcs_of = {k: np.flatnonzero(carried.sentence == k) for k in range(len(lengths))}
    for indices in batches_by_length(lengths, parser.model.batch_words):
        padded = pad_vectors([bridge.transform(trial.vectors[i]) for i in indices])
        unknown = pad_numbers(None, padded.shape[:2])
        scored = parser.model.score(padded, lengths[indices], unknown)
        heads = np.zeros(padded.shape[:2], np.int64)
        for row, index in enumerate(indices):
            here = arcs_of[index]
            heads[row, carried.word[here]] = found.chosen_heads[here]
        named = scored.labels(heads)  # [batch, n, labels]
        for row, index in enumerate(indices):
            here = arcs_of[index]
            arcs[here, : scored.arcs.shape[2]] = scored.arcs[row, carried.word[here]]
            labels[here] = named[row, carried.word[here]]
    chosen = parser.labels.numbers(found.chosen_labels)
    right = found.heads & (chosen >= 0)  # punctuation gets its label by rule, not from the network
    given_head = float(found.labelled[right].mean()) if right.any() else 0.0
    return Temperatures(
        fit_temperature(arcs, found.chosen_heads, _truly(found.uas / 100, wrong)),
        fit_temperature(labels[right], chosen[right], _truly(given_head, wrong)),
    )


def _truly(agreement: float, wrong: float) -> float:
    """The share of right arcs, given the share that agrees with arcs of which some are wrong."""
    return min(MOST_RIGHT, agreement / (1 - wrong))


def _forecast(agreement: float, profiles: dict[str, Any], source: float | None) -> dict[str, Any]:
    """The forecast for the text that was given with the bridge, or for text like the bitext."""
    text = profiles.get("text")
    return forecast(
        agreement,
        Profile(**profiles["bitext"]),
        text and Profile(text["known"], text["length"]),
        name=text and text["name"],
        source=source,
    )


def _errors(before: Agreement, after: Agreement) -> dict[str, Any]:
    """Calibration errors of arcs in percent, and the reliability curve afterwards."""
    curves = [reliability(one.confidence, one.heads) for one in (before, after)]
    return {
        "ECE_before": 100 * calibration_error(curves[0]),
        "ECE": 100 * calibration_error(curves[1]),
        "reliability": [one._asdict() for one in curves[1]],
    }


def _without(quality: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in quality.items() if key != name}
