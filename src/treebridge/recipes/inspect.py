"""Inspect treebanks, bitexts, texts, bridges, models and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treebridge.corpus.bitext import Bitext
from treebridge.corpus.statistics import (
    BitextStatistics,
    TextStatistics,
    TreebankStatistics,
    bitext_statistics,
    kind_of,
    text_statistics,
    treebank_statistics,
)
from treebridge.errors import TreebridgeError
from treebridge.progress import QUIET, Progress

TYPE_CHECKING = False
if TYPE_CHECKING:  # files can be inspected without torch
    from treebridge.bridge.bridge import Bridge
    from treebridge.encode.contexts import WordContexts
    from treebridge.encode.settings import EncoderSettings

Statistics = TreebankStatistics | BitextStatistics | TextStatistics


@dataclass(frozen=True)
class ModelInfo:
    """A parser's folder: its config and its model card."""

    folder: Path
    config: dict[str, Any]
    card: str
    size: int  # in bytes


def inspect_file(
    files: tuple[str, ...],
    kind: str | None = None,
    *,
    source_language: str = "en",
    target_language: str | None = None,
    pairs: int | None = None,
    progress: Progress = QUIET,
) -> Statistics:
    """Statistics of a treebank, a bitext (one file, or two parallel ones) or a text."""
    if kind is None and files[0] == "-":
        raise TreebridgeError(
            "the type of standard input is unknown; say whether it is treebank, bitext or text"
        )
    kind = kind or ("bitext" if len(files) > 1 else kind_of(files[0]))
    if kind == "treebank":
        return treebank_statistics(files[0], progress)
    if kind == "bitext":
        bitext = Bitext(
            files, source_language=source_language, target_language=target_language, limit=pairs
        )
        return bitext_statistics(bitext, progress)
    return text_statistics(files[0], progress)


def inspect_folder(path: str) -> Bridge | ModelInfo | None:
    """The bridge or model in a folder, or the shipped model of that name; None if neither."""
    from treebridge.artefact import kind_of_folder
    from treebridge.parse.shipped import shipped_models

    folder = Path(path)
    if not folder.exists() and path in (shipped := shipped_models()):
        folder = shipped[path].folder
    kind = kind_of_folder(folder) if folder.is_dir() else None
    if kind == "bridge":
        from treebridge.bridge.bridge import Bridge

        return Bridge.load(folder)
    if kind == "parser":
        return _model(folder)
    return None


def _model(folder: Path) -> ModelInfo:
    from treebridge.artefact import read_config
    from treebridge.parse.folder import KIND, PACKED
    from treebridge.parse.shipped import folder_size

    config = read_config(folder, KIND, PACKED)
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
    return ModelInfo(folder, config, text, folder_size(folder))


def inspect_words(
    bitext: Bitext,
    words: Sequence[str],
    encoder: str,
    encoding: EncoderSettings,
    progress: Progress = QUIET,
) -> Iterator[WordContexts]:
    """Group the occurrences of target words by translation and compare their vectors."""
    from treebridge.encode.contexts import word_contexts
    from treebridge.encode.encoder import Encoder

    return iter(
        word_contexts(progress.count(bitext, "pairs"), Encoder.load(encoder, encoding), words)
    )
