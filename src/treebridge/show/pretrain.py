"""`treebridge pretrain`: from raw text to an encoder folder, with progress and what it learnt."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treebridge.encode.models import choose_device
from treebridge.encode.pretrain.corpus import make_corpus, read_corpus
from treebridge.encode.pretrain.folder import fill_masks, save_encoder
from treebridge.encode.pretrain.network import KIND
from treebridge.encode.pretrain.run import Metrics, Pretraining, Watcher
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.folders import is_finished
from treebridge.keys import digest_files, key_of
from treebridge.show.lines import Talk, minutes
from treebridge.show.progress import watch
from treebridge.workers import Workers


class Lines(Talk, Watcher):
    """A line on standard error for each look at held-out text; between them a bar, or lines."""

    def __init__(self) -> None:
        super().__init__("pre-training", "tokens")
        self._speed = 0.0

    def reading(self, lines: Iterable[str]) -> Iterable[str]:
        """Count what is read."""
        return watch("lines read")(lines)

    def step(self, share: float, loss: float, speed: float, left: float) -> None:
        """As ever, and remember the speed."""
        self._speed = speed
        super().step(share, loss, speed, left)

    def checked(self, metrics: Metrics) -> None:
        """Print what the encoder can do."""
        self.say(
            f"after {metrics['tokens'] / 1e6:.2f}M tokens, {minutes(metrics['seconds'])}: "
            f"held-out masked accuracy {metrics['accuracy']:.3f}, "
            f"loss {metrics['held_out_loss']:.3f}; {self._speed:,.0f} tokens/s"
        )


def pretrain_encoder(
    files: list[str],
    side: str | None,
    output: Path,
    settings: PretrainSettings,
    *,
    device: str = "auto",
    resume: bool = True,
    force: bool = False,
) -> None:
    """Pre-train, save, and fill a few masks; the output's hidden neighbour holds the work."""
    key = key_of("pretrain", digest_files(files), side, settings.config())
    if is_finished(output, KIND, key, force=force):
        print(f"{output}: already pre-trained on the same text with the same settings")
        return
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
    save_encoder(output, training.network, corpus.tokenizer, settings, history, about, key)
    for line in fill_masks(output, corpus, count=5):
        print(line)
    shutil.rmtree(work, ignore_errors=True)
    print(
        f"{output}: masked accuracy {history[-1]['accuracy']:.3f} on held-out text after "
        f"{history[-1]['tokens'] / 1e6:.1f}M tokens, {minutes(history[-1]['seconds'])}"
    )
