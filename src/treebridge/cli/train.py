"""`treebridge train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import DEVICE, LAYERS, Force, Preset, Tags, seed_option


@app.command()
def train(
    treebank: Annotated[str, typer.Argument(help="CoNLL-U with trees.")],
    encoder: Annotated[str, typer.Option(help="Folder, hub name or file of vectors.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The parser's folder.")],
    dev: Annotated[
        str | None, typer.Option(help="Trees that choose the best epoch; else every 20th is kept.")
    ] = None,
    preset: Annotated[
        Preset, typer.Option(help="default: under an hour on two cores; small: minutes.")
    ] = Preset.default,
    tags: Annotated[
        Tags | None, typer.Option(help="Parts of speech: the parser's own (predicted) or given.")
    ] = None,
    isotropy: Annotated[bool, typer.Option(help="Normalise the encoder's vectors.")] = True,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    seed: Annotated[int, seed_option("Same seed, same parser.")] = 1,
    force: Force = False,
    resume: Annotated[bool, typer.Option(help="Go on with an interrupted training.")] = True,
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """Train a parser on a treebank, in the space of an encoder."""
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.locks import hold
    from treebridge.parse.settings import ParserSettings
    from treebridge.show.train import train_parser

    chosen = {"tags": tags and tags.value, "isotropy": None if isotropy else 0, "epochs": epochs}
    changes = {name: value for name, value in chosen.items() if value is not None}
    settings = ParserSettings.preset(preset.value, seed=seed, **changes)
    encoder_settings = EncoderSettings(layers=layers, device=device, offline=offline)
    with hold(output):
        train_parser(
            treebank, dev, encoder, output, settings, encoder_settings, resume=resume, force=force
        )
