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
    (tmp_path / f"en-{code}").mkdir()
    quality = {"quality": {"forecast": {"LAS": 58.4, "error": 4.0, "text": None}}}
    (tmp_path / f"en-{code}" / "config.json").write_text(json.dumps(quality))
    card = read_card(make.make_card(code, tmp_path, tmp_path))
    assert card["scores"][0]["LAS"] == 60.5 and "signature" not in card["scores"][0]
    assert "LAS 58 ± 4" in card["limits"][-1]
    assert card["data"][0]["what"].startswith("UD English EWT")
    assert "60.50" in write_card(card)


def test_steps_follow_each_other(make: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(
        make, "treebridge", lambda *arguments, **_: calls.append(list(map(str, arguments)))
    )
    assert make.make_model("pl", Path("data"), Path("work"), 5000) == Path("work/pl")
    assert [call[0] for call in calls] == [
        "pretrain", "train", "pretrain", "pack", "bridge", "refine",
    ]  # fmt: skip
    made = {call[call.index("-o") + 1] for call in calls}
    used = {word for call in calls for word in call if word.startswith("work/")}
    assert used == made
    assert not any("--teacher" in call for call in calls)
    calls.clear()
    make.make_model("pl", Path("data"), Path("work"), 5000, taught=True)
    (taught,) = (call for call in calls if "--teacher" in call)
    assert "work/pl-encoder" in taught and "work/en-encoder" in taught
    # The Polish and Greek treebanks may only score.
    assert not any("UD_Polish" in word for call in calls for word in call)
