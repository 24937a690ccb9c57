"""How long work reports what it is doing: one protocol, for every room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


class Progress:
    """Callbacks of long work; all no-ops by default. Subclass it to watch."""

    def step(self, what: str) -> None:
        """A new step of the work begins."""

    def say(self, text: str) -> None:
        """Something worth a line happened."""

    def count(self, items: Iterable[T], what: str) -> Iterable[T]:
        """Pass items on while counting them; `what` names them, in the plural."""
        return items

    def advance(self, stage: str, share: float, **figures: float) -> None:
        """A share (0 to 1) of a stage is done; figures are its loss, its speed, the time left …"""

    def measured(self, stage: str, metrics: Mapping[str, float]) -> None:
        """A stage has measured itself: after an epoch, or a look at held-out text."""

    def done(self, stage: str) -> None:
        """A stage has ended, successfully or not."""


QUIET = Progress()
