"""The encoder that a parser reads: loaded once, and checked to be the one it was made with."""

from __future__ import annotations

from dataclasses import replace

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.records import FIX


def encoder_of(
    space: Space, loaded: Encoder | None, at: str | None, settings: EncoderSettings
) -> Encoder:
    """The encoder of a space, if not `loaded` yet from `at` or where the space says it is."""
    if loaded is None:
        wanted = replace(settings, layers=space.layers) if space.layers else settings
        loaded = Encoder.load(at or space.encoder, wanted)
    if at and not loaded.has_fingerprint(space.fingerprint):
        raise TreebridgeError(
            "the encoder of this model is damaged or another one than the model was made with; "
            f"{FIX}",
            file=at,
        )
    space.check(loaded)
    return loaded


def check_bridge(bridge: Bridge, space: Space) -> None:
    """Refuse a bridge into another space than a parser's."""
    if bridge.into.fingerprint != space.fingerprint:
        raise TreebridgeError(
            f"the bridge leads into the space of {bridge.into.encoder!r} (layers "
            f"{bridge.into.layers}), the parser was trained in that of {space.encoder!r} "
            f"(layers {space.layers}); fit the bridge into this parser"
        )
