"""`treebridge suggest`."""

from __future__ import annotations

from typing import Annotated

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, note, print_json, progress
from treebridge.cli.options import OUTPUT, option
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import OutputExists


@command("suggest", "treebridge suggest es text.txt -n 50 -o words.tsv")
def suggest(
    model: opt.ModelArgument,
    files: Annotated[
        list[str], typer.Argument(help="Raw text or CoNLL-U files, or sentences.")
    ],
    number: Annotated[
        int, option("Number of words.", "-n", "--number", panel=OUTPUT, min=1)
    ] = 50,
    output: opt.OutputFile = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
    lexicon: opt.LexiconFile = None,
    language: opt.Language = None,
    bridge: opt.BridgeFolder = None,
    encoder: opt.MovedEncoder = None,
    device: opt.Device = EncoderSettings.device,
    precision: opt.Precision = EncoderSettings.precision,
    backend: opt.Backend = EncoderSettings.backend,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Suggest words for a lexicon: frequent ones whose tags the model is least sure of.

    Correct the UPOS column, add lemmas and features if you like, delete lines you cannot judge,
    and use the file with --lexicon. Words that are in a lexicon already are not suggested.
    """
    from treebridge.corpus.files import write_text
    from treebridge.corpus.input import Reading
    from treebridge.parse.parser import Parser
    from treebridge.recipes.suggest import suggest as suggest_words
    from treebridge.recipes.suggest import suggestions_tsv

    if output is not None and output.exists() and not force:
        raise OutputExists("file exists", file=output)
    encoding = EncoderSettings(precision=precision, backend=backend, device=device, offline=offline)
    parser = Parser.load(model, encoder, encoding, bridge, lexicon)
    found = suggest_words(
        parser, files, number, reading=Reading(language), progress=progress(verbose=False)
    )
    if as_json:
        print_json([one._asdict() for one in found])
    if output is not None:
        with write_text(output) as stream:
            stream.write(suggestions_tsv(found))
        note(f"wrote {output}")
    elif not as_json:
        print(suggestions_tsv(found), end="")
