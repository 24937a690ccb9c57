"""Pre-train an encoder from raw text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from treebridge.encode.models import choose_device
from treebridge.encode.pretrain.corpus import Corpus, make_corpus, read_corpus
from treebridge.encode.pretrain.folder import save_encoder
from treebridge.encode.pretrain.lessons import Teaching, make_lessons, read_lessons
from treebridge.encode.pretrain.run import Metrics, Pretraining
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.progress import QUIET, Progress
from treebridge.torchrun import TorchRun


class Made(NamedTuple):
    """The corpus and the metrics of a finished pre-training."""

    corpus: Corpus
    history: list[Metrics]


def pretrain_encoder(
    files: Sequence[str | Path],
    output: Path,
    settings: PretrainSettings,
    work: Path,
    *,
    side: str | None = None,
    teaching: Teaching | None = None,
    device: str = "auto",
    key: str | None = None,
    progress: Progress = QUIET,
) -> Made | None:
    """Learn a vocabulary, train and save; `work` is for the tokenized text and checkpoints.

    `teaching` adds lessons from an encoder of another language.
    Under torchrun only rank 0 writes; the other processes return None.
    """
    workers = TorchRun(choose_device(device))
    names = [str(file) for file in files]
    if workers.first:
        corpus = make_corpus(names, side, settings, work, progress)
        workers.wait()
    else:
        progress = QUIET
        workers.wait()  # rank 0 tokenizes the text for all
        corpus = read_corpus(work)
    pieces = int(corpus.starts[-1])
    progress.say(f"{pieces:,} pieces of text in {len(corpus.starts) - 1:,} segments")
    lessons = None
    if teaching is not None:
        if workers.first:
            make_lessons(teaching, corpus, settings.length - 2, work, progress)
        workers.wait()
        lessons = read_lessons(work, corpus.tokenizer)
    training = Pretraining(corpus, settings, workers, work, progress, lessons, teaching)
    history = training.run()
    if not workers.first:
        return None
    about: dict[str, Any] = {
        "text": [Path(name).name for name in names],
        "side": side,
        "pieces": pieces,
    }
    if teaching is not None and lessons is not None:
        name = Path(teaching.teacher.name).name
        about["teacher"] = {
            "encoder": name,
            "pairs": len(lessons.corpus.starts) - 1,
            "inherited": training.inherits,
        }
    save_encoder(output, training.network, corpus.tokenizer, settings, history, about, key)
    return Made(corpus, history)
