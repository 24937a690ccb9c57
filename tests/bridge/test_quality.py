"""How good a bridge is said to be."""

from __future__ import annotations

import pytest

from treebridge.bridge.quality import chance_level, verdict


@pytest.mark.parametrize(
    ("p1", "chance", "said"),
    [
        (2.9, 1.0, "useless"), (3.0, 1.0, "weak"), (29.9, 10.0, "useless"), (30.0, 10.0, "weak"),
        (39.9, 1.0, "weak"), (40.0, 1.0, "fair"), (59.9, 1.0, "fair"), (60.0, 1.0, "good"),
        (60.0, 20.1, "useless"),
    ],
)  # fmt: skip
def test_a_verdict_in_words(p1: float, chance: float, said: str) -> None:
    """Three times chance is the least; all of the words found mean little where chance is high."""
    assert verdict(p1, chance).startswith(f"{said}: {p1:.1f} % of held-out words found")


def test_chance_is_that_of_a_random_candidate() -> None:
    """Candidates are the answers themselves: a word asked for twice is there twice."""
    assert chance_level(["a"] * 7) == 100
    assert chance_level(["a", "b", "c", "d"]) == pytest.approx(25)
    assert chance_level(["a", "a", "b", "c"]) == pytest.approx(100 * (4 + 1 + 1) / 16)
