"""Further treebanks and their bridges, as files: `es.conllu=en-es`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treebridge.artefact import kind_of_folder
from treebridge.bridge.bridge import Bridge
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.licence import licence_of
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parser
from treebridge.parse.several import Source

HOW = "write TREEBANK=BRIDGE, such as es.conllu=en-es"


@dataclass(frozen=True)
class Also:
    """A further treebank and its bridge: a bridge folder, or a model that has one."""

    treebank: Path
    bridge: Path

    @classmethod
    def parse(cls, text: str) -> Also:
        """Split `es.conllu=en-es`; names with `=` are split at the last one."""
        treebank, equals, bridge = text.rpartition("=")
        if not (equals and treebank and bridge):
            raise TreebridgeError(f"{text!r} does not name a treebank and its bridge; {HOW}")
        return cls(Path(treebank), Path(bridge))

    def load(self, encoding: EncoderSettings) -> Source:
        """Read the trees and load the bridge with its encoder."""
        trees = Treebank.read(self.treebank)
        bridge, encoder = load_bridge(self.bridge, encoding)
        return Source(trees, bridge, encoder, self.treebank.name, licence_of(self.treebank))


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
