"""`treebridge train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, print_json, progress, show
from treebridge.cli.options import TRAINING, given, option, setting
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.settings import ParserSettings, TuneSource


@command("train", "treebridge train en_ewt-ud-train.conllu --encoder bert-base-uncased -o en")
def train(
    treebank: Annotated[str, typer.Argument(help="Treebank (CoNLL-U).")],
    encoder: Annotated[str, option("Encoder: folder, hub name or word-vector file.")],
    output: Annotated[Path, opt.output_option("Folder for the parser.")],
    force: opt.Force = False,
    as_json: opt.Json = False,
    dev: opt.Dev = None,
    also: opt.FurtherTreebanks = None,
    weights: opt.Weights = "auto",
    bridge: Annotated[
        str | None,
        option("Bridge of the target language; further treebanks are chosen and weighted for it."),
    ] = None,
    start: Annotated[
        str | None,
        option("Parser to continue from, with its network and space.", panel=TRAINING,
               show_default="train from scratch"),
    ] = None,
    preset: opt.Preset = "default",
    tags: opt.Tags = None,
    isotropy: Annotated[
        bool,
        option("Iterative normalization of the encoder's vectors.", "--isotropy/--no-isotropy",
               panel=TRAINING),
    ] = True,
    epochs: opt.Epochs = None,
    tune: Annotated[
        TuneSource,
        setting(ParserSettings, "tune", "What learns: the parser alone, or its encoder too; the "
                "model then contains the encoder.", panel=TRAINING),
    ] = ParserSettings.tune,
    seed: opt.Seed = ParserSettings.seed,
    resume: opt.Resume = True,
    layers: opt.Layers = EncoderSettings.layers,
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Train a parser on a treebank, in the vector space of an encoder."""
    from treebridge.recipes.also import all_of
    from treebridge.recipes.train import train as train_parser
    from treebridge.show.train import as_dict, save_curve, show_trained

    further = all_of(also or ())
    changes = given(tags=tags, epochs=epochs, tune=tune, isotropy=None if isotropy else 0)
    trained = train_parser(
        treebank,
        encoder,
        output,
        ParserSettings.preset(preset, seed=seed, **changes),
        EncoderSettings(layers=layers, device=device, offline=offline),
        dev=dev,
        also=further,
        weights=opt.weights_of(weights, 1 + len(further)),
        bridge=bridge,
        start=start,
        resume=resume,
        force=force,
        progress=progress(),
    )
    if trained is None:  # not the first process of several
        return
    save_curve(trained)
    if as_json:
        print_json(as_dict(trained))
    else:
        show(show_trained, trained)
