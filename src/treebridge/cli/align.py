"""`treebridge align`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import (
    CONTRACTIONS,
    TARGET_LANGUAGE,
    Engine,
    Pairs,
    Symmetrize,
    Words,
)


@app.command()
def align(
    files: Annotated[
        list[str], typer.Argument(help="A bitext: one file, or two parallel ones; - is stdin.")
    ],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Links as i-j, a line a pair; - is standard output."),
    ] = None,
    engine: Annotated[
        Engine | None, typer.Option(help="Which aligner to train.", show_default="hmm")
    ] = None,
    symmetrize: Annotated[
        Symmetrize, typer.Option(help="How two directions make one.")
    ] = Symmetrize.intersection,
    one_to_one: Annotated[
        bool, typer.Option(help="Leave out links that share a word with another.")
    ] = True,
    score: Annotated[
        Path | None, typer.Option(help="Gold links: source, tab, target, tab, i-j.")
    ] = None,
    pairs: Pairs = None,
    source: Annotated[
        str, typer.Option("--source", "--source-language", help="Language of the source side.")
    ] = "en",
    target: Annotated[
        str | None, typer.Option("--target", "--target-language", help=TARGET_LANGUAGE)
    ] = None,
    contractions: Annotated[
        bool | None, typer.Option(help=CONTRACTIONS, show_default="unless --score is given")
    ] = None,
    words: Annotated[Words, typer.Option(help="Who finds the words.")] = Words.rules,
    model: Annotated[
        Path | None, typer.Option(help="Use this trained model instead of training one.")
    ] = None,
    save_model: Annotated[
        Path | None, typer.Option(help="Keep the trained model in this folder.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Cores to use.", show_default="all")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
) -> None:
    """Which word translates which: links for a bitext, or a score against gold links."""
    from treebridge.locks import hold
    from treebridge.show.align import Request, align_files

    request = Request(
        method=symmetrize.value,
        one_to_one=one_to_one,
        engine=engine.value if engine else None,
        model=model,
        save_model=save_model,
        output=output,
        gold=score,
        threads=threads,
        as_json=as_json,
        force=force,
    )
    with hold(None if output == "-" else output), hold(save_model):
        align_files(
            files,
            request,
            source_language=source,
            target_language=target,
            engine=words.value,
            limit=pairs,
            # Links made by hand are between words as they are written.
            contractions=score is None if contractions is None else contractions,
        )
