"""Further treebanks and their bridges, as files: `es.conllu=en-es`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treebridge.artefact import kind_of_folder
from treebridge.bridge.bridge import Bridge
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.licence import licence_of
from treebridge.corpus.obliques import with_obliques
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser
from treebridge.parse.several import Source

AUTO = "auto:"
HOW = f"write TREEBANK=BRIDGE, such as es.conllu=en-es, or {AUTO}FOLDER"


@dataclass(frozen=True)
class Also:
    """A further treebank and its bridge: a bridge folder, or a model that has one."""

    treebank: Path
    bridge: Path
    sure: bool = True  # False: used only if it is near enough to the target

    @classmethod
    def parse(cls, text: str) -> Also:
        """Split `es.conllu=en-es`; names with `=` are split at the last one."""
        treebank, equals, bridge = text.rpartition("=")
        if not (equals and treebank and bridge):
            raise TreebridgeError(f"{text!r} does not name a treebank and its bridge; {HOW}")
        return cls(Path(treebank), Path(bridge))

    def load(self, encoding: EncoderSettings) -> Source:
        """Read the trees and load the bridge with its encoder."""
        trees = with_obliques(Treebank.read(self.treebank))
        bridge, encoder = load_bridge(self.bridge, encoding)
        return Source(trees, bridge, encoder, self.treebank.name, licence_of(self.treebank))


def all_of(given: Sequence[str]) -> list[Also]:
    """What `es.conllu=en-es` and `auto:FOLDER` name."""
    found: list[Also] = []
    for one in given:
        found += found_in(one.removeprefix(AUTO)) if one.startswith(AUTO) else [Also.parse(one)]
    return found


def found_in(folder: str | Path) -> list[Also]:
    """The treebanks in a folder that has a bridge or model for their language, by language code.

    The language of `es_gsd-ud-train.conllu` or `es.conllu` is in its name, that of a bridge is
    known to it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise TreebridgeError("folder not found; expected treebanks and their bridges", file=folder)
    bridges: dict[str, Path] = {}
    for path in sorted(folder.iterdir(), key=lambda path: kind_of_folder(path) != "parser"):
        # A model comes first: what it learned of the map by refining is better.
        inside = path / "bridge" if kind_of_folder(path) == "parser" else path
        if kind_of_folder(inside) == "bridge":
            language = Bridge.load(inside).made.get("target_language")
            bridges.setdefault(str(language), path)
    found = [
        Also(path, bridges[language], sure=False)
        for path in sorted(folder.glob("*.conllu*"))
        if (language := language_in_name(path) or path.name.partition(".")[0]) in bridges
    ]
    if not found:
        raise TreebridgeError(
            "no treebank here has a bridge: expected files such as es.conllu or "
            "es_gsd-ud-train.conllu, and folders of bridges from the same languages",
            file=folder,
        )
    return found


def language_in_name(treebank: str | Path) -> str | None:
    """The language code in a Universal Dependencies file name: `en_ewt-ud-train.conllu`."""
    found = re.match(r"([a-z]{2,3})_[a-z]+-ud-", Path(treebank).name)
    return found[1] if found else None


def load_bridge(folder: Path, encoding: EncoderSettings) -> tuple[Bridge, Encoder]:
    """A bridge and the encoder it reads, from a bridge folder or a model with a bridge."""
    if kind_of_folder(folder) == "parser":
        model = Parser.load(folder, encoder_settings=encoding)
        if model.bridge is None:
            raise TreebridgeError(
                "this model has no bridge, so it cannot carry trees into another space; give the "
                "bridge of the treebank's language",
                file=folder,
            )
        return model.bridge, model.load_encoder()
    bridge = Bridge.load(folder)
    layers = bridge.target.layers or encoding.layers
    return bridge, Encoder.load(bridge.target.encoder, replace(encoding, layers=layers))


def also_key(sources: Sequence[Source], weights: Sequence[float] | None) -> list[Any]:
    """What identifies further treebanks in a cache key; empty without any."""
    how = None if weights is None else list(weights)
    return [[source.key for source in sources], how] if sources else []
