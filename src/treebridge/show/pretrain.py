"""`treebridge pretrain`: from raw text to an encoder folder, with progress and what it learnt."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from treebridge.artefact import check_free
from treebridge.encode.models import choose_device
from treebridge.encode.pretrain.corpus import make_corpus, read_corpus
from treebridge.encode.pretrain.folder import fill_masks, save_encoder
from treebridge.encode.pretrain.network import KIND
from treebridge.encode.pretrain.run import Metrics, Pretraining, Watcher
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.show.progress import watch
from treebridge.workers import Workers

EVERY = 60  # seconds between two lines in a log


class Lines(Watcher):
    """A line on standard error for each look at held-out text; between them a bar, or lines."""

    def __init__(self) -> None:
        self._said = time.monotonic()
        self._speed = 0.0
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        columns = (TextColumn("{task.description}"), BarColumn())
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._task = self._bar.add_task("pre-training", total=1.0)

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text)

    def reading(self, lines: Iterable[str]) -> Iterable[str]:
        """Count what is read."""
        return watch("lines read")(lines)

    def step(self, share: float, loss: float, tokens_per_second: float, left: float) -> None:
        """Move the bar, or say where we are in a log."""
        self._speed = tokens_per_second
        figures = f"loss {loss:.2f}, {tokens_per_second:,.0f} tokens/s, {_minutes(left)} left"
        if self._console.is_terminal:
            self._bar.start()
            self._bar.update(self._task, completed=share, description=figures)
        elif time.monotonic() - self._said > EVERY:
            self._said = time.monotonic()
            self.say(f"{share:.0%}: {figures}")

    def checked(self, metrics: Metrics) -> None:
        """Print what the encoder can do."""
        self.say(
            f"after {metrics['tokens'] / 1e6:.2f}M tokens, {_minutes(metrics['seconds'])}: "
            f"held-out masked accuracy {metrics['accuracy']:.3f}, "
            f"loss {metrics['held_out_loss']:.3f}; {self._speed:,.0f} tokens/s"
        )

    def stop(self) -> None:
        """Take the bar away."""
        if self._console.is_terminal:
            self._bar.stop()


def pretrain_encoder(
    files: list[str],
    side: str | None,
    output: Path,
    settings: PretrainSettings,
    *,
    device: str = "auto",
    resume: bool = True,
) -> None:
    """Pre-train, save, and fill a few masks; the output's hidden neighbour holds the work."""
    check_free(output, KIND)
    work = output.absolute().with_name(f".{output.name}.pretraining")
    workers = Workers(choose_device(device))
    lines: Any = Lines() if workers.first else Watcher()
    if workers.first and not resume:
        shutil.rmtree(work, ignore_errors=True)
    if workers.first:
        corpus = make_corpus(files, side, settings, work, lines.reading, lines.say)
        workers.wait()
    else:
        workers.wait()  # the first cuts the text for all
        corpus = read_corpus(work)
    words = int(corpus.starts[-1])
    lines.say(f"{words:,} pieces of text in {len(corpus.starts) - 1:,} stretches")
    training = Pretraining(corpus, settings, workers, work, lines)
    try:
        history = training.run()
    finally:
        lines.stop()
    if not workers.first:
        return
    about = {"text": [Path(file).name for file in files], "side": side, "pieces": words}
    save_encoder(output, training.network, corpus.tokenizer, settings, history, about)
    for line in fill_masks(output, corpus, count=5):
        print(line)
    shutil.rmtree(work, ignore_errors=True)
    print(
        f"{output}: masked accuracy {history[-1]['accuracy']:.3f} on held-out text after "
        f"{history[-1]['tokens'] / 1e6:.1f}M tokens, {_minutes(history[-1]['seconds'])}"
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
