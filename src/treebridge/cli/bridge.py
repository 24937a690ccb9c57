"""`treebridge bridge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treebridge.alignment.settings import AlignerName, Symmetrization
from treebridge.bridge.settings import (
    PRESETS,
    AnchorWords,
    BridgePreset,
    BridgeSettings,
    CollectSettings,
    FitSettings,
    Level,
    Map,
    Weighting,
)
from treebridge.cli.app import command, note, print_json, progress, show
from treebridge.cli.options import (
    CLUSTER,
    METHOD,
    OUTPUT,
    Backend,
    CheckSides,
    Contractions,
    Device,
    Engine,
    Force,
    Json,
    Links,
    Offline,
    Pairs,
    Precision,
    RayAddress,
    SourceLanguage,
    TargetLanguage,
    Tokenizer,
    Workers,
    by_preset,
    checked_seed,
    given,
    option,
    setting,
)
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError


@command(
    "bridge",
    "treebridge bridge en-pt.tsv.xz --into en --target-encoder pt-bert -o en-pt",
    renamed={"--source": "--source-encoder", "--target": "--target-encoder"},
)
def bridge(
    files: Annotated[
        list[str] | None, typer.Argument(help="Bitext: one file, or two parallel ones.")
    ] = None,
    target_encoder: Annotated[str | None, option("Encoder of the target language.")] = None,
    into: Annotated[Path | None, option("Parser that the bridge leads into.")] = None,
    source_encoder: Annotated[
        str | None, option("Encoder of the source language, if there is no parser.")
    ] = None,
    output: Annotated[
        Path | None, option("Folder for the bridge.", "-o", "--output", panel=OUTPUT)
    ] = None,
    force: Force = False,
    as_json: Json = False,
    pairs: Pairs = None,
    check_sides: CheckSides = BridgeSettings.check_sides,
    source_language: SourceLanguage = "en",
    target_language: TargetLanguage = None,
    links: Links = None,
    preset: Annotated[
        BridgePreset,
        option("paper: fast-align, whole words, anchors normalised by themselves.", panel=METHOD),
    ] = "default",
    aligner: Annotated[
        AlignerName | None,
        setting(BridgeSettings, "aligner", "Word aligner.",
                show_default=by_preset(PRESETS, "aligner")),
    ] = None,
    symmetrize: Annotated[
        Symmetrization | None,
        setting(BridgeSettings, "symmetrize", "How both directions of alignment are combined.",
                show_default=by_preset(PRESETS, "symmetrize")),
    ] = None,
    rounds: Annotated[
        int | None,
        setting(BridgeSettings, "rounds", "Rounds of re-alignment with the bridge; stops when "
                "nothing is gained.", min=1, show_default=by_preset(PRESETS, "rounds")),
    ] = None,
    level: Annotated[
        Level | None,
        setting(FitSettings, "level", "What an anchor is the mean of.",
                show_default=by_preset(PRESETS, "level")),
    ] = None,
    isotropy: Annotated[
        bool | None,
        setting(FitSettings, "isotropy", "Iterative normalization.", "--isotropy/--no-isotropy",
                show_default="isotropy"),
    ] = None,
    weighting: Annotated[
        Weighting | None,
        setting(FitSettings, "weighting", "Weight of an anchor.",
                show_default=by_preset(PRESETS, "weighting")),
    ] = None,
    map_kind: Annotated[
        Map | None,
        setting(FitSettings, "map", "Kind of map.", "--map",
                show_default=by_preset(PRESETS, "map")),
    ] = None,
    anchor_words: Annotated[
        AnchorWords | None,
        setting(CollectSettings, "anchor_words", "Words that make anchors; whole: single pieces "
                "on both sides.", show_default=by_preset(PRESETS, "anchor_words")),
    ] = None,
    contractions: Contractions = True,
    words: Tokenizer = "rules",
    seed: Annotated[
        int | None,
        setting(FitSettings, "seed", "Random seed of sampling and clustering.",
                show_default=by_preset(PRESETS, "seed"), callback=checked_seed),
    ] = None,
    layers: Annotated[
        str | None,
        setting(EncoderSettings, "layers", "Layers to average: lastN, or a list like 9,10,-1.",
                show_default="the parser's; else last4"),
    ] = None,
    device: Device = EncoderSettings.device,
    precision: Precision = EncoderSettings.precision,
    backend: Backend = EncoderSettings.backend,
    offline: Offline = EncoderSettings.offline,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    storage: Annotated[
        str | None,
        option("Folder that all machines see, or an address such as s3://bucket/folder.",
               panel=CLUSTER),
    ] = None,
    workers: Workers = None,
    dry_run: Annotated[
        bool, option("Only estimate time, disk and memory for --pairs pairs.", "--dry-run",
                     panel=CLUSTER)
    ] = False,
    gpu: Annotated[
        str | None, option("GPU of each worker for --dry-run, such as a100.", panel=CLUSTER)
    ] = None,
) -> None:  # fmt: skip
    """Fit the map that carries target vectors into a parser's space, and judge it."""
    from treebridge.cluster.engine import ClusterSettings
    from treebridge.corpus.bitext import Bitext

    settings = BridgeSettings.preset(
        preset,
        **given(
            aligner=aligner, symmetrize=symmetrize, links=links, rounds=rounds, level=level,
            isotropy=isotropy, weighting=weighting, map=map_kind, anchor_words=anchor_words,
            seed=seed, check_sides=check_sides,
        ),
    )  # fmt: skip
    encoding = EncoderSettings(
        layers or EncoderSettings.layers, precision, backend, device, offline=offline
    )
    bitext = None
    if files:
        bitext = Bitext(
            tuple(files),
            source_language=source_language,
            target_language=target_language,
            engine=words,
            limit=pairs,
            contractions=contractions,
        )
    if dry_run:
        from treebridge.recipes.plan import plan_bridge
        from treebridge.show import plan as show_plan

        planned = plan_bridge(
            bitext, target_encoder, settings.collect, encoding, into=into,
            source_encoder=source_encoder, pairs=pairs or 1_000_000, workers=workers or 1, gpu=gpu,
        )  # fmt: skip
        print_json(show_plan.as_dict(planned)) if as_json else show_plan.show_plan(planned)
        return
    if bitext is None or target_encoder is None or output is None:
        raise TreebridgeError("name a bitext, --target-encoder ENCODER and -o FOLDER")
    if into is None and source_encoder is None:
        raise TreebridgeError("say where the bridge leads: --into PARSER or --source-encoder NAME")
    from treebridge.recipes.bridge import bridge as make_bridge
    from treebridge.show.bridge import as_dict, show_bridge

    made = make_bridge(
        bitext,
        target_encoder,
        output,
        settings,
        encoding,
        into=into,
        source_encoder=source_encoder,
        parsers_layers=layers is None,
        cluster=ClusterSettings(ray_address, storage, workers) if engine == "ray" else None,
        force=force,
        progress=progress(),
    )
    if made.found:
        note("already made from the same bitext, encoders and settings")
    if as_json:
        print_json(as_dict(made.bridge))
    else:
        show(show_bridge, made.bridge, path=made.folder)
