"""Make a bridge, in this process or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from treebridge.bridge.bridge import KIND, Bridge
from treebridge.bridge.make import Crew, bridge_key, gather, make_bridge
from treebridge.bridge.settings import BridgeSettings
from treebridge.cluster.crew import ray_crew
from treebridge.cluster.engine import ClusterSettings
from treebridge.corpus.bitext import Bitext
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.folders import check_free, is_finished
from treebridge.keys import digest_files, key_of
from treebridge.locks import hold
from treebridge.parse.choose import fit_by_trees
from treebridge.parse.parser import Parser
from treebridge.parse.verdict import bridge_verdict
from treebridge.progress import QUIET, Progress
from treebridge.recipes.text import text_of


@dataclass(frozen=True)
class Bridged:
    """A bridge and the folder it was written to."""

    bridge: Bridge
    folder: Path
    found: bool = False  # an earlier run made it from the same data and settings


def bridge(
    bitext: Bitext,
    target_encoder: str,
    output: str | Path,
    settings: BridgeSettings | None = None,
    encoding: EncoderSettings | None = None,
    *,
    into: str | Path | None = None,
    source_encoder: str | None = None,
    parsers_layers: bool = True,
    parsers_isotropy: bool = True,
    text: Sequence[str] = (),
    cluster: ClusterSettings | None = None,
    force: bool = False,
    progress: Progress = QUIET,
) -> Bridged:
    """Fit a bridge into the space of the parser `into`, or of a source encoder, and save it.

    With `parsers_layers`, the target encoder uses the same layers as the parser's encoder; with
    `parsers_isotropy`, the bridge is isotropic if the parser's space is. The LAS is forecast for
    the files `text` or, without them, for text like the bitext.
    """
    output, settings = Path(output), settings or BridgeSettings()
    encoding = encoding or EncoderSettings()
    with hold(output):
        check_free(output, KIND)
        parser = Parser.load(into) if into else None
        space = parser.space if parser else None
        if space and parsers_isotropy:
            settings = settings.changed(isotropy=bool(len(space.isotropy.means)))
        if space is None and source_encoder is None:
            raise TreebridgeError("a bridge needs a parser or source encoder to map into; give one")
        there = replace(encoding, layers=space.layers or encoding.layers) if space else encoding
        source = Encoder.load(source_encoder or (space.encoder if space else ""), there)
        target = Encoder.load(target_encoder, there if parsers_layers else encoding)
        key = bridge_key(bitext, source, target, space, settings)
        if text:
            key = key_of(key, digest_files(text))
        if is_finished(output, KIND, key, force=force):
            return Bridged(Bridge.load(output), output, found=True)
        with ray_crew(cluster) if cluster else nullcontext() as crew:
            if parser is None:
                made = make_bridge(bitext, source, target, space, settings, progress, crew)
            else:
                made = _into_parser(parser, bitext, source, target, settings, text, progress, crew)
        made.save(output, key=key)
    return Bridged(made, output)


def _into_parser(
    parser: Parser,
    bitext: Bitext,
    source: Encoder,
    target: Encoder,
    settings: BridgeSettings,
    text: Sequence[str],
    progress: Progress,
    crew: Crew | None,
) -> Bridge:
    parser.space.check(source)
    parser.encoder = source
    known = parser.space.words
    gathered = gather(bitext, source, target, settings, progress, crew, known)
    made = fit_by_trees(gathered, parser, settings, text=text_of(text, bitext.language))
    made.quality["verdict"] = bridge_verdict(made.quality, parser.scores)
    return made
