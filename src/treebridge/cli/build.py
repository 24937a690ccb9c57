"""`treebridge build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from treebridge.bridge.settings import BridgeSettings, CollectSettings, FitSettings
from treebridge.cli import options as opt
from treebridge.cli.app import command, progress, show
from treebridge.cli.options import TRAINING, given, option
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.settings import ParserSettings, RefineSettings


@command(
    "build",
    "treebridge build --treebank en.conllu --bitext en-pt.tsv.xz --source-encoder en-bert "
    "--target-encoder pt-bert --refine -o pt",
)
def build(
    treebank: Annotated[str, option("Source treebank (CoNLL-U).")],
    bitext: Annotated[
        list[str], option("Parallel text; give the option twice for two parallel files.")
    ],
    source_encoder: Annotated[str, option("Source-language encoder: folder or hub name.")],
    target_encoder: Annotated[str, option("Target-language encoder: folder or hub name.")],
    output: Annotated[Path, opt.output_option("Folder for the finished parser.")],
    force: opt.Force = False,
    dev: opt.Dev = None,
    also: opt.FurtherTreebanks = None,
    weights: opt.Weights = "auto",
    pairs: opt.Pairs = None,
    text: opt.ForecastText = None,
    check_sides: opt.CheckSides = BridgeSettings.check_sides,
    source_language: opt.SourceLanguage = "en",
    target_language: opt.TargetLanguage = None,
    refine: Annotated[
        bool,
        option("Also train on projected trees, as `refine` does: takes a few more minutes and "
               "gives the best accuracy.", "--refine", panel=TRAINING),
    ] = False,
    preset: opt.Preset = "default",
    tags: opt.Tags = None,
    epochs: opt.Epochs = None,
    seed: opt.Seed = ParserSettings.seed,
    aligner: opt.Aligner = BridgeSettings.aligner,
    level: opt.AnchorLevel = FitSettings.level,
    map_kind: opt.MapKind = FitSettings.map,
    anchor_words: opt.Anchors = CollectSettings.anchor_words,
    contractions: opt.Contractions = True,
    words: opt.Tokenizer = "rules",
    layers: opt.Layers = EncoderSettings.layers,
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Build a parser for a language without a treebank: one command, one folder.

    Finished steps are reused, so you can interrupt it and run the same command again.
    """
    from treebridge.recipes.also import all_of
    from treebridge.recipes.build import BuildSettings
    from treebridge.recipes.build import build as build_parser
    from treebridge.show.build import show_built

    settings = BuildSettings(
        ParserSettings.preset(preset, seed=seed, **given(tags=tags, epochs=epochs)),
        BridgeSettings.preset(
            aligner=aligner, level=level, map=map_kind, anchor_words=anchor_words,
            check_sides=check_sides,
        ),
        EncoderSettings(layers, device=device, offline=offline),
        RefineSettings(seed=seed) if refine else None,
    )  # fmt: skip
    parallel = opt.open_bitext(bitext, source_language, target_language, words, pairs, contractions)
    further = all_of(also or ())
    built = build_parser(
        treebank, parallel, source_encoder, target_encoder, output, settings,
        dev=dev, also=further, weights=opt.weights_of(weights, 1 + len(further)),
        text=text or (), force=force, progress=progress(),
    )  # fmt: skip
    show(show_built, built)
