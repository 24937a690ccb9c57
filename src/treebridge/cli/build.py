"""`treebridge build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.bridge import AnchorWords, Level, Map
from treebridge.cli.options import (
    CONTRACTIONS,
    DEVICE,
    LAYERS,
    TARGET_LANGUAGE,
    CheckSides,
    Engine,
    Force,
    Pairs,
    Preset,
    Tags,
    Words,
    seed_option,
)


@app.command()
def build(
    treebank: Annotated[str, typer.Option(help="Source trees, CoNLL-U.")],
    bitext: Annotated[list[str], typer.Option(help="Parallel text: one file, or twice for two.")],
    source_encoder: Annotated[str, typer.Option(help="Folder or hub name.")],
    target_encoder: Annotated[str, typer.Option(help="Folder or hub name.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for all of it.")],
    dev: Annotated[
        str | None, typer.Option(help="Source trees that choose the best epoch.")
    ] = None,
    pairs: Pairs = None,
    check_sides: CheckSides = True,
    preset: Annotated[Preset, typer.Option(help="Of the parser, as in `train`.")] = Preset.default,
    tags: Annotated[Tags, typer.Option(help="Parts of speech, as in `train`.")] = Tags.predicted,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    refine: Annotated[
        bool,
        typer.Option("--refine", help="Go on learning from the bitext, as `refine` does."),
    ] = False,
    aligner: Annotated[Engine, typer.Option(help="Which aligner to train.")] = Engine.hmm,
    level: Annotated[Level, typer.Option(help="What an anchor is the mean of.")] = Level.sense,
    map_kind: Annotated[Map, typer.Option("--map", help="What kind of map.")] = Map.procrustes,
    anchor_words: Annotated[
        AnchorWords, typer.Option(help="whole: single pieces on both sides.")
    ] = AnchorWords.all,
    source_language: Annotated[str, typer.Option(help="Code of the source language.")] = "en",
    target_language: Annotated[str | None, typer.Option(help=TARGET_LANGUAGE)] = None,
    contractions: Annotated[bool, typer.Option(help=CONTRACTIONS)] = True,
    words: Annotated[Words, typer.Option(help="Who finds the words.")] = Words.rules,
    seed: Annotated[int, seed_option("Same seed, same parser.")] = 1,
    force: Force = False,
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """A parser for a language without trees, in one go and one folder.

    Run it again after an interruption or with other settings: what is there is not made anew.
    """
    from treebridge.bridge.bridge import BridgeSettings
    from treebridge.bridge.layout import CollectSettings
    from treebridge.bridge.make import MakeSettings
    from treebridge.corpus.bitext import Bitext
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.experiment.lab import LabSettings
    from treebridge.locks import hold
    from treebridge.parse.settings import ParserSettings
    from treebridge.show.build import build_parser

    changes = {"epochs": epochs} if epochs else {}
    collect = CollectSettings(anchor_words=anchor_words.value)
    settings = LabSettings(
        ParserSettings.preset(preset.value, tags=tags.value, **changes),
        MakeSettings(collect=collect, aligner=aligner.value, check_sides=check_sides),
        EncoderSettings(layers, device=device, offline=offline),
    )
    text = Bitext(
        tuple(bitext),
        source_language=source_language,
        target_language=target_language,
        engine=words.value,
        limit=pairs,
        contractions=contractions,
    )
    encoders = (source_encoder, target_encoder)
    fit = BridgeSettings(level=level.value, map=map_kind.value)
    with hold(output):
        build_parser(
            treebank, dev, text, encoders, output, settings, fit, seed, refine=refine, force=force
        )
