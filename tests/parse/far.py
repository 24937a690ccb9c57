"""A source parser, and the same parser across a bridge to an artificial verb-final language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from latent import LatentEncoder, links_of
from made import QUICK

from treebridge.bridge.collect import collect
from treebridge.bridge.fit import fit_bridge
from treebridge.bridge.settings import CollectSettings, FitSettings
from treebridge.corpus.artificial import World
from treebridge.parse.parser import Parser

WORLD = World(7)


def make_story(folder: Path) -> tuple[Parser, Parser]:
    """Train the parser and fit the bridge."""
    source, target = (
        LatentEncoder(WORLD.languages[name], context=0.5) for name in ("source", "far")
    )
    parser = Parser.train(
        WORLD.treebank("source", 400),
        source,
        WORLD.treebank("source", 40, "dev"),
        replace(QUICK, epochs=5),
    )
    links = links_of(WORLD, "far", 900)
    found = collect(links, source, target, CollectSettings(), folder / "occurrences")
    settings = FitSettings(level="word")
    bridge = fit_bridge(found, source, target, parser.space, settings)[0]
    return parser, parser.across(bridge, target)
