"""`treebridge build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from treebridge.alignment.settings import AlignerName
from treebridge.bridge.settings import (
    AnchorWords,
    BridgeSettings,
    CollectSettings,
    FitSettings,
    Level,
    Map,
)
from treebridge.cli.app import command, progress, show
from treebridge.cli.options import (
    OUTPUT,
    TRAINING,
    CheckSides,
    Contractions,
    Device,
    Force,
    Layers,
    Offline,
    Pairs,
    SourceLanguage,
    TargetLanguage,
    Tokenizer,
    by_preset,
    checked_seed,
    given,
    option,
    setting,
)
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.settings import (
    PRESETS,
    ParserPreset,
    ParserSettings,
    RefineSettings,
    TagsFrom,
)


@command(
    "build",
    "treebridge build --treebank en.conllu --bitext en-pt.tsv.xz --source-encoder en-bert "
    "--target-encoder pt-bert --refine -o pt",
)
def build(
    treebank: Annotated[str, option("Source treebank (CoNLL-U).")],
    bitext: Annotated[list[str], option("Parallel text: one file, or twice for two files.")],
    source_encoder: Annotated[str, option("Source encoder: folder or hub name.")],
    target_encoder: Annotated[str, option("Target encoder: folder or hub name.")],
    output: Annotated[
        Path, option("Folder for the finished parser.", "-o", "--output", panel=OUTPUT)
    ],
    force: Force = False,
    dev: Annotated[
        str | None,
        option("Trees that choose the best epoch; default: every 20th sentence is held out."),
    ] = None,
    pairs: Pairs = None,
    check_sides: CheckSides = BridgeSettings.check_sides,
    source_language: SourceLanguage = "en",
    target_language: TargetLanguage = None,
    refine: Annotated[
        bool,
        option("Learn from projected trees, as `refine` does: a few more minutes, the best "
               "accuracy.", "--refine", panel=TRAINING),
    ] = False,
    preset: Annotated[
        ParserPreset,
        option("Parser preset; default: under an hour on two cores; small: minutes.",
               panel=TRAINING),
    ] = "default",
    tags: Annotated[
        TagsFrom | None,
        setting(ParserSettings, "tags", "Part-of-speech tags: predicted by the parser, or given.",
                panel=TRAINING, show_default=by_preset(PRESETS, "tags")),
    ] = None,
    epochs: Annotated[
        int | None,
        setting(ParserSettings, "epochs", "Number of epochs.", panel=TRAINING, min=1,
                show_default="the preset's"),
    ] = None,
    seed: Annotated[
        int, setting(ParserSettings, "seed", "Random seed.", panel=TRAINING, callback=checked_seed)
    ] = ParserSettings.seed,
    aligner: Annotated[
        AlignerName, setting(BridgeSettings, "aligner", "Word aligner.")
    ] = BridgeSettings.aligner,
    level: Annotated[
        Level, setting(FitSettings, "level", "What an anchor is the mean of.")
    ] = FitSettings.level,
    map_kind: Annotated[
        Map, setting(FitSettings, "map", "Kind of map.", "--map")
    ] = FitSettings.map,
    anchor_words: Annotated[
        AnchorWords,
        setting(CollectSettings, "anchor_words", "Words that make anchors; whole: single pieces "
                "on both sides."),
    ] = CollectSettings.anchor_words,
    contractions: Contractions = True,
    words: Tokenizer = "rules",
    layers: Layers = EncoderSettings.layers,
    device: Device = EncoderSettings.device,
    offline: Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Build a parser for a language without a treebank, in one go and one folder.

    Finished steps are reused, so you can interrupt it and run the same command again.
    """
    from treebridge.corpus.bitext import Bitext
    from treebridge.recipes.build import BuildSettings
    from treebridge.recipes.build import build as build_parser
    from treebridge.show.build import show_built

    settings = BuildSettings(
        ParserSettings.preset(preset, seed=seed, **given(tags=tags, epochs=epochs)),
        BridgeSettings.preset(
            aligner=aligner,
            level=level,
            map=map_kind,
            anchor_words=anchor_words,
            check_sides=check_sides,
        ),
        EncoderSettings(layers, device=device, offline=offline),
        RefineSettings(seed=seed) if refine else None,
    )
    text = Bitext(
        tuple(bitext),
        source_language=source_language,
        target_language=target_language,
        engine=words,
        limit=pairs,
        contractions=contractions,
    )
    built = build_parser(
        treebank, text, source_encoder, target_encoder, output, settings,
        dev=dev, force=force, progress=progress(),
    )  # fmt: skip
    show(show_built, built)
