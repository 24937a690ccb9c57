"""`treebridge refine`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import (
    BRIDGE,
    CONTRACTIONS,
    DEVICE,
    LINKS,
    MODEL,
    TARGET_LANGUAGE,
    CheckSides,
    Engine,
    Force,
    Pairs,
    Words,
    seed_option,
)


@app.command()
def refine(
    model: Annotated[str, typer.Option(help=MODEL)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The new parser's folder.")],
    bridge: Annotated[str | None, typer.Option(help=BRIDGE)] = None,
    bitext: Annotated[
        list[str] | None, typer.Option(help="A bitext; twice for two parallel files.")
    ] = None,
    itself: Annotated[
        list[str] | None,
        typer.Option("--self", help="Target text: learn from the parser's own surest trees."),
    ] = None,
    trees: Annotated[
        str | None, typer.Option(help="A few target trees of your own, as CoNLL-U.")
    ] = None,
    treebank: Annotated[
        str | None, typer.Option(help="Source trees, so that the parser does not forget.")
    ] = None,
    tagger: Annotated[
        str | None, typer.Option(help="For a parser with gold tags: one with predicted tags.")
    ] = None,
    pairs: Pairs = None,
    check_sides: CheckSides = True,
    sentences: Annotated[int, typer.Option(min=20, help="Learn from at most so many.")] = 15000,
    own: Annotated[
        bool, typer.Option("--fill/--mask", help="Unlinked words: the parser's own guess, or none.")
    ] = True,
    reorder: Annotated[
        bool, typer.Option(help="Put source trees into the target's word order, as links tell it.")
    ] = True,
    epochs: Annotated[int, typer.Option(min=1, help="At most so many.")] = 3,
    passes: Annotated[
        int, typer.Option(min=1, help="2: refine twice; helps where the encoder is weak.")
    ] = 1,
    links: Annotated[str | None, typer.Option(help=LINKS)] = None,
    aligner: Annotated[Engine, typer.Option(help="Which aligner to train.")] = Engine.hmm,
    source_language: Annotated[str, typer.Option(help="Code of the source language.")] = "en",
    target_language: Annotated[str | None, typer.Option(help=TARGET_LANGUAGE)] = None,
    contractions: Annotated[bool, typer.Option(help=CONTRACTIONS)] = True,
    words: Annotated[Words, typer.Option(help="Who finds the words.")] = Words.rules,
    seed: Annotated[int, seed_option("Same seed, same parser.")] = 1,
    force: Force = False,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """Let a bridged parser learn from trees that the links of a bitext carry over."""
    from treebridge.bridge.make import MakeSettings
    from treebridge.corpus.bitext import Bitext
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.locks import hold
    from treebridge.parse.carry import CarrySettings
    from treebridge.parse.refine import RefineSettings
    from treebridge.show.refine import Request, refine_files

    parallel = bitext and Bitext(
        tuple(bitext),
        source_language=source_language,
        target_language=target_language,
        engine=words.value,
        limit=pairs,
        contractions=contractions,
    )
    request = Request(
        model,
        bridge,
        output,
        parallel or None,
        itself or (),
        treebank,
        trees,
        tagger,
        target_language,
        MakeSettings(aligner=aligner.value, links=links, check_sides=check_sides),
        CarrySettings(sentences=sentences, fill=own, seed=seed),
        RefineSettings(epochs=epochs, reorder=reorder, seed=seed),
        passes,
        force,
    )
    with hold(output):
        refine_files(request, EncoderSettings(device=device, offline=offline))
