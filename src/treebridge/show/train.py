"""`treebridge train`: from a treebank to a parser folder, with progress, figures and a curve."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from treebridge.artefact import check_free
from treebridge.corpus.conllu import Treebank
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.parse.checkpoint import Metrics
from treebridge.parse.parser import KIND, Parser
from treebridge.parse.settings import ParserSettings
from treebridge.parse.train import Watcher


class Lines(Watcher):
    """A line on standard error for each epoch; between them a bar, where a person is watching."""

    def __init__(self) -> None:
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("encoding", total=1.0)
            self._bar.start()

    def say(self, text: str) -> None:
        """Print a line."""
        if self._bar:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def step(self, share: float, loss: float, words_per_second: float, left: float) -> None:
        """Move the bar."""
        if self._bar:
            figures = f"loss {loss:.2f}, {words_per_second:,.0f} words/s, {_minutes(left)} left"
            self._bar.update(self._task, completed=share, description=figures)

    def epoch(self, metrics: Metrics) -> None:
        """Print the figures of an epoch."""
        scores = ", ".join(f"{name} {metrics[name]:.2f}" for name in ("UAS", "LAS", "UPOS"))
        self.say(
            f"epoch {metrics['epoch']:.0f}: loss {metrics['loss']:.3f}; dev {scores}; "
            f"{metrics['words_per_second']:,.0f} words/s, {_minutes(metrics['seconds'])}"
        )

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar:
            self._bar.stop()


def train_parser(
    treebank: str,
    dev: str | None,
    encoder: str,
    output: Path,
    settings: ParserSettings,
    encoder_settings: EncoderSettings,
    *,
    resume: bool,
) -> None:
    """Train, save, and say how good it got; the output's hidden neighbour holds checkpoints."""
    check_free(output, KIND)
    trees = Treebank.read(treebank)
    dev_trees = Treebank.read(dev) if dev else None
    work = output.absolute().with_name(f".{output.name}.training")
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
    lines = Lines()
    try:
        parser = Parser.train(
            trees,
            Encoder.load(encoder, encoder_settings),
            dev_trees,
            settings,
            device=encoder_settings.device,
            work=work,
            watcher=lines,
        )
    finally:
        lines.stop()
    if not parser.first:  # another process writes
        return
    parser.about |= {"treebank": Path(treebank).name, "dev": Path(dev).name if dev else "held out"}
    parser.save(output)
    draw_curve(parser.history, output / "learning-curve.png", lines)
    shutil.rmtree(work, ignore_errors=True)
    best = parser.scores
    print(
        f"{output}: UAS {best['UAS']:.2f}, LAS {best['LAS']:.2f} on dev after epoch "
        f"{best['epoch']:.0f} (convention paper)"
    )


def draw_curve(history: Sequence[Metrics], path: Path, watcher: Watcher) -> None:
    """A picture of loss and dev scores by epoch."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        watcher.say("no learning curve drawn: pip install 'treebridge[plot]'")
        return
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    left = figure.subplots()
    right = left.twinx()
    epochs = [entry["epoch"] for entry in history]
    lines = left.plot(epochs, [entry["loss"] for entry in history], "C7--", label="loss")
    for name, colour in (("UAS", "C0"), ("LAS", "C1")):
        lines += right.plot(epochs, [entry[name] for entry in history], colour, label=name)
    left.set(xlabel="epoch", ylabel="loss a word, training")
    right.set_ylabel("dev, percent")
    left.legend(handles=lines, loc="center right")
    figure.savefig(path, dpi=120)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
