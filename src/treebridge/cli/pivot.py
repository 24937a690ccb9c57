"""`treebridge pivot`."""

from __future__ import annotations

from typing import Annotated

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, is_quiet
from treebridge.cli.options import OUTPUT, option


@command("pivot", "treebridge pivot en-es.tsv.xz en-pt.tsv.xz -o es-pt.tsv")
def pivot(
    source: Annotated[str, typer.Argument(help="Bitext with the new source language.")],
    target: Annotated[str, typer.Argument(help="Bitext with the target language.")],
    output: Annotated[
        str,
        option("File for the joined bitext: source, tab, target.", "-o", "--output", panel=OUTPUT,
               show_default="standard output"),
    ] = "-",
    as_json: opt.Json = False,
    source_language: opt.SourceLanguage = "en",
) -> None:  # fmt: skip
    """Join two bitexts with the same source language into one between their targets."""
    import json
    import sys
    from contextlib import nullcontext

    from treebridge.corpus.bitext import Bitext
    from treebridge.corpus.files import write_text
    from treebridge.corpus.pivot import join_bitexts
    from treebridge.errors import TreebridgeError
    from treebridge.locks import hold

    one, other = (Bitext.read(file, source_language=source_language) for file in (source, target))
    pairs, piped = 0, output == "-"
    opened = nullcontext(sys.stdout) if piped else write_text(output)
    with hold(None if piped else output), opened as stream:
        for pair in join_bitexts(one, other):
            stream.write("\t".join(pair) + "\n")
            pairs += 1
        if not pairs:
            raise TreebridgeError(
                f"no sentence occurs in both {source} and {target}; both need the same first side"
            )
    summary = sys.stderr if piped else sys.stdout
    if as_json:
        print(json.dumps({"pairs": pairs, "output": output}), file=summary)
    elif not is_quiet():
        print(f"{pairs:,} sentence pairs", file=summary)
