"""`treebridge refine`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from treebridge.bridge.settings import BridgeSettings
from treebridge.cli import options as opt
from treebridge.cli.app import command, print_json, progress, show
from treebridge.cli.options import TRAINING, option, setting
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.settings import ProjectSettings, RefineSettings, Tune


@command(
    "refine",
    "treebridge refine --model pt --bitext en-pt.tsv.xz --treebank en.conllu -o pt-refined",
)
def refine(
    model: Annotated[str, opt.MODEL],
    output: Annotated[Path, opt.output_option("Folder for the refined parser.")],
    force: opt.Force = False,
    bitext: Annotated[
        list[str] | None,
        option("Parallel text to project trees over; give the option twice for two parallel "
               "files. FILE=MODEL is one of another source language, with its parser, or "
               "FILE=BRIDGE, with the bridge from that language; can be repeated."),
    ] = None,
    trees: Annotated[
        str | None,
        option("Target-language trees that you corrected or annotated (CoNLL-U); HEAD, DEPREL and "
               "UPOS may be _, unknown."),
    ] = None,
    itself: Annotated[
        list[str] | None, option("Target-language text for self-training.", "--self")
    ] = None,
    treebank: Annotated[
        str | None, option("Source treebank to mix in, so that the parser does not forget it.")
    ] = None,
    also: opt.FurtherTreebanks = None,
    weights: opt.Weights = "auto",
    lexicon: opt.LexiconFile = None,
    bridge: opt.BridgeFolder = None,
    tagger: Annotated[
        str | None,
        option("Parser that predicts tags, if the model was trained with gold tags."),
    ] = None,
    pairs: opt.Pairs = None,
    check_sides: opt.CheckSides = BridgeSettings.check_sides,
    source_language: opt.SourceLanguage = "en",
    target_language: opt.TargetLanguage = None,
    links: opt.Links = None,
    validate: Annotated[
        bool,
        option("Cross-validate on your trees, to see what they are worth.",
               "--validate/--no-validate", panel=TRAINING),
    ] = True,
    as_json: opt.Json = False,
    sentences: Annotated[
        int,
        setting(ProjectSettings, "sentences", "Maximum number of projected sentences.",
                panel=TRAINING, min=20),
    ] = ProjectSettings.sentences,
    epochs: Annotated[
        int,
        setting(RefineSettings, "epochs",
                "Maximum number of epochs; 0 learns only tags by form and features.",
                panel=TRAINING, min=0),
    ] = RefineSettings.epochs,
    passes: Annotated[
        int,
        setting(RefineSettings, "passes", "Number of passes; 2 helps where the encoder is weak.",
                panel=TRAINING, min=1),
    ] = RefineSettings.passes,
    tune: Annotated[
        Tune,
        setting(RefineSettings, "tune", "What learns besides the parser: the bridge's map, or the "
                "encoder too; auto: what agrees better with held-out source trees.",
                panel=TRAINING),
    ] = RefineSettings.tune,
    seed: Annotated[
        int, opt.seed_option(RefineSettings, panel=TRAINING)
    ] = RefineSettings.seed,
    fill: Annotated[
        bool,
        setting(ProjectSettings, "fill", "Unaligned words: use the parser's own prediction (fill) "
                "or ignore them (mask).", "--fill/--mask"),
    ] = ProjectSettings.fill,
    reorder: Annotated[
        bool,
        setting(RefineSettings, "reorder", "Reorder source trees to the target's word order.",
                "--reorder/--no-reorder"),
    ] = RefineSettings.reorder,
    aligner: opt.Aligner = BridgeSettings.aligner,
    contractions: opt.Contractions = True,
    words: opt.Tokenizer = "rules",
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Improve a bridged parser with trees projected over a bitext, or with trees of your own."""
    from treebridge.recipes.also import all_of
    from treebridge.recipes.refine import refine as refine_model
    from treebridge.show.refine import as_dict, show_refined

    if not bitext and not itself and trees is None:
        raise TreebridgeError("nothing to learn from: give --bitext, --self TEXT or --trees")
    plain, others = opt.split_models(bitext or ())
    opened = partial(
        opt.open_bitext, target=target_language, words=words, pairs=pairs, contractions=contractions
    )
    parallel = opened(plain, source_language) if plain else None
    further_bitexts = [(opened([file], ""), parser) for file, parser in others]
    further = all_of(also or ())
    project = ProjectSettings(sentences=sentences, fill=fill)
    refined = refine_model(
        model,
        output,
        RefineSettings(
            epochs=epochs, reorder=reorder, passes=passes, tune=tune, seed=seed, project=project
        ),
        EncoderSettings(device=device, offline=offline),
        bridge=bridge,
        lexicon=lexicon,
        bitext=parallel,
        bitexts=further_bitexts,
        text=itself or (),
        treebank=treebank,
        also=further,
        weights=opt.weights_of(weights, 1 + len(further)),
        trees=trees,
        tagger=tagger,
        language=target_language,
        linking=BridgeSettings.preset(aligner=aligner, links=links, check_sides=check_sides),
        validate=validate,
        force=force,
        progress=progress(),
    )
    if as_json:
        print_json(as_dict(refined))
    else:
        show(show_refined, refined)
