"""How a long training talks: lines on standard error, and between them a bar."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

EVERY = 60  # seconds between two lines in a log


class Talk:
    """A bar where a person is watching, a line now and then in a log."""

    def __init__(self, what: str, unit: str) -> None:
        self._said = time.monotonic()
        self._unit = unit
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        columns = (TextColumn("{task.description}"), BarColumn())
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task(what, total=1.0)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text)

    def step(self, share: float, loss: float, speed: float, left: float) -> None:
        """Move the bar, or say where we are in a log."""
        figures = f"loss {loss:.2f}, {speed:,.0f} {self._unit}/s, {minutes(left)} left"
        if self._console.is_terminal:
            self._bar.start()
            self._bar.update(self._task, completed=share, description=figures)
        elif time.monotonic() - self._said > EVERY:
            self._said = time.monotonic()
            self.say(f"{share:.0%}: {figures}")

    def stop(self) -> None:
        """Take the bar away."""
        if self._console.is_terminal:
            self._bar.stop()


def minutes(seconds: float) -> str:
    """A time as people say it."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
