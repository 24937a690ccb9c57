"""`treebridge train`: from a treebank to a parser folder, with progress, figures and a curve."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from treebridge.corpus.conllu import Treebank
from treebridge.encode.encoder import Encoder, EncoderSettings
from treebridge.experiment.material import digest_trees
from treebridge.folders import add_to_note, check_free, is_finished
from treebridge.keys import key_of
from treebridge.parse.checkpoint import Metrics
from treebridge.parse.folder import KIND
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.parse.train import Watcher
from treebridge.parse.verdict import parser_verdict
from treebridge.show.lines import Talk, minutes
from treebridge.show.progress import watch
from treebridge.writing import replacing


class Lines(Talk, Watcher):
    """A line on standard error for each epoch; between them a bar, or a line now and then."""

    def __init__(self) -> None:
        super().__init__("training", "words")

    def encoded(self, items: Iterable[Any]) -> Iterable[Any]:
        """Count what is encoded."""
        return watch("sentences encoded")(items)

    def epoch(self, metrics: Metrics) -> None:
        """Print the figures of an epoch."""
        scores = ", ".join(f"{name} {metrics[name]:.2f}" for name in ("UAS", "LAS", "UPOS"))
        self.say(
            f"epoch {metrics['epoch']:.0f}: loss {metrics['loss']:.3f}; dev {scores}; "
            f"{metrics['words_per_second']:,.0f} words/s, {minutes(metrics['seconds'])}"
        )


def train_parser(
    treebank: str,
    dev: str | None,
    encoder: str,
    output: Path,
    settings: ParserSettings,
    encoder_settings: EncoderSettings,
    *,
    resume: bool,
    force: bool = False,
) -> None:
    """Train, save, and say how good it got; the output's hidden neighbour holds checkpoints."""
    check_free(output, KIND)
    trees = Treebank.read(treebank)
    dev_trees = Treebank.read(dev) if dev else None
    loaded = Encoder.load(encoder, encoder_settings)
    digests = [digest_trees(part) for part in (trees, dev_trees) if part is not None]
    key = key_of("train", loaded.cache_key, settings.config(), digests)
    if is_finished(output, KIND, key, force=force):
        print(f"{output}: already trained on the same trees with the same encoder and settings")
        return
    work = output.absolute().with_name(f".{output.name}.training")
    first = os.environ.get("RANK", "0") == "0"  # of those that torchrun started
    if first and not resume:
        shutil.rmtree(work, ignore_errors=True)
    lines = Lines() if first else Watcher()
    try:
        parser = Parser.train(
            trees,
            loaded,
            dev_trees,
            settings,
            device=encoder_settings.device,
            work=work,
            watcher=lines,
        )
    finally:
        lines.stop()
    if not first:
        return
    parser.about |= {
        "treebank": Path(treebank).name,
        "dev": Path(dev).name if dev else "held out",
        "language": language_in_name(treebank),
    }
    parser.save(output, key=key)
    draw_curve(parser.history, output / "learning-curve.png", lines)
    shutil.rmtree(work, ignore_errors=True)
    best = parser.scores
    print(
        f"{output}: UAS {best['UAS']:.2f}, LAS {best['LAS']:.2f} on dev after epoch "
        f"{best['epoch']:.0f} (convention paper)"
    )
    if verdict := parser_verdict(best):
        print(f"parser: {verdict}")


def language_in_name(treebank: str) -> str | None:
    """The language code in a name as Universal Dependencies has them: `en_ewt-ud-train.conllu`."""
    found = re.match(r"([a-z]{2,3})_[a-z]+-ud-", Path(treebank).name)
    return found[1] if found else None


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
    with replacing(path) as new:
        figure.savefig(new, dpi=120, format="png")
    add_to_note(path.parent, path.name)
