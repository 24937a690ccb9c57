"""`treebridge pretrain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, progress, show
from treebridge.cli.options import TRAINING, count, option, setting
from treebridge.encode.pretrain.settings import TAUGHT_PAIRS, PretrainSettings, Start
from treebridge.errors import TreebridgeError

OF = PretrainSettings


@command("pretrain", "treebridge pretrain pt.txt.xz --minutes 60 -o pt-bert")
def pretrain(
    text: Annotated[list[str], typer.Argument(help="Text, one sentence per line, or a bitext.")],
    output: Annotated[Path, opt.output_option("Folder for the encoder.")],
    force: opt.Force = False,
    side: Annotated[
        Literal["source", "target"] | None, option("Side of a bitext to read.")
    ] = None,
    minutes: Annotated[
        float | None,
        setting(OF, "minutes",
                "Minutes to train (default 60); a faster machine trains further.",
                panel=TRAINING, show_default=False),
    ] = None,
    tokens: Annotated[
        int | None,
        setting(OF, "tokens", "Subword pieces to train on, such as 5M; replaces --minutes.",
                panel=TRAINING, parser=count, metavar="N", show_default=False),
    ] = None,
    learning_rate: Annotated[
        float, setting(OF, "learning_rate", "Peak learning rate.", panel=TRAINING)
    ] = OF.learning_rate,
    batch: Annotated[
        int, setting(OF, "batch", "Subword pieces per batch.", panel=TRAINING)
    ] = OF.batch,
    masked: Annotated[
        float, setting(OF, "masked", "Share of words to mask.", panel=TRAINING)
    ] = OF.masked,
    start: Annotated[
        Start,
        setting(OF, "start", "Initial embeddings: from co-occurrence counts (informed) or random.",
                panel=TRAINING),
    ] = OF.start,
    teacher: Annotated[
        str | None,
        option("Encoder of the other side of the bitext, to learn the vectors of aligned words "
               "from, and to start from its layers if it is a BERT of the same sizes.",
               panel=TRAINING),
    ] = None,
    pairs: Annotated[
        int | None,
        option("Sentence pairs to use with --teacher.", panel=TRAINING, parser=count, metavar="N",
               show_default=f"{TAUGHT_PAIRS:,}"),
    ] = None,
    seed: Annotated[
        int,
        opt.seed_option(OF, "Random seed; with --tokens, the same seed gives the same encoder.",
                        panel=TRAINING),
    ] = OF.seed,
    resume: opt.Resume = True,
    vocabulary: Annotated[
        int, setting(OF, "vocabulary", "Vocabulary size.", min=100)
    ] = OF.vocabulary,
    cased: Annotated[
        bool, setting(OF, "cased", "Keep or drop capital letters.", "--cased/--uncased")
    ] = OF.cased,
    layers: Annotated[int, setting(OF, "layers", "Number of layers.", min=1)] = OF.layers,
    hidden: Annotated[int, setting(OF, "hidden", "Hidden size.", min=1)] = OF.hidden,
    heads: Annotated[int, setting(OF, "heads", "Number of attention heads.", min=1)] = OF.heads,
    feed_forward: Annotated[
        int, setting(OF, "feed_forward", "Feed-forward size.", min=1)
    ] = OF.feed_forward,
    length: Annotated[
        int, setting(OF, "length", "Maximum input length, in subword pieces.")
    ] = OF.length,
    device: opt.Device = "auto",
) -> None:  # fmt: skip
    """Pre-train a small BERT on raw text, for a language that has none."""
    from treebridge.recipes.pretrain import pretrain as pretrain_encoder
    from treebridge.show.pretrain import show_pretrained

    if minutes is not None and tokens is not None:
        raise TreebridgeError("give --minutes or --tokens, not both")
    settings = PretrainSettings(
        vocabulary=vocabulary, cased=cased, layers=layers, hidden=hidden, heads=heads,
        feed_forward=feed_forward, length=length, batch=batch, masked=masked,
        learning_rate=learning_rate, start=start, seed=seed, tokens=tokens or 0,
        minutes=OF.minutes if minutes is None else minutes,
    )  # fmt: skip
    made = pretrain_encoder(
        text, output, settings, side=side, teacher=teacher, pairs=pairs or TAUGHT_PAIRS,
        device=device, resume=resume, force=force, progress=progress(),
    )  # fmt: skip
    if made is not None:
        show(show_pretrained, made)
