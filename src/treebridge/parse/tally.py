"""Counts behind a score."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Tally:
    """Counts of gold items, system items and correct ones."""

    gold: int = 0
    system: int = 0
    correct: int = 0

    @property
    def precision(self) -> float:
        """Share of system items that are correct, in percent."""
        return 100 * (self.correct / self.system) if self.system else 0.0

    @property
    def recall(self) -> float:
        """Share of gold items that were found, in percent."""
        return 100 * (self.correct / self.gold) if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        both = self.gold + self.system
        return 100 * (2 * self.correct / both) if both else 0.0
