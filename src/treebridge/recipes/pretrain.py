"""Pre-train an encoder from raw text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from treebridge.bridge.make import find_links
from treebridge.bridge.settings import BridgeSettings
from treebridge.corpus.bitext import Bitext
from treebridge.encode.encoder import Encoder
from treebridge.encode.pretrain.folder import fill_masks, read_history
from treebridge.encode.pretrain.lessons import Taught, Teaching
from treebridge.encode.pretrain.make import pretrain_encoder
from treebridge.encode.pretrain.network import KIND
from treebridge.encode.pretrain.run import Metrics
from treebridge.encode.pretrain.settings import TAUGHT_PAIRS, PretrainSettings
from treebridge.encode.pretrain.text import SIDES, is_bitext
from treebridge.encode.settings import EncoderSettings
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
    teacher: str | Path | None = None,
    pairs: int = TAUGHT_PAIRS,
    device: str = "auto",
    resume: bool = True,
    force: bool = False,
    progress: Progress = QUIET,
) -> Pretrained | None:
    """Train a small BERT on text or on one `side` of a bitext; an interrupted run resumes.

    A `teacher` is an encoder of the other side of the bitext: the first `pairs` sentence pairs
    teach the new encoder to give an aligned word the vector of its translation, up to a linear map.
    If it is a BERT of the same sizes, the new encoder starts from its layers.
    Under torchrun only the first process writes; the others return None.
    """
    output, settings = Path(output), settings or PretrainSettings()
    with hold(output):
        key = key_of("pretrain", digest_files(files), side, settings.config())
        teaching = None
        if teacher:
            teaching = _teaching(files, side, teacher, pairs, device, progress)
            key = key_of(key, teaching.key)
        if is_finished(output, KIND, key, force=force):
            return Pretrained(output, read_history(output), found=True)
        with working(output, "pretraining", resume=resume) as work:
            made = pretrain_encoder(
                files, output, settings, work, side=side, teaching=teaching, device=device,
                key=key, progress=progress,
            )  # fmt: skip
            if made is None:
                return None
            examples = tuple(fill_masks(output, made.corpus, count=5))
    return Pretrained(output, made.history, examples)


def _teaching(
    files: Sequence[str | Path],
    side: str | None,
    teacher: str | Path,
    pairs: int,
    device: str,
    progress: Progress,
) -> Teaching:
    """Align the first bitext of the files, and load the teacher."""
    bitexts = [file for file in files if is_bitext(file)]
    if side is None or not bitexts:
        raise TreebridgeError("a teacher needs a bitext and the side of it to read")
    bitext = Bitext.read(bitexts[0], limit=pairs)
    settings = BridgeSettings()
    encoder = Encoder.load(teacher, EncoderSettings(device=device))
    student = SIDES.index(side)

    def taught() -> Iterator[Taught]:
        links = find_links(bitext, settings, progress)
        for pair, link in zip(bitext, links, strict=False):  # links may cover more pairs
            yield Taught(pair[student], pair[1 - student], link[:, [1 - student, student]])

    key = key_of(digest_files(bitexts[:1]), side, pairs, encoder.cache_key)
    return Teaching(encoder, taught, key)
