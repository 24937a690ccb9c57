"""`treebridge pretrain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treebridge.cli.app import command, progress, show
from treebridge.cli.options import (
    OUTPUT,
    TRAINING,
    Device,
    Force,
    checked_seed,
    count,
    option,
    setting,
)
from treebridge.encode.pretrain.settings import PretrainSettings, Start
from treebridge.errors import TreebridgeError

OF = PretrainSettings


@command("pretrain", "treebridge pretrain pt.txt.xz --minutes 60 -o pt-bert")
def pretrain(
    text: Annotated[list[str], typer.Argument(help="Text, one sentence per line; or bitext.")],
    output: Annotated[Path, option("Folder for the encoder.", "-o", "--output", panel=OUTPUT)],
    force: Force = False,
    side: Annotated[
        Literal["source", "target"] | None, option("Side of a bitext to read.")
    ] = None,
    minutes: Annotated[
        float | None,
        setting(OF, "minutes",
                "Minutes to train (default 60); how far that gets depends on the machine.",
                panel=TRAINING,
                show_default=False),
    ] = None,
    tokens: Annotated[
        int | None,
        setting(OF, "tokens", "Pieces to train on, instead of minutes, such as 5M.",
                panel=TRAINING, parser=count, metavar="N", show_default=False),
    ] = None,
    learning_rate: Annotated[
        float, setting(OF, "learning_rate", "Peak learning rate.", panel=TRAINING)
    ] = OF.learning_rate,
    batch: Annotated[int, setting(OF, "batch", "Pieces per batch.", panel=TRAINING)] = OF.batch,
    masked: Annotated[
        float, setting(OF, "masked", "Share of the words to mask.", panel=TRAINING)
    ] = OF.masked,
    start: Annotated[
        Start,
        setting(OF, "start", "Initial embeddings: from co-occurrence (informed) or random.",
                panel=TRAINING),
    ] = OF.start,
    seed: Annotated[
        int,
        setting(OF, "seed", "Random seed; with --tokens, the same seed gives the same encoder.",
                panel=TRAINING, callback=checked_seed),
    ] = OF.seed,
    resume: Annotated[
        bool, option("Resume an interrupted training.", "--resume/--no-resume", panel=TRAINING)
    ] = True,
    vocabulary: Annotated[
        int, setting(OF, "vocabulary", "Vocabulary size.", min=100)
    ] = OF.vocabulary,
    cased: Annotated[
        bool, setting(OF, "cased", "Keep capital letters.", "--cased/--uncased")
    ] = OF.cased,
    layers: Annotated[int, setting(OF, "layers", "Number of layers.", min=1)] = OF.layers,
    hidden: Annotated[int, setting(OF, "hidden", "Hidden size.", min=1)] = OF.hidden,
    heads: Annotated[int, setting(OF, "heads", "Number of attention heads.", min=1)] = OF.heads,
    feed_forward: Annotated[
        int, setting(OF, "feed_forward", "Feed-forward size.", min=1)
    ] = OF.feed_forward,
    length: Annotated[
        int, setting(OF, "length", "Longest input, in pieces.")
    ] = OF.length,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Pre-train a small BERT from raw text, for a language that has none."""
    from treebridge.recipes.pretrain import pretrain as pretrain_encoder
    from treebridge.show.pretrain import show_pretrained

    if minutes is not None and tokens is not None:
        raise TreebridgeError("--minutes and --tokens are two budgets; give one")
    settings = PretrainSettings(
        vocabulary=vocabulary,
        cased=cased,
        layers=layers,
        hidden=hidden,
        heads=heads,
        feed_forward=feed_forward,
        length=length,
        batch=batch,
        masked=masked,
        learning_rate=learning_rate,
        start=start,
        minutes=OF.minutes if minutes is None else minutes,
        tokens=tokens or 0,
        seed=seed,
    )
    made = pretrain_encoder(
        text, output, settings, side=side, device=device, resume=resume, force=force,
        progress=progress(),
    )  # fmt: skip
    if made is not None:
        show(show_pretrained, made)
