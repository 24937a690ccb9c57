"""`treebridge refine`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from treebridge.alignment.settings import AlignerName
from treebridge.bridge.settings import BridgeSettings
from treebridge.cli.app import command, progress, show
from treebridge.cli.options import (
    OUTPUT,
    TRAINING,
    BridgeFolder,
    CheckSides,
    Contractions,
    Device,
    Force,
    Links,
    Model,
    Offline,
    Pairs,
    SourceLanguage,
    TargetLanguage,
    Tokenizer,
    checked_seed,
    option,
    setting,
)
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.settings import ProjectSettings, RefineSettings


@command(
    "refine",
    "treebridge refine --model pt --bitext en-pt.tsv.xz --treebank en.conllu -o pt-refined",
)
def refine(
    model: Model,
    output: Annotated[
        Path, option("Folder for the refined parser.", "-o", "--output", panel=OUTPUT)
    ],
    force: Force = False,
    bitext: Annotated[
        list[str] | None, option("Parallel text to project trees over; twice for two files.")
    ] = None,
    trees: Annotated[str | None, option("Target trees of your own (CoNLL-U).")] = None,
    itself: Annotated[
        list[str] | None, option("Target text for self-training.", "--self")
    ] = None,
    treebank: Annotated[
        str | None, option("Source treebank, so that the parser does not forget.")
    ] = None,
    bridge: BridgeFolder = None,
    tagger: Annotated[
        str | None, option("Parser with predicted tags, if the model was trained with gold ones.")
    ] = None,
    pairs: Pairs = None,
    check_sides: CheckSides = BridgeSettings.check_sides,
    source_language: SourceLanguage = "en",
    target_language: TargetLanguage = None,
    links: Links = None,
    sentences: Annotated[
        int,
        setting(ProjectSettings, "sentences", "Sentences to learn from, at most.", panel=TRAINING,
                min=20),
    ] = ProjectSettings.sentences,
    epochs: Annotated[
        int, setting(RefineSettings, "epochs", "Epochs, at most.", panel=TRAINING, min=1)
    ] = RefineSettings.epochs,
    passes: Annotated[
        int,
        setting(RefineSettings, "passes", "2: refine twice; helps where the encoder is weak.",
                panel=TRAINING, min=1),
    ] = RefineSettings.passes,
    seed: Annotated[
        int, setting(RefineSettings, "seed", "Random seed.", panel=TRAINING, callback=checked_seed)
    ] = RefineSettings.seed,
    fill: Annotated[
        bool,
        setting(ProjectSettings, "fill", "Words without a link: take the parser's own prediction, "
                "or ignore them.", "--fill/--mask"),
    ] = ProjectSettings.fill,
    reorder: Annotated[
        bool,
        setting(RefineSettings, "reorder", "Put source trees into the target's word order.",
                "--reorder/--no-reorder"),
    ] = RefineSettings.reorder,
    aligner: Annotated[
        AlignerName, setting(BridgeSettings, "aligner", "Word aligner.")
    ] = BridgeSettings.aligner,
    contractions: Contractions = True,
    words: Tokenizer = "rules",
    device: Device = EncoderSettings.device,
    offline: Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Let a bridged parser learn from trees projected over a bitext, or from trees of your own."""
    from treebridge.corpus.bitext import Bitext
    from treebridge.recipes.refine import refine as refine_model
    from treebridge.show.refine import show_refined

    if not bitext and not itself and trees is None:
        raise TreebridgeError("nothing to learn from: give --bitext, --self TEXT or --trees")
    parallel = Bitext(
        tuple(bitext),
        source_language=source_language,
        target_language=target_language,
        engine=words,
        limit=pairs,
        contractions=contractions,
    ) if bitext else None  # fmt: skip
    refined = refine_model(
        model,
        output,
        RefineSettings(
            epochs=epochs, reorder=reorder, passes=passes, seed=seed,
            project=ProjectSettings(sentences=sentences, fill=fill),
        ),
        EncoderSettings(device=device, offline=offline),
        bridge=bridge,
        bitext=parallel,
        text=itself or (),
        treebank=treebank,
        trees=trees,
        tagger=tagger,
        language=target_language,
        linking=BridgeSettings.preset(
            aligner=aligner, links=links, check_sides=check_sides
        ),
        force=force,
        progress=progress(),
    )  # fmt: skip
    show(show_refined, refined)
