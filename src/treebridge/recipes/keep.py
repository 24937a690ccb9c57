"""Load a parser or bridge by its key, or make and save it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.space import Space
from treebridge.corpus.sentence import Sentence
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.keys import key_of
from treebridge.locks import hold
from treebridge.parse.parser import Parser
from treebridge.parse.settings import ParserSettings
from treebridge.parse.several import Source
from treebridge.progress import Progress
from treebridge.recipes.work import working


def keep_parser(
    shelf: Path,
    name: str,
    key: str,
    treebank: Callable[[], Sequence[Sentence]],
    dev: Callable[[], Sequence[Sentence] | None],
    encoder: Encoder,
    settings: ParserSettings,
    encoding: EncoderSettings,
    progress: Progress,
    also: Sequence[Source] = (),
    weights: Sequence[float] | None = None,
) -> Parser:
    """Load the parser with this key, or train it; interrupted training resumes."""
    folder = shelf / f"{name}-{key[:8]}"
    with hold(folder, wait=True):  # another run may be training the same parser
        if folder.exists():
            return Parser.load(folder, encoder, encoding)
        progress.say(f"training a parser: {name}")
        with working(folder, "training") as work:
            parser = Parser.train(
                treebank(),
                encoder,
                dev(),
                settings,
                also=also,
                weights=weights,
                device=encoding.device,
                work=work,
                progress=progress,
            )
            parser.save(folder)
    return parser


def keep_bridge(
    shelf: Path, name: str, into: Space, parts: Any, make: Callable[[], Bridge]
) -> Bridge:
    """Load the bridge determined by `parts` and the space it maps into, or make it."""
    means = hashlib.sha256(into.isotropy.means.tobytes()).hexdigest()
    folder = shelf / f"{name}-{key_of(parts, into.fingerprint, means)[:8]}"
    if folder.exists():
        return Bridge.load(folder)
    bridge = make()
    bridge.save(folder)
    return bridge
