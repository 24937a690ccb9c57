"""How far are forecasts of LAS off? Fits the forecast, and tests it on languages left out.

python benchmarks/forecast.py choose.jsonl

Reads the log of benchmarks/choose.py: of each language, the chosen bridge before and after
refining. Prints the coefficients of treebridge.parse.forecast, fitted on all languages, and the
error on each language of a forecast that was fitted on the others. Simpler forecasts are listed
for comparison.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Point = dict[str, Any]
FORMS: dict[str, Callable[[Point], list[float]]] = {
    "agreement alone": lambda p: [1],
    "share of known words": lambda p: [1, _text(p)["known"]],
    "sentence length": lambda p: [1, _longer(p)],
    "fewer known words than in the bitext": lambda p: [
        1, _text(p)["known"] - _bitext(p)["known"]
    ],
    "known words and sentence length (used)": lambda p: [1, _text(p)["known"], _longer(p)],
}  # fmt: skip


def _text(point: Point) -> dict[str, float]:
    return point["profiles"]["text"]


def _bitext(point: Point) -> dict[str, float]:
    return point["profiles"]["bitext"]


def _longer(point: Point) -> float:
    return math.log(_text(point)["length"] / _bitext(point)["length"])


def fit(points: list[Point], form: Callable[[Point], list[float]]) -> np.ndarray:
    """Least squares of dev LAS minus agreement."""
    gaps = [p["dev"]["LAS"] - p["projected"]["LAS"] for p in points]
    return np.linalg.lstsq(np.array([form(p) for p in points]), np.array(gaps), rcond=None)[0]


def errors(points: list[Point], form: Callable[[Point], list[float]]) -> list[float]:
    """Forecast minus dev LAS of every point, fitted without its language."""
    found = []
    for point in points:
        others = [p for p in points if p["language"] != point["language"]]
        gap = float(np.dot(form(point), fit(others, form)))
        found.append(point["projected"]["LAS"] + gap - point["dev"]["LAS"])
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("log", type=Path)
    lines = arguments.parse_args().log.read_text(encoding="utf-8").splitlines()
    points = [p for p in map(json.loads, lines) if p["stage"] in ("chosen", "refined")]
    print("| gap explained by | mean absolute error, languages left out |\n|---|---|")
    for name, form in FORMS.items():
        print(f"| {name} | {np.abs(errors(points, form)).mean():.2f} |")
    used = list(FORMS.values())[-1]
    print(f"\nBASE, KNOWN, LENGTH = {', '.join(f'{c:.1f}' for c in fit(points, used))}\n")
    print("| | agreement | known | length | dev LAS | forecast, language left out |")
    print("|---|---|---|---|---|---|")
    for point, error in zip(points, errors(points, used), strict=True):
        las, text, bitext = point["dev"]["LAS"], _text(point), _bitext(point)
        print(
            f"| {point['language']}, {point['stage']} | {point['projected']['LAS']:.1f} "
            f"| {100 * bitext['known']:.0f} % → {100 * text['known']:.0f} % "
            f"| {bitext['length']:.1f} → {text['length']:.1f} | {las:.1f} | {las + error:.1f} |"
        )


if __name__ == "__main__":
    main()
