"""Starters: every shipped language can be made from raw data, with a complete card."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from treebridge.experiment.catalog import ENTRIES, TARGETS
from treebridge.recipes.model_card import read_card, write_card

STARTERS = Path(__file__).resolve().parents[2] / "starters"
pytest.importorskip("tomllib")


@pytest.fixture
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("starters_make", STARTERS / "make.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_starter_for_every_language_of_the_paper(make: ModuleType) -> None:
    assert sorted(TARGETS) == make.LANGUAGES
    for code in TARGETS:
        about, entry = make.read_toml(STARTERS / f"{code}.toml"), ENTRIES[code]
        assert about["code"] == code and about["language"] == entry.name
        assert about["treebank"] == f"UD_{entry.treebank}/{entry.stem}"
        assert all(example[-1] in ".?;" for example in about["examples"])


@pytest.mark.parametrize("code", TARGETS)
def test_the_card_is_complete(
    code: str, make: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {"UAS": 70.25, "LAS": 60.5, "CLAS": 50.0, "UPOS": 80.0, "signature": "conv:paper"}
    monkeypatch.setattr(make, "treebridge", lambda *_, **__: json.dumps(scores))
    maker = make.Maker(tmp_path, tmp_path)
    maker.dev(code).parent.mkdir(parents=True)
    maker.dev(code).write_text("1\ta\n\n" * 30, encoding="utf-8")
    (tmp_path / f"en-{code}").mkdir()
    quality = {"quality": {"forecast": {"LAS": 58.4, "error": 4.0, "text": None}}}
    (tmp_path / f"en-{code}" / "config.json").write_text(json.dumps(quality))
    card = read_card(maker.card(code))
    assert card["scores"][0]["LAS"] == 60.5 and "signature" not in card["scores"][0]
    assert "LAS 58 ± 4" in card["limits"][-1]
    assert card["data"][0]["what"].startswith("UD English EWT")
    written = write_card(card)
    assert "60.50" in written and "10 trees of the language" in written
    assert (tmp_path / f"{code}-trees.conllu").read_text().count("a") == 10
    assert (tmp_path / f"{code}-rest.conllu").read_text().count("a") == 20


def calls_of(
    make: ModuleType, monkeypatch: pytest.MonkeyPatch, code: str, *, quick: bool = False
) -> list[list[str]]:
    calls: list[list[str]] = []

    def note(*arguments: object, **_: object) -> None:
        words = list(map(str, arguments))
        if words not in calls:
            calls.append(words)

    monkeypatch.setattr(make, "treebridge", note)
    maker = make.Maker(Path("data"), Path("work"), quick=quick)
    assert maker.model(code) == Path("work") / code
    return calls


@pytest.mark.parametrize("code", TARGETS)
def test_steps_follow_each_other(
    code: str, make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of(make, monkeypatch, code)
    kinds = [call[0] for call in calls]
    assert kinds[-1] == "refine" and {"train", "bridge", "pivot"} <= set(kinds)
    made: set[str] = set()
    for call in calls:
        used = {part for word in call for part in word.split("=") if part.startswith("work/")}
        output = call[call.index("-o") + 1]
        assert used - {output} <= made
        made.add(output)
    taught = [call for call in calls if "--teacher" in call]
    assert {call[call.index("-o") + 1] for call in taught} >= {f"work/{code}-encoder"}


@pytest.mark.parametrize("code", TARGETS)
def test_no_model_learns_from_the_file_that_scores_it(
    code: str, make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [word for call in calls_of(make, monkeypatch, code) for word in call]
    # The Polish treebank is under the GPL and the Greek one is not for commercial use.
    for entry in (ENTRIES[code], ENTRIES["pl"], ENTRIES["el"]):
        assert not any(entry.treebank in word for word in words)


def test_a_quick_trial_has_the_same_steps_with_less_text(
    make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, quick = (calls_of(make, monkeypatch, "el", quick=quick) for quick in (False, True))
    assert [call[0] for call in quick] == [call[0] for call in whole]
    for name in ("--tokens", "--pairs", "--sentences"):
        much, little = (
            [int(call[call.index(name) + 1]) for call in calls if name in call]
            for calls in (whole, quick)
        )
        assert much and little == [count // make.QUICK for count in much]
