"""`treebridge sources`."""

from __future__ import annotations

from typing import Annotated

from treebridge.bridge.settings import BridgeSettings
from treebridge.cli import options as opt
from treebridge.cli.app import command, print_json, progress, show
from treebridge.cli.options import option
from treebridge.encode.settings import EncoderSettings


@command(
    "sources",
    "treebridge sources --model en --bridge en-pt --bitext en-pt.tsv.xz --treebank en.conllu "
    "--bridges es.conllu=en-es ro.conllu=en-ro",
    many=("--bridges", "--target-text"),
)
def sources(
    model: Annotated[str, opt.MODEL],
    bridges: Annotated[
        list[str],
        option("Candidates: treebanks with the bridges of their languages, or auto:FOLDER.",
               metavar="TREEBANK=BRIDGE"),
    ],
    bridge: opt.BridgeFolder = None,
    treebank: Annotated[
        str | None, option("The parser's own treebank, to compare with and to mix in.")
    ] = None,
    target_text: Annotated[
        list[str] | None,
        option("Target text to compare labels with.", show_default="arcs carried over links"),
    ] = None,
    bitext: Annotated[
        list[str] | None,
        option("Parallel text of the target, to measure what each candidate teaches; takes a "
               "minute each."),
    ] = None,
    pairs: opt.Pairs = None,
    source_language: opt.SourceLanguage = "en",
    target_language: opt.TargetLanguage = None,
    as_json: opt.Json = False,
    aligner: opt.Aligner = BridgeSettings.aligner,
    contractions: opt.Contractions = True,
    words: opt.Tokenizer = "rules",
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Rank treebanks of other languages by what they would teach, without a target tree."""
    from treebridge.recipes.also import all_of
    from treebridge.recipes.sources import rank_sources
    from treebridge.show.sources import as_dict, show_ranking

    parallel = opt.open_bitext(
        bitext, source_language, target_language, words, pairs, contractions
    ) if bitext else None  # fmt: skip
    ranking = rank_sources(
        model,
        bridge,
        all_of(bridges),
        treebank=treebank,
        bitext=parallel,
        text=target_text or (),
        linking=BridgeSettings.preset(aligner=aligner),
        encoding=EncoderSettings(device=device, offline=offline),
        progress=progress(),
    )
    if as_json:
        print_json(as_dict(ranking))
    else:
        show(show_ranking, ranking)
