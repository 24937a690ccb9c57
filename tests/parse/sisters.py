"""A source language, and two verb-final sisters: one has a treebank, one is the target."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from latent import LatentEncoder, links_of
from made import QUICK

from treebridge import Bridge, Parser
from treebridge.bridge.collect import collect
from treebridge.bridge.fit import fit_bridge
from treebridge.bridge.settings import CollectSettings, FitSettings
from treebridge.corpus.artificial import World
from treebridge.corpus.artificial.language import FAR, Language
from treebridge.parse.several import Source

WORLD = World(7)
WORLD.languages["sister"] = Language(replace(FAR, code="qad", name="Sesta"), 7)
ENCODERS = {
    name: LatentEncoder(language, context=0.5) for name, language in WORLD.languages.items()
}
TREES, DEV = WORLD.treebank("source", 400), WORLD.treebank("source", 40, "dev")
GOLD = WORLD.treebank("far", 80, "dev")
FIVE = replace(QUICK, epochs=5)


def bridge_of(parser: Parser, target: str, folder: Path) -> Bridge:
    """A bridge from a language into a parser's space, by gold links."""
    source, encoder = ENCODERS["source"], ENCODERS[target]
    found = collect(links_of(WORLD, target, 900), source, encoder, CollectSettings(), folder)
    bridge = fit_bridge(found, source, encoder, parser.space, FitSettings(level="word"))[0]
    bridge.made["target_language"] = WORLD.languages[target].code
    return bridge


def sister_of(bridge: Bridge, sentences: int = 150) -> Source:
    """Trees of the sister language."""
    trees = WORLD.treebank("sister", sentences)
    return Source(trees, bridge, ENCODERS["sister"], "sister.conllu", "CC0 1.0")
