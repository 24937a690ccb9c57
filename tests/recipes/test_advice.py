"""Advice after build, refine and evaluate: the one thing that would help most."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from treebridge.recipes import advice
from treebridge.recipes.advice import advise, meaning_of

GOOD, WEAK, USELESS = ({"verdict": f"{word}: …"} for word in ("good", "weak", "useless"))


def parser(
    las: float = 80.0, quality: dict[str, str] | None = GOOD, pairs: int = 60_000, **about: Any
) -> Any:
    bridge = SimpleNamespace(quality=quality, made={"pairs": pairs})
    return SimpleNamespace(
        scores={"LAS": las}, bridge=bridge if quality is not None else None, about=about
    )


@pytest.mark.parametrize(
    ("one", "scores", "action"),
    [
        (parser(las=39.9), None, "train"),
        (parser(quality=None), {"LAS": 85.0}, "train"),
        (parser(quality=USELESS, pairs=100), None, "check"),
        (parser(pairs=2999), None, "text"),
        (parser(quality=WEAK), None, "encoder"),
        (parser(), None, "refine"),
        (parser(refined={"trees": None}), None, "trees"),
        (parser(refined={"trees": None}), {"LAS": 32.0, "UPOS": 67.0}, "encoder"),
        (parser(refined={"trees": "ten.conllu"}), {"LAS": 70.0, "UPOS": 67.0}, "more trees"),
    ],
)
def test_one_thing_at_a_time(one: Any, scores: dict[str, float] | None, action: str) -> None:
    found = advise(one, scores)
    assert found.action == action and found.next.endswith(".") and "--" not in found.next


def test_the_meaning_of_scores() -> None:
    assert advise(parser(las=4.8)).meaning.startswith("the parser is useless: LAS 4.8")
    assert advise(parser()).meaning == "the bridge is good: …"
    assert advise(parser(), {"LAS": 66.0}).meaning == meaning_of(66.0)
    assert "about 34 of 100 words have a wrong head or label" in meaning_of(66.0)
    assert len({meaning_of(las).partition(":")[0] for las in (39.9, 59.9, 79.9, 80.0)}) == 4


def test_gains_are_those_of_the_results() -> None:
    """Scores before and after, in docs/results*.md, for each gain that is quoted."""
    docs = Path(__file__).resolve().parents[2] / "docs"
    results = "\n".join(path.read_text(encoding="utf-8") for path in docs.glob("*.md"))
    scores = {"3.8": ("65.16", "68.91"), "12.0": ("52.06", "64.10"), "1.5": ("63.70", "65.19"),
              "4.4": ("66.15", "70.51"), "15.5": ("66.15", "81.62"), "5": ("63.55", "68.90")}  # fmt: skip
    quoted = {gain for text in advice._NEXT.values() for gain in re.findall(r"gained ([\d.]*\d)|and ([\d.]*\d) on", text)}  # fmt: skip
    assert {first or second for first, second in quoted} == scores.keys()
    for gain, (before, after) in scores.items():
        assert before in results and after in results
        assert abs(float(after) - float(before) - float(gain)) < 0.06 or gain == "5"
