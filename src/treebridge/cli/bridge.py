"""`treebridge bridge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    Means,
    Weighting,
)
from treebridge.cli import options as opt
from treebridge.cli.app import command, note, print_json, progress, show
from treebridge.cli.options import CLUSTER, METHOD, given, option
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError


def _preset(settings: type, name: str, help: str, *flags: str, **more: Any) -> Any:
    """A setting whose default depends on the preset."""
    return opt.setting(
        settings, name, help, *flags, show_default=opt.by_preset(PRESETS, name), **more
    )


@command(
    "bridge",
    "treebridge bridge en-pt.tsv.xz --into en --target-encoder pt-bert -o en-pt",
    renamed={"--source": "--source-encoder", "--target": "--target-encoder"},
)
def bridge(
    files: Annotated[
        list[str] | None, typer.Argument(help="Bitext: one file, or two parallel files.")
    ] = None,
    target_encoder: Annotated[
        str | None, option("Target-language encoder: folder or hub name.")
    ] = None,
    into: Annotated[Path | None, option("Source-language parser to connect to.")] = None,
    source_encoder: Annotated[
        str | None, option("Source-language encoder, if you have no parser yet.")
    ] = None,
    output: Annotated[Path | None, opt.output_option("Folder for the bridge.")] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
    pairs: opt.Pairs = None,
    text: opt.ForecastText = None,
    check_sides: opt.CheckSides = BridgeSettings.check_sides,
    source_language: opt.SourceLanguage = "en",
    target_language: opt.TargetLanguage = None,
    links: opt.Links = None,
    preset: Annotated[
        BridgePreset,
        option("Bridge preset; paper: fast-align, whole words, each side's anchors normalized "
               "separately.", panel=METHOD),
    ] = "default",
    aligner: Annotated[
        AlignerName | None, _preset(BridgeSettings, "aligner", "Word aligner.")
    ] = None,
    symmetrize: Annotated[
        Symmetrization | None,
        _preset(BridgeSettings, "symmetrize", "How to combine the two alignment directions."),
    ] = None,
    rounds: Annotated[
        int | None,
        _preset(BridgeSettings, "rounds", "Rounds of re-alignment with the bridge; stops when "
                "nothing is gained.", min=1),
    ] = None,
    level: Annotated[Level | None, _preset(FitSettings, "level", opt.LEVEL)] = None,
    isotropy: Annotated[
        bool | None,
        opt.setting(FitSettings, "isotropy", "Iterative normalization.",
                    "--isotropy/--no-isotropy", show_default="the parser's, otherwise isotropy"),
    ] = None,
    weighting: Annotated[
        Weighting | None,
        _preset(FitSettings, "weighting", "Weight of an anchor, by its number of occurrences."),
    ] = None,
    map_kind: Annotated[Map | None, _preset(FitSettings, "map", opt.MAP, "--map")] = None,
    translation: Annotated[
        bool | None,
        opt.setting(FitSettings, "translation", "Add a translation to the map; --map auto decides "
                    "by itself.", "--translation/--no-translation", show_default="no translation"),
    ] = None,
    means: Annotated[
        Means | None,
        _preset(FitSettings, "means", "Target means to subtract: of occurrences, or balanced "
                "between frequent and rare words; --map auto decides by itself."),
    ] = None,
    anchor_words: Annotated[
        AnchorWords | None, _preset(CollectSettings, "anchor_words", opt.ANCHOR_WORDS)
    ] = None,
    contractions: opt.Contractions = True,
    words: opt.Tokenizer = "rules",
    seed: Annotated[
        int | None, _preset(FitSettings, "seed", "Random seed for sampling and clustering.",
                            callback=opt.checked_seed)
    ] = None,
    layers: Annotated[
        str | None, opt.setting(EncoderSettings, "layers", opt.LAYERS,
                                show_default="the parser's, otherwise last4")
    ] = None,
    device: opt.Device = EncoderSettings.device,
    precision: opt.Precision = EncoderSettings.precision,
    backend: opt.Backend = EncoderSettings.backend,
    offline: opt.Offline = EncoderSettings.offline,
    engine: opt.Engine = "local",
    ray_address: opt.RayAddress = None,
    storage: Annotated[
        str | None,
        option("Folder shared by all machines, or an address such as s3://bucket/folder.",
               panel=CLUSTER),
    ] = None,
    workers: opt.Workers = None,
    dry_run: Annotated[
        bool, option("Only estimate time, disk and memory, for the number of pairs in --pairs.",
                     "--dry-run", panel=CLUSTER)
    ] = False,
    gpu: Annotated[
        str | None, option("GPU type of each worker for --dry-run, such as a100.", panel=CLUSTER)
    ] = None,
) -> None:  # fmt: skip
    """Fit a bridge from target-language vectors to a parser's space and check its quality."""
    from treebridge.cluster.engine import ClusterSettings

    settings = BridgeSettings.preset(
        preset,
        **given(
            aligner=aligner, symmetrize=symmetrize, links=links, rounds=rounds, level=level,
            isotropy=isotropy, weighting=weighting, map=map_kind, translation=translation,
            means=means, anchor_words=anchor_words, seed=seed, check_sides=check_sides,
        ),
    )  # fmt: skip
    encoding = EncoderSettings(
        layers or EncoderSettings.layers, precision, backend, device, offline=offline
    )
    bitext = opt.open_bitext(
        files, source_language, target_language, words, pairs, contractions
    ) if files else None  # fmt: skip
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
        raise TreebridgeError("give a bitext, --target-encoder ENCODER and -o FOLDER")
    if into is None and source_encoder is None:
        raise TreebridgeError("give the parser to connect to with --into PARSER, or an encoder "
                              "with --source-encoder NAME")  # fmt: skip
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
        parsers_isotropy=isotropy is None,
        text=text or (),
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
