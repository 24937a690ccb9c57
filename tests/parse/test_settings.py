"""Invalid settings are errors; the preset `paper` matches the paper."""

from __future__ import annotations

import pytest

from treebridge.errors import TreebridgeError
from treebridge.parse.settings import PRESETS, ParserSettings


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"tags": "silver"}, {"tags": "none"}),
        ({"schedule": "linear"}, {"schedule": "constant"}),
        ({"epochs": 0}, {"epochs": 1}),
        ({"layers": 0}, {"layers": 1}),
        ({"neighbours": -1}, {"neighbours": 0}),
        ({"dropout": 1.0}, {"dropout": 0.0}),
        ({"dropout": -0.1}, {"dropout": 0.99}),
        ({"batch_words": 0}, {"batch_words": 0, "batch_sentences": 1}),
    ],
)
def test_limits(wrong: dict, right: dict) -> None:
    with pytest.raises(TreebridgeError):
        ParserSettings(**wrong)
    made = ParserSettings(**right)
    assert ParserSettings.from_config(made.config()) == made


def test_presets_are_saved() -> None:
    for preset in PRESETS.values():
        assert ParserSettings.from_config({**preset.config(), "later": 1}) == preset


def test_the_papers_parser() -> None:
    """Table 2 of the paper: sizes, dropout, batches of 128 sentences, patience, Adam."""
    paper = ParserSettings.preset("paper", seed=7)
    assert (paper.layers, paper.hidden, paper.arc, paper.label, paper.tag) == (
        3,
        500,
        500,
        100,
        100,
    )
    assert (paper.batch_sentences, paper.batch_words, paper.dropout) == (128, 0, 0.3)
    assert (paper.epochs, paper.patience, paper.learning_rate) == (200, 25, 8e-4)
    assert (paper.betas, paper.schedule, paper.tags, paper.seed) == (
        (0.9, 0.9),
        "constant",
        "gold",
        7,
    )
    with pytest.raises(
        TreebridgeError, match="unknown preset 'huge'; choose from default, small, paper"
    ):
        ParserSettings.preset("huge")
