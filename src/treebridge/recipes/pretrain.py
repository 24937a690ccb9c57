"""Pre-train an encoder from raw text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from treebridge.encode.pretrain.folder import fill_masks, read_history
from treebridge.encode.pretrain.make import pretrain_encoder
from treebridge.encode.pretrain.network import KIND
from treebridge.encode.pretrain.run import Metrics
from treebridge.encode.pretrain.settings import PretrainSettings
from treebridge.errors import TreebridgeError
from treebridge.folders import is_finished
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.progress import QUIET, Progress
from treebridge.recipes.work import working


@dataclass(frozen=True)
class Pretrained:
    """An encoder's folder, its training history and a few example predictions."""

    folder: Path
    history: list[Metrics]
    examples: tuple[str, ...] = ()
    found: bool = False  # an earlier run made it from the same data and settings


def pretrain(
    files: Sequence[str | Path],
    output: str | Path,
    settings: PretrainSettings | None = None,
    *,
    side: str | None = None,
    vectors: str | Path | None = None,
    device: str = "auto",
    resume: bool = True,
    force: bool = False,
    progress: Progress = QUIET,
) -> Pretrained | None:
    """Train a small BERT on text or on one `side` of a bitext; an interrupted run resumes.

    `vectors` is a file of static word vectors of the language that the embeddings start from.
    Under torchrun only the first process writes; the others return None.
    """
    output, settings = Path(output), settings or PretrainSettings()
    with hold(output):
        if vectors and settings.start != "informed":
            raise TreebridgeError("word vectors need an informed start", file=vectors)
        key = key_of("pretrain", digest_files(files), side, settings.config())
        if vectors:
            key = key_of(key, digest_files([vectors]))
        if is_finished(output, KIND, key, force=force):
            return Pretrained(output, read_history(output), found=True)
        with working(output, "pretraining", resume=resume) as work:
            made = pretrain_encoder(
                files, output, settings, work, side=side, vectors=vectors, device=device,
                key=key, progress=progress,
            )  # fmt: skip
            if made is None:
                return None
            examples = tuple(fill_masks(output, made.corpus, count=5))
    return Pretrained(output, made.history, examples)
