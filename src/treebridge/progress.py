"""The progress protocol that all long-running functions report to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


class Progress:
    """Progress callbacks, all no-ops by default; subclass it to receive them."""

    def step(self, what: str) -> None:
        """Begin a new step."""

    def say(self, text: str) -> None:
        """Show a message."""

    def count(self, items: Iterable[T], what: str) -> Iterable[T]:
        """Yield the items while counting them; `what` is their name in the plural."""
        return items

    def advance(self, stage: str, share: float, **figures: float) -> None:
        """Update the share (0 to 1) of a stage that is done, and its loss, speed, time left, …"""

    def measured(self, stage: str, metrics: Mapping[str, float]) -> None:
        """Report the metrics of a stage, such as those of an epoch or of held-out text."""

    def done(self, stage: str) -> None:
        """End a stage, successfully or not."""


QUIET = Progress()
