"""`treebridge bridge`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import (
    BACKEND,
    CONTRACTIONS,
    DEVICE,
    ENGINE,
    LAYERS,
    LINKS,
    PRECISION,
    RAY_ADDRESS,
    STORAGE,
    TARGET_LANGUAGE,
    WORKERS,
    CheckSides,
    Engine,
    Force,
    Pairs,
    Symmetrize,
    Where,
    Words,
    seed_option,
)


class Level(str, Enum):
    """What an anchor is the mean of."""

    word = "word"
    sense = "sense"
    occurrence = "occurrence"


class Weighting(str, Enum):
    """How much an anchor counts."""

    none = "none"
    sqrt = "sqrt"
    by_count = "count"


class Map(str, Enum):
    """What kind of map W is."""

    procrustes = "procrustes"
    least_squares = "least-squares"
    blend = "blend"
    rcsls = "rcsls"


class AnchorWords(str, Enum):
    """Which words make anchors."""

    whole = "whole"
    all = "all"


class BridgePreset(str, Enum):
    """Named settings."""

    default = "default"
    paper = "paper"


@app.command()
def bridge(
    files: Annotated[
        list[str] | None, typer.Argument(help="A bitext: one file, or two parallel ones.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Encoder of the target language.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the bridge.")
    ] = None,
    into: Annotated[Path | None, typer.Option(help="The parser it leads to.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Encoder of the source language, where there is no parser.")
    ] = None,
    pairs: Pairs = None,
    check_sides: CheckSides = True,
    links: Annotated[str | None, typer.Option(help=LINKS)] = None,
    aligner: Annotated[
        Engine | None,
        typer.Option(help="Which aligner to train.", show_default="hmm; paper: fast-align"),
    ] = None,
    symmetrize: Annotated[
        Symmetrize, typer.Option(help="How two directions make one.")
    ] = Symmetrize.intersection,
    rounds: Annotated[
        int, typer.Option(min=1, help="More: link words anew by the bridge, while it gains.")
    ] = 1,
    level: Annotated[Level, typer.Option(help="What an anchor is the mean of.")] = Level.sense,
    isotropy: Annotated[bool, typer.Option(help="Iterative normalization.")] = True,
    weighting: Annotated[
        Weighting | None,
        typer.Option(help="How much an anchor counts.", show_default="count; paper: none"),
    ] = None,
    map_kind: Annotated[Map, typer.Option("--map", help="What kind of map.")] = Map.procrustes,
    anchor_words: Annotated[
        AnchorWords | None,
        typer.Option(help="whole: single pieces on both sides.", show_default="all; paper: whole"),
    ] = None,
    preset: Annotated[
        BridgePreset, typer.Option(help="paper: fast-align, anchors normalised by themselves.")
    ] = BridgePreset.default,
    source_language: Annotated[str, typer.Option(help="Code of the source language.")] = "en",
    target_language: Annotated[str | None, typer.Option(help=TARGET_LANGUAGE)] = None,
    contractions: Annotated[bool, typer.Option(help=CONTRACTIONS)] = True,
    words: Annotated[Words, typer.Option(help="Who finds the words.")] = Words.rules,
    seed: Annotated[int, seed_option("For sampling and clustering.")] = 0,
    force: Force = False,
    layers: Annotated[
        str | None, typer.Option(help=LAYERS, show_default="the parser's; else last4")
    ] = None,
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    precision: Annotated[str, typer.Option(help=PRECISION)] = "auto",
    backend: Annotated[str, typer.Option(help=BACKEND)] = "torch",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    engine: Annotated[Where, typer.Option(help=ENGINE)] = Where.local,
    ray_address: Annotated[str | None, typer.Option(help=RAY_ADDRESS)] = None,
    storage: Annotated[str | None, typer.Option(help=STORAGE)] = None,
    workers: Annotated[int | None, typer.Option(min=1, help=WORKERS)] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would take, for --pairs pairs.")
    ] = False,
    gpu: Annotated[
        str | None, typer.Option(help="Of each worker, for --dry-run, such as a100.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
) -> None:
    """Fit the map that carries target vectors into a parser's space, and say how good it is."""
    from treebridge.bridge.bridge import BridgeSettings
    from treebridge.bridge.layout import CollectSettings
    from treebridge.bridge.make import MakeSettings
    from treebridge.cluster.engine import ClusterSettings
    from treebridge.corpus.bitext import Bitext
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.errors import TreebridgeError
    from treebridge.locks import hold
    from treebridge.show.bridge import bridge_files
    from treebridge.show.plan import show_plan

    named = layers or EncoderSettings.layers
    encoding = EncoderSettings(named, precision, backend, device, offline=offline)
    paper = preset is BridgePreset.paper
    words_by_preset = AnchorWords.whole if paper else AnchorWords.all
    collect = CollectSettings(anchor_words=(anchor_words or words_by_preset).value, seed=seed)
    bitext = None
    if files:
        bitext = Bitext(
            tuple(files),
            source_language=source_language,
            target_language=target_language,
            engine=words.value,
            limit=pairs,
            contractions=contractions,
        )
    if dry_run:
        show_plan(
            bitext, source, target, into, pairs or 1_000_000, workers or 1, gpu, collect, encoding,
            as_json=as_json,
        )  # fmt: skip
        return
    if bitext is None or target is None or output is None:
        raise TreebridgeError("name a bitext, --target ENCODER and -o FOLDER")
    by_preset = Weighting.none if paper else Weighting.by_count
    settings = MakeSettings(
        fit=BridgeSettings(
            level.value, isotropy, (weighting or by_preset).value, map_kind.value, paper, seed
        ),
        collect=collect,
        aligner=(aligner or (Engine.fast_align if paper else Engine.hmm)).value,
        symmetrize=symmetrize.value,
        links=links,
        rounds=rounds,
        check_sides=check_sides,
    )
    cluster = ClusterSettings(ray_address, storage, workers) if engine is Where.ray else None
    with hold(output):
        bridge_files(
            bitext, source, target, into, output, settings, encoding,
            parsers_layers=layers is None, as_json=as_json, cluster=cluster, force=force,
        )  # fmt: skip
