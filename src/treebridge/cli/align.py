"""`treebridge align`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.alignment.settings import AlignerName, AlignSettings, Symmetrization
from treebridge.cli import options as opt
from treebridge.cli.app import command, is_quiet, progress
from treebridge.cli.options import HARDWARE, METHOD, OUTPUT, option, setting
from treebridge.errors import TreebridgeError


@command(
    "align",
    "treebridge align en-pt.tsv.xz -o en-pt.links",
    renamed={
        "--engine": "--aligner",
        "--source": "--source-language",
        "--target": "--target-language",
    },
)
def align(
    files: Annotated[list[str], typer.Argument(help="Bitext: one file, or two parallel files.")],
    output: Annotated[
        str | None,
        option("File for the alignments (Pharaoh i-j).", "-o", "--output", panel=OUTPUT,
               show_default="standard output"),
    ] = None,
    score: Annotated[
        Path | None,
        option("Gold alignments to score against: source, tab, target, tab, i-j.", panel=OUTPUT),
    ] = None,
    as_json: opt.Json = False,
    pairs: opt.Pairs = None,
    source_language: opt.SourceLanguage = "en",
    target_language: opt.TargetLanguage = None,
    model: Annotated[
        Path | None, option("Trained aligner to use, instead of training one.")
    ] = None,
    save_model: Annotated[
        Path | None, option("Folder for the trained aligner.", panel=OUTPUT)
    ] = None,
    force: opt.Force = False,
    aligner: Annotated[
        AlignerName | None,
        setting(AlignSettings, "aligner", "Word aligner.", show_default=AlignSettings.aligner),
    ] = None,
    symmetrize: Annotated[
        Symmetrization,
        setting(AlignSettings, "symmetrize", "How to combine the two directions."),
    ] = AlignSettings.symmetrize,
    one_to_one: Annotated[
        bool,
        setting(AlignSettings, "one_to_one", "Keep only one-to-one links.",
                "--one-to-one/--no-one-to-one"),
    ] = AlignSettings.one_to_one,
    split_contractions: Annotated[
        bool | None, option(opt.CONTRACTIONS, "--contractions/--no-contractions", panel=METHOD,
                            show_default="contractions, unless --score is given")
    ] = None,
    words: opt.Tokenizer = "rules",
    threads: Annotated[
        int | None, option("Number of cores.", panel=HARDWARE, min=1, show_default="all")
    ] = None,
) -> None:  # fmt: skip
    """Align the words of a bitext, or score an aligner against gold alignments."""
    import json
    import sys

    from rich.console import Console

    from treebridge.alignment.pharaoh import write_pharaoh
    from treebridge.locks import hold
    from treebridge.recipes.align import align as align_bitext
    from treebridge.show.align import show_alignment

    if model and aligner:
        raise TreebridgeError("a trained aligner (--model) sets the aligner; leave out --aligner")
    # Gold alignments are between words as written.
    split = score is None if split_contractions is None else split_contractions
    bitext = opt.open_bitext(files, source_language, target_language, words, pairs, split)
    output = output or (None if score else "-")
    with hold(None if output == "-" else output), hold(save_model):
        made = align_bitext(
            bitext,
            AlignSettings(aligner or AlignSettings.aligner, symmetrize, one_to_one),
            model=model,
            save_model=save_model,
            gold=score,
            threads=threads,
            force=force,
            progress=progress(),
        )
        if output:
            write_pharaoh(output, made.links)
    stream = sys.stderr if output == "-" else sys.stdout
    if as_json:
        print(json.dumps(made.as_dict()), file=stream)
    elif not is_quiet():
        show_alignment(made, Console(file=stream))
