"""The parsers of a server, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treebridge.corpus.lexicon import Lexicon
from treebridge.corpus.sentence import Sentence
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.parsed import Parsed
from treebridge.parse.parser import Parser
from treebridge.web.about import describe

UNMAPPED = "without the map"


@dataclass
class Served:
    """A model with its name."""

    name: str
    parser: Parser
    mapped: bool = True  # False: W of the bridge is replaced by the identity

    def about(self) -> dict[str, Any]:
        """Description for `GET /models`."""
        return describe(self.name, self.parser, mapped=self.mapped)


class Models:
    """All models of a server, in the order given."""

    def __init__(self, served: Sequence[Served]):
        self.by_name: dict[str, Served] = {}
        for one in served:
            if one.name in self.by_name:
                raise TreebridgeError(
                    f"two models are called {one.name!r}; rename one: other={one.name}"
                )
            self.by_name[one.name] = one

    @classmethod
    def load(
        cls, names: Sequence[str], settings: EncoderSettings, lexicon: str | None = None
    ) -> Models:
        """Load `folder` or `name=folder`; a model with a bridge is also served without its map."""
        words = Lexicon.read(lexicon) if lexicon else None
        served: list[Served] = []
        for given in names:
            name, equals, folder = given.partition("=")
            parser = Parser.load(
                folder if equals else given, encoder_settings=settings, lexicon=words
            )
            parser.load_encoder()
            served.append(Served(name if equals else Path(given).name, parser))
            if other := _without_map(parser):
                served.append(Served(f"{served[-1].name}, {UNMAPPED}", other, mapped=False))
        return cls(served)

    def parse(self, name: str, sentences: list[Sentence]) -> list[Parsed]:
        """Parse with the model of this name."""
        return list(self.by_name[name].parser.parse(sentences))


def _without_map(parser: Parser) -> Parser | None:
    """The same parser fed with unmapped target vectors, to show what the bridge contributes."""
    bridge = parser.bridge
    if bridge is None or bridge.w.shape[0] != bridge.w.shape[1]:
        return None
    return replace(parser, bridge=replace(bridge, w=np.eye(len(bridge.w))))
