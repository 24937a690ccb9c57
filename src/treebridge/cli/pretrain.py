"""`treebridge pretrain`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import DEVICE, Force, seed_option

MINUTES = "Minutes to train (default 60); how far that gets depends on the machine."


class Side(str, Enum):
    """Which language of a bitext to read."""

    source = "source"
    target = "target"


@app.command()
def pretrain(
    text: Annotated[list[str], typer.Argument(help="Text, a sentence a line; or bitext.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The encoder's folder.")],
    side: Annotated[Side | None, typer.Option(help="What to read of a bitext.")] = None,
    minutes: Annotated[float | None, typer.Option(help=MINUTES)] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Pieces to train on, instead of minutes.")
    ] = None,
    vocabulary: Annotated[int, typer.Option(min=100, help="Different pieces.")] = 12_000,
    cased: Annotated[bool, typer.Option("--cased/--uncased", help="Keep capitals.")] = True,
    layers: Annotated[int, typer.Option(min=1)] = 4,
    hidden: Annotated[int, typer.Option(min=1, help="Dimensions.")] = 256,
    heads: Annotated[int, typer.Option(min=1)] = 4,
    feed_forward: Annotated[int, typer.Option(min=1)] = 1024,
    length: Annotated[int, typer.Option(help="The most pieces it takes at once.")] = 128,
    batch: Annotated[int, typer.Option(help="Pieces in a batch.")] = 1024,
    masked: Annotated[float, typer.Option(help="The share of words to guess.")] = 0.3,
    learning_rate: Annotated[float, typer.Option(help="At its highest.")] = 7e-4,
    start: Annotated[str, typer.Option(help="informed by co-occurrence, or random.")] = "informed",
    seed: Annotated[int, seed_option("With --tokens, the same seed gives the same encoder.")] = 1,
    force: Force = False,
    resume: Annotated[bool, typer.Option(help="Go on with an interrupted training.")] = True,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
) -> None:
    """Make a small BERT from raw text, for a language that has none."""
    from treebridge.encode.pretrain.settings import PretrainSettings
    from treebridge.errors import TreebridgeError
    from treebridge.locks import hold
    from treebridge.show.pretrain import pretrain_encoder

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
        minutes=60.0 if minutes is None else minutes,
        tokens=tokens or 0,
        seed=seed,
    )
    with hold(output):
        pretrain_encoder(
            text, side and side.value, output, settings, device=device, resume=resume, force=force
        )
