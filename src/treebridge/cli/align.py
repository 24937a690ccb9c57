"""`treebridge align`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.alignment.settings import AlignerName, AlignSettings, Symmetrization
from treebridge.cli.app import command, is_quiet, progress
from treebridge.cli.options import (
    HARDWARE,
    METHOD,
    OUTPUT,
    Force,
    Json,
    Pairs,
    SourceLanguage,
    TargetLanguage,
    Tokenizer,
    option,
    setting,
)
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
    files: Annotated[list[str], typer.Argument(help="Bitext: one file, or two parallel ones.")],
    output: Annotated[
        str | None,
        option("File for the alignments (Pharaoh i-j); default: standard output.", "-o",
               "--output", panel=OUTPUT),
    ] = None,
    score: Annotated[
        Path | None, option("Gold alignments: source, tab, target, tab, i-j.", panel=OUTPUT)
    ] = None,
    as_json: Json = False,
    pairs: Pairs = None,
    source_language: SourceLanguage = "en",
    target_language: TargetLanguage = None,
    model: Annotated[Path | None, option("Trained aligner to use instead of training one.")] = None,
    save_model: Annotated[
        Path | None, option("Folder for the trained aligner.", panel=OUTPUT)
    ] = None,
    force: Force = False,
    aligner: Annotated[
        AlignerName | None,
        setting(AlignSettings, "aligner", "Word aligner.", show_default=AlignSettings.aligner),
    ] = None,
    symmetrize: Annotated[
        Symmetrization, setting(AlignSettings, "symmetrize", "How both directions are combined.")
    ] = AlignSettings.symmetrize,
    one_to_one: Annotated[
        bool,
        setting(AlignSettings, "one_to_one", "Keep only one-to-one links.",
                "--one-to-one/--no-one-to-one"),
    ] = AlignSettings.one_to_one,
    split_contractions: Annotated[
        bool | None, option("Split contractions (pt do → de o), as `parse` does.",
                            "--contractions/--no-contractions", panel=METHOD,
                            show_default="unless --score is given")
    ] = None,
    words: Tokenizer = "rules",
    threads: Annotated[
        int | None, option("Cores to use.", panel=HARDWARE, min=1, show_default="all")
    ] = None,
) -> None:  # fmt: skip
    """Align the words of a bitext, or score an aligner against gold alignments."""
    import json
    import sys

    from rich.console import Console

    from treebridge.alignment.pharaoh import write_pharaoh
    from treebridge.corpus.bitext import Bitext
    from treebridge.locks import hold
    from treebridge.recipes.align import align as align_bitext
    from treebridge.show.align import show_alignment

    if model and aligner:
        raise TreebridgeError("--model brings its own aligner: leave --aligner out")
    bitext = Bitext(
        tuple(files),
        source_language=source_language,
        target_language=target_language,
        engine=words,
        limit=pairs,
        # Gold alignments are between words as they are written.
        contractions=score is None if split_contractions is None else split_contractions,
    )
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
