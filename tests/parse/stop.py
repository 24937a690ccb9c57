"""Progress that interrupts a run."""

from __future__ import annotations

from treebridge.progress import Progress


class Stop(Progress):
    """Interrupts a run in the middle of an epoch, or listens to what is said."""

    def __init__(self, share: float = 1.0):
        self.share = share
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def advance(self, stage: str, share: float, **figures: float) -> None:
        if share > self.share:
            raise KeyboardInterrupt
