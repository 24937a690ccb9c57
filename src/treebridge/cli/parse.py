"""Commands that use a parser: parse, evaluate."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, note, print_json, progress, show
from treebridge.cli.options import METHOD, OUTPUT, option
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError


@command("parse", 'treebridge parse --model es "El banco aprobó el préstamo."')
def parse(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Raw text or CoNLL-U files, or sentences (default: standard input)."),
    ] = None,
    model: opt.Models = None,
    text: Annotated[
        list[str] | None, option("Text to parse, even if it looks like a file name.")
    ] = None,
    output: opt.OutputFile = None,
    output_format: Annotated[
        Literal["conllu", "json", "text", "svg", "html"],
        option("Output format; json: one object per line.", "--format", panel=OUTPUT),
    ] = "conllu",
    confidence: Annotated[
        bool, option("Write the probability of each arc to MISC.", "--confidence", panel=OUTPUT)
    ] = False,
    force: opt.Force = False,
    keep_heads: Annotated[
        bool,
        option("Keep the heads and labels that the CoNLL-U input has, and fill in the rest.",
               "--keep-heads"),
    ] = False,
    keep_tags: Annotated[
        bool,
        option("Let the UPOS tags of the input guide the tree; they are kept in any case.",
               "--keep-tags"),
    ] = False,
    lines: opt.Lines = False,
    tokens: opt.Tokens = False,
    language: opt.Language = None,
    mwt: opt.Contracted = None,
    lexicon: opt.LexiconFile = None,
    columns: Annotated[
        str | None,
        option("Columns to write beside the tree, separated by commas: upos, xpos, feats, lemma; "
               "drawings show them.",
               panel=OUTPUT, show_default="all that the model predicts"),
    ] = None,
    bridge: opt.BridgeFolder = None,
    encoder: opt.MovedEncoder = None,
    device: opt.Device = EncoderSettings.device,
    precision: opt.Precision = EncoderSettings.precision,
    backend: opt.Backend = EncoderSettings.backend,
    offline: opt.Offline = EncoderSettings.offline,
    engine: opt.Engine = "local",
    ray_address: opt.RayAddress = None,
    workers: opt.Workers = None,
) -> None:  # fmt: skip
    """Parse text or CoNLL-U: trees, tags and the other columns that the model predicts.

    Tags, features and lemmas of the input are kept.
    """
    from treebridge.corpus.files import open_bytes
    from treebridge.corpus.input import Reading, is_text, text_source
    from treebridge.parse.shipped import find_model
    from treebridge.show.output import WRITERS, check_output

    folders = [find_model(one) for one in _chosen(model)]
    inputs = files or ([] if text else ["-"])
    for file in inputs:
        if file != "-" and not is_text(file):
            with open_bytes(file):  # report a missing file before loading a model
                pass
    check_output(output, output_format, force=force)
    typed = "-" in inputs and sys.stdin.isatty()
    if typed:
        note("type a sentence and an empty line to parse it; Ctrl-D to stop")

    from treebridge.cluster.engine import ClusterSettings
    from treebridge.locks import hold
    from treebridge.parse.chunking import CHUNK
    from treebridge.parse.confidence import with_confidence
    from treebridge.parse.vote import load_parsers
    from treebridge.recipes.parse import parse_files, parse_on_cluster

    encoding = EncoderSettings(precision=precision, backend=backend, device=device, offline=offline)
    chosen_columns = None if columns is None else opt.parts(columns)
    elsewhere = None
    if engine == "ray":
        cluster = ClusterSettings(ray_address, workers=workers)
        elsewhere = parse_on_cluster(
            cluster, folders, encoder, encoding, bridge, lexicon, chosen_columns
        )
    sources = [text_source(file) if is_text(file) else file for file in inputs]
    with hold(output):
        parser = load_parsers(folders, encoder, encoding, bridge, lexicon, chosen_columns)
        missing = [name for name in chosen_columns or () if name not in parser.predicts]
        if missing and parser.lexicon is None:
            note(f"this model does not predict {' and '.join(missing)}")
        parsed = parse_files(
            parser,
            [*sources, *map(text_source, text or ())],
            Reading(language, lines, tokens, mwt),
            keep_heads=keep_heads,
            keep_tags=keep_tags,
            on_overwriting=lambda: note(
                "replacing the heads and labels of the input; --keep-heads keeps them"
            ),
            at_once=1 if typed else CHUNK,
            parse=elsewhere,
            progress=progress(),
        )
        sure = confidence or output_format in ("svg", "html", "text")  # drawings always show it
        trees = (with_confidence(one) if sure else one.sentence for one in parsed)
        shown = [name for name in chosen_columns or () if name != "upos"]
        WRITERS[output_format](trees, output, shown)
    if output is not None:
        note(f"wrote {output}")


def _chosen(model: list[str] | None) -> list[str]:
    """The models that were given; without one, an error that lists the shipped models."""
    from treebridge.parse.shipped import shipped_models

    if model:
        return model
    names = ", ".join(shipped_models())
    raise TreebridgeError(
        f"choose a model with --model: a folder, or a shipped model ({names or 'none here'}); "
        "`treebridge models` describes them"
    )


@command("evaluate", "treebridge evaluate --model es es_gsd-ud-dev.conllu")
def evaluate(
    files: Annotated[
        list[str],
        typer.Argument(help="SYSTEM GOLD, two CoNLL-U files; with --model, only GOLD."),
    ],
    model: opt.Models = None,
    bridge: opt.BridgeFolder = None,
    convention: Annotated[
        Literal["paper", "conll18"],
        option("Scoring convention; paper: full labels, no PUNCT or SYM; conll18: as the "
               "official script.", panel=METHOD),
    ] = "paper",
    detail: Annotated[
        bool, option("Also print scores by label and arc length.", "--detail", panel=OUTPUT)
    ] = False,
    as_json: opt.Json = False,
    lexicon: opt.LexiconFile = None,
    encoder: opt.MovedEncoder = None,
    device: opt.Device = EncoderSettings.device,
    precision: opt.Precision = EncoderSettings.precision,
    backend: opt.Backend = EncoderSettings.backend,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Score trees against gold trees: UAS, LAS, CLAS, UPOS, and the other columns that gold has."""
    from treebridge.recipes.evaluate import evaluate_files, evaluate_parser
    from treebridge.show.evaluate import as_dict, show_evaluation

    if not model:
        if len(files) != 2:
            raise TreebridgeError(
                "expected two files, system.conllu and gold.conllu, or --model and one gold file; "
                f"found {len(files)} file{'s' * (len(files) != 1)} and no model"
            )
        evaluation = evaluate_files(files[0], files[1], convention, progress())
    else:
        if len(files) != 1:
            raise TreebridgeError(f"expected one gold file with --model, found {len(files)}")
        from treebridge.parse.vote import load_parsers

        encoding = EncoderSettings(
            precision=precision, backend=backend, device=device, offline=offline
        )
        parser = load_parsers(model, encoder, encoding, bridge, lexicon)
        name = " + ".join(model)
        evaluation = evaluate_parser(parser, files[0], convention, name=name, progress=progress())
    if as_json:
        print_json(as_dict(evaluation, detail=detail))
    else:
        show(show_evaluation, evaluation, detail=detail)
