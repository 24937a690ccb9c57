"""Commands that use a parser: parse, evaluate."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import (
    BACKEND,
    BRIDGE,
    DEVICE,
    ENGINE,
    MODEL,
    OTHER_ENCODER,
    PRECISION,
    RAY_ADDRESS,
    WORKERS,
    Force,
    Where,
)


class Format(str, Enum):
    """What `parse` and `draw` write."""

    conllu = "conllu"
    json = "json"
    text = "text"
    svg = "svg"
    html = "html"


@app.command()
def parse(
    model: Annotated[str, typer.Option(help=MODEL)],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Raw text or CoNLL-U; - or nothing: standard input; or a sentence itself."
        ),
    ] = None,
    bridge: Annotated[str | None, typer.Option(help=BRIDGE)] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file instead of standard output.")
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="One sentence a line.")] = False,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="One sentence a line, spaces between its words.")
    ] = False,
    output_format: Annotated[
        Format, typer.Option("--format", help="json: an object a line; svg, html: pictures.")
    ] = Format.conllu,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Write how sure the parser is into MISC.")
    ] = False,
    language: Annotated[
        str | None, typer.Option(help="Of raw text, such as pt; else the model's.")
    ] = None,
    mwt: Annotated[
        str | None, typer.Option(help="Table of multi-word tokens; a line: do<tab>de o.")
    ] = None,
    force: Force = False,
    encoder: Annotated[str | None, typer.Option(help=OTHER_ENCODER)] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    precision: Annotated[str, typer.Option(help=PRECISION)] = "auto",
    backend: Annotated[str, typer.Option(help=BACKEND)] = "torch",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    engine: Annotated[Where, typer.Option(help=ENGINE)] = Where.local,
    ray_address: Annotated[str | None, typer.Option(help=RAY_ADDRESS)] = None,
    workers: Annotated[int | None, typer.Option(min=1, help=WORKERS)] = None,
) -> None:
    """Give each sentence its tree; UPOS is filled in where there is none."""
    from treebridge.cluster.engine import ClusterSettings
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.locks import hold
    from treebridge.show.output import check_output
    from treebridge.show.parse import Reading, check_inputs, load_parser, parse_files, ray_parse

    kind, files = output_format.value, files or ["-"]
    check_inputs(files)
    check_output(output, kind, force=force)
    encoding = EncoderSettings(precision=precision, backend=backend, device=device, offline=offline)
    with hold(output):
        parser = load_parser(model, bridge, encoder, encoding)
        cluster = ClusterSettings(ray_address, workers=workers)
        elsewhere = ray_parse(cluster, model, bridge, encoder, encoding)
        reading = Reading(language, lines, tokens, mwt)
        parse_files(
            parser, files, reading, output=output, kind=kind, confidence=confidence, force=force,
            parse=elsewhere if engine is Where.ray else None,
        )  # fmt: skip


class Rules(str, Enum):
    """Which words and which labels `evaluate` counts."""

    paper = "paper"
    conll18 = "conll18"


@app.command()
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(help="system.conllu gold.conllu, or gold.conllu alone with --model."),
    ],
    model: Annotated[str | None, typer.Option(help=MODEL)] = None,
    bridge: Annotated[str | None, typer.Option(help=BRIDGE)] = None,
    convention: Annotated[
        Rules,
        typer.Option(
            help="paper: without PUNCT and SYM, full labels; conll18: as the official script."
        ),
    ] = Rules.paper,
    detail: Annotated[bool, typer.Option("--detail", help="Also by label and by length.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
    encoder: Annotated[str | None, typer.Option(help=OTHER_ENCODER)] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    precision: Annotated[str, typer.Option(help=PRECISION)] = "auto",
    backend: Annotated[str, typer.Option(help=BACKEND)] = "torch",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """How good the trees of a file or of a parser are: UAS, LAS, CLAS, UPOS, UEM and LEM."""
    from treebridge.show.evaluate import evaluate_files, evaluate_model

    if model is None:
        evaluate_files(files, convention=convention.value, detail=detail, as_json=as_json)
        return
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.show.parse import load_parser

    encoding = EncoderSettings(precision=precision, backend=backend, device=device, offline=offline)
    parser = load_parser(model, bridge, encoder, encoding)
    evaluate_model(
        parser, model, files, convention=convention.value, detail=detail, as_json=as_json
    )
