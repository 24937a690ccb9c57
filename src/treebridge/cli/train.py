"""`treebridge train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import command, progress, show
from treebridge.cli.options import (
    OUTPUT,
    TRAINING,
    Device,
    Force,
    Layers,
    Offline,
    by_preset,
    checked_seed,
    given,
    option,
    setting,
)
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.settings import PRESETS, ParserPreset, ParserSettings, TagsFrom


@command("train", "treebridge train en_ewt-ud-train.conllu --encoder bert-base-uncased -o en")
def train(
    treebank: Annotated[str, typer.Argument(help="Treebank (CoNLL-U).")],
    encoder: Annotated[str, option("Encoder: folder, hub name or file of word vectors.")],
    output: Annotated[Path, option("Folder for the parser.", "-o", "--output", panel=OUTPUT)],
    force: Force = False,
    dev: Annotated[
        str | None,
        option("Trees that choose the best epoch; default: every 20th sentence is held out."),
    ] = None,
    preset: Annotated[
        ParserPreset,
        option("default: under an hour on two cores; small: minutes.", panel=TRAINING),
    ] = "default",
    tags: Annotated[
        TagsFrom | None,
        setting(ParserSettings, "tags", "Part-of-speech tags: predicted by the parser, or given.",
                panel=TRAINING, show_default=by_preset(PRESETS, "tags")),
    ] = None,
    isotropy: Annotated[
        bool, option("Normalise the encoder's vectors.", "--isotropy/--no-isotropy", panel=TRAINING)
    ] = True,
    epochs: Annotated[
        int | None,
        setting(ParserSettings, "epochs", "Number of epochs.", panel=TRAINING, min=1,
                show_default="the preset's"),
    ] = None,
    seed: Annotated[
        int, setting(ParserSettings, "seed", "Random seed.", panel=TRAINING, callback=checked_seed)
    ] = ParserSettings.seed,
    resume: Annotated[
        bool, option("Resume an interrupted training.", "--resume/--no-resume", panel=TRAINING)
    ] = True,
    layers: Layers = EncoderSettings.layers,
    device: Device = EncoderSettings.device,
    offline: Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Train a parser on a treebank, in the space of an encoder."""
    from treebridge.recipes.train import train as train_parser
    from treebridge.show.train import save_curve, show_trained

    changes = given(tags=tags, epochs=epochs, isotropy=None if isotropy else 0)
    trained = train_parser(
        treebank,
        encoder,
        output,
        ParserSettings.preset(preset, seed=seed, **changes),
        EncoderSettings(layers=layers, device=device, offline=offline),
        dev=dev,
        resume=resume,
        force=force,
        progress=progress(),
    )
    if trained is not None:
        save_curve(trained)
        show(show_trained, trained)
