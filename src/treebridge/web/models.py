"""The models that a server has: parsers by name, and what people may know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treebridge.corpus.sentence import Sentence
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.parser import Parsed, Parser
from treebridge.parse.verdict import bridge_verdict

UNMAPPED = "without the map"


@dataclass
class Served:
    """A model with its name."""

    name: str
    parser: Parser
    mapped: bool = True  # false: across its bridge, but with the identity for W

    def about(self) -> dict[str, Any]:
        """For `GET /models`; places on the server's disk are nobody's business."""
        bridge = self.parser.bridge
        reads = bridge.target if bridge else self.parser.space
        return {
            "name": self.name,
            "language": self.parser.language,
            "encoder": Path(reads.encoder).name,
            "tags": self.parser.settings.tags,
            "scores": {k: v for k, v in self.parser.scores.items() if k in ("UAS", "LAS", "UPOS")},
            "bridge": _bridge(self.parser) if bridge and self.mapped else None,
        }


def _bridge(parser: Parser) -> dict[str, Any]:
    assert parser.bridge is not None
    into = Path(parser.bridge.into.encoder).name
    verdict = bridge_verdict(parser.bridge.quality, parser.scores)
    return {"into": into, "quality": _plain({**parser.bridge.quality, "verdict": verdict})}


def _plain(value: Any) -> Any:
    """What JSON can hold: NaN has no place in it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


class Models:
    """All models of a server, in the order in which they were named."""

    def __init__(self, served: Sequence[Served]):
        self.by_name: dict[str, Served] = {}
        for one in served:
            if one.name in self.by_name:
                raise TreebridgeError(
                    f"two models are called {one.name!r}; give one another name: "
                    f"--model other={one.name}"
                )
            self.by_name[one.name] = one

    @classmethod
    def load(cls, names: Sequence[str], settings: EncoderSettings) -> Models:
        """From `folder` or `name=folder`; one across a bridge comes without its map too."""
        served: list[Served] = []
        for given in names:
            name, equals, folder = given.partition("=")
            parser = Parser.load(folder if equals else given, encoder_settings=settings)
            parser.load_encoder()
            served.append(Served(name if equals else Path(given).name, parser))
            if other := _without_map(parser):
                served.append(Served(f"{served[-1].name}, {UNMAPPED}", other, mapped=False))
        return cls(served)

    def parse(self, name: str, sentences: list[Sentence]) -> list[Parsed]:
        """Trees and probabilities."""
        return list(self.by_name[name].parser.parse(sentences))


def _without_map(parser: Parser) -> Parser | None:
    """The same parser fed with the target's own vectors: what the bridge is worth."""
    bridge = parser.bridge
    if bridge is None or bridge.w.shape[0] != bridge.w.shape[1]:
        return None
    return replace(parser, bridge=replace(bridge, w=np.eye(len(bridge.w))))
