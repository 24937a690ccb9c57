"""`treebridge next`."""

from __future__ import annotations

from typing import Annotated

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import command, note, print_json, progress
from treebridge.cli.options import OUTPUT, option, setting
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.settings import NextSettings


@command("next", "treebridge next pt news.txt -n 20 -o todo.conllu --done done.conllu",
         many=("--done",))  # fmt: skip
def next_(
    model: opt.ModelArgument,
    files: Annotated[
        list[str],
        typer.Argument(help="Raw text or CoNLL-U files (- for standard input)."),
    ],
    output: opt.OutputFile = None,
    count: Annotated[
        int, setting(NextSettings, "count", "Number of sentences.", "-n", "--count", min=1)
    ] = NextSettings.count,
    done: Annotated[
        list[str] | None,
        option("CoNLL-U files with sentences that are annotated already."),
    ] = None,
    shortest: Annotated[
        int, setting(NextSettings, "shortest", "Minimum number of words.", min=1)
    ] = NextSettings.shortest,
    longest: Annotated[
        int, setting(NextSettings, "longest", "Maximum number of words.", min=1)
    ] = NextSettings.longest,
    candidates: Annotated[
        int,
        setting(NextSettings, "candidates", "Sentences to parse and choose from, drawn at random "
                "from longer text.", min=1),
    ] = NextSettings.candidates,
    seed: Annotated[int, opt.seed_option(NextSettings)] = NextSettings.seed,
    force: opt.Force = False,
    as_json: Annotated[
        bool, option("Print figures as JSON; needs -o.", "--json", panel=OUTPUT)
    ] = False,
    lines: opt.Lines = False,
    tokens: opt.Tokens = False,
    language: opt.Language = None,
    mwt: opt.Contracted = None,
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Choose the sentences whose correction helps most, pre-annotated for an editor.

    Expected errors and new words and constructions count; near duplicates are left out. Doubtful
    arcs are highlighted as ConlluEditor shows them, and MISC has the probability of each arc.
    """
    from treebridge.corpus.files import open_bytes
    from treebridge.corpus.input import Reading, is_text, text_source
    from treebridge.errors import TreebridgeError
    from treebridge.locks import hold
    from treebridge.parse.shipped import find_model
    from treebridge.show.output import check_output, write_conllu

    if as_json and output is None:
        raise TreebridgeError("--json prints figures, so the sentences need a file: add -o")
    folder = find_model(model)
    for file in (*files, *(done or ())):
        if file != "-" and not is_text(file):
            with open_bytes(file):  # report a missing file before loading a model
                pass
    check_output(output, "conllu", force=force)

    from treebridge.parse.parser import Parser
    from treebridge.recipes.next_trees import next_trees
    from treebridge.show.next import as_dict, summary

    settings = NextSettings(count, shortest, longest, candidates, seed)
    with hold(output):
        found = next_trees(
            Parser.load(folder, None, EncoderSettings(device=device, offline=offline)),
            [text_source(file) if is_text(file) else file for file in files],
            settings,
            Reading(language, lines, tokens, mwt),
            done=done or (),
            progress=progress(),
        )
        write_conllu(found.sentences, output)
    if as_json:
        print_json(as_dict(found))
    else:
        note(summary(found, output))
