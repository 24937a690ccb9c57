"""`treebridge reproduce`: the paper's table and figures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from treebridge.bridge.settings import AnchorWords, BridgeSettings, CollectSettings
from treebridge.cli import options as opt
from treebridge.cli.app import app, command, note, progress, show
from treebridge.cli.options import METHOD, OUTPUT, TRAINING, given, option
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.settings import ParserPreset, ParserSettings, TagsFrom

reproduce = typer.Typer(no_args_is_help=True, help="Reproduce the paper's table and figures.")
app.add_typer(reproduce, name="reproduce")
MANY = ("--languages", "--systems", "--encoder", "--vectors", "--dictionary", "--groups")

Languages = Annotated[
    list[str] | None, option("Target languages.", show_default="es pt ro pl fi el")
]
Data = Annotated[Path, option("Folder of treebanks and bitexts; missing files are downloaded.")]
Encoders = Annotated[
    list[str] | None, option("Encoders to use instead of the paper's: pt=FOLDER.", "--encoder")
]
SourceEncoder = Annotated[str | None, option("English encoder to use instead of BERT.")]
Corpus = Annotated[
    str, option("Parallel corpus: ParaCrawl/v6, or one from OPUS such as Europarl/v8.")
]
Output = Annotated[Path, opt.output_option("Folder for results and models.")]
DryRun = Annotated[
    bool, option("Only list the steps and the data they need.", "--dry-run", panel=OUTPUT)
]
ThePreset = Annotated[ParserPreset, option("Parser preset.", panel=TRAINING)]
Tags = Annotated[TagsFrom, option("Part-of-speech tags.", panel=TRAINING)]
Seeds = Annotated[int, option("Number of seeds.", panel=TRAINING, min=1)]
Part = Annotated[Literal["dev", "test"], option("Part of the treebanks to score.")]


def by_language(given: list[str] | None, flag: str) -> dict[str, str]:
    """`pt=FOLDER es=FOLDER` as a dictionary."""
    pairs = [item.partition("=") for item in given or ()]
    for code, equals, value in pairs:
        if not (code and equals and value):
            raise TreebridgeError(f"{flag} {code}{equals}{value}: expected the form pt=FOLDER")
    return {code: value for code, _, value in pairs}


def encoders_of(given: list[str] | None, source: str | None) -> dict[str, str]:
    """Encoders by language."""
    encoders = by_language(given, "--encoder")
    return {**encoders, "en": source} if source else encoders


@command(
    "table1",
    "treebridge reproduce table1 --languages pt --part dev --pairs 60k --preset small",
    to=reproduce,
    many=MANY,
)
def table1(
    languages: Languages = None,
    systems: Annotated[
        list[str] | None,
        option("Rows of the table.", panel=METHOD, show_default="all that need no extra data"),
    ] = None,
    output: Output = Path("table1"),
    force: opt.Force = False,
    dry_run: DryRun = False,
    part: Part = "test",
    pairs: opt.Pairs = None,
    data: Data = Path("data"),
    source_encoder: SourceEncoder = None,
    encoder: Encoders = None,
    multilingual_encoder: Annotated[
        str | None, option("Encoder for the row `multilingual` (default: mBERT cased).")
    ] = None,
    vectors: Annotated[list[str] | None, option("Word vectors: en=FILE, pt=FILE.")] = None,
    dictionary: Annotated[
        list[str] | None, option("Dictionary for the row `anchor-mean`: pt=FILE.")
    ] = None,
    corpus: Corpus = "ParaCrawl/v6",
    tags: Tags = "gold",
    preset: ThePreset = "default",
    epochs: opt.Epochs = None,
    seeds: Seeds = 3,
    first_seed: Annotated[
        int, option("First seed, so that several runs can share a folder.", panel=TRAINING, min=1,
                    callback=opt.checked_seed)
    ] = 1,
    aligner: opt.Aligner = BridgeSettings.aligner,
    anchor_words: Annotated[
        AnchorWords | None,
        option(opt.ANCHOR_WORDS, panel=METHOD, show_default="whole in the paper's rows, all in "
               "ours"),
    ] = None,
    isotropy_from: Annotated[
        Literal["bitext", "input"],
        option("Text that the target means come from; input: the file being scored, as in the "
               "authors' code.", panel=METHOD),
    ] = "bitext",
    layers: opt.Layers = EncoderSettings.layers,
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Table 1: every system in every language, next to the paper's figures.

    Finished results are reused, so you can interrupt it and run the same command again.
    """
    from treebridge.experiment.catalog import TARGETS
    from treebridge.experiment.datasets import Supply
    from treebridge.experiment.lab import LabSettings
    from treebridge.experiment.reproduce import table1 as run_table1
    from treebridge.experiment.reproduce import table1_steps
    from treebridge.show.reproduce import show_steps
    from treebridge.show.results import save_table, show_table

    watcher = progress()
    supply = Supply(
        data, part, corpus, pairs, encoders_of(encoder, source_encoder),
        {"multilingual": multilingual_encoder} if multilingual_encoder else {},
        by_language(vectors, "--vectors"), by_language(dictionary, "--dictionary"),
        offline, watcher,
    )  # fmt: skip
    settings = LabSettings(
        ParserSettings.preset(preset, tags=tags, **given(epochs=epochs)), aligner, anchor_words,
        EncoderSettings(layers, device=device, offline=offline), isotropy_from,
    )  # fmt: skip
    chosen = range(first_seed, first_seed + seeds)
    if dry_run:
        show_steps(table1_steps(supply, languages or TARGETS, systems, chosen, settings))
        return
    table = run_table1(
        supply, languages or TARGETS, systems, chosen, settings, output,
        preset=preset, after=lambda so_far: save_table(so_far, output), force=force,
        progress=watcher,
    )  # fmt: skip
    show(show_table, table)
    note(f"wrote {output}: table1.md, .csv, .tex and .json")


@command(
    "anisotropy",
    "treebridge reproduce anisotropy --languages es pt",
    to=reproduce,
    many=MANY,
)
def anisotropy(
    languages: Languages = None,
    sentences: Annotated[int, option("Number of sentences per bitext.", min=10)] = 2000,
    output: Output = Path("anisotropy"),
    force: opt.Force = False,
    data: Data = Path("data"),
    source_encoder: SourceEncoder = None,
    encoder: Encoders = None,
    corpus: Corpus = "ParaCrawl/v6",
    layers: opt.Layers = EncoderSettings.layers,
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:
    """Figure 3: anisotropy of the encoders, by language pair and iteration."""
    from treebridge.experiment.catalog import TARGETS
    from treebridge.experiment.datasets import Supply
    from treebridge.experiment.lab import LabSettings
    from treebridge.experiment.reproduce import anisotropy as measure
    from treebridge.show.anisotropy import figure_class, save_anisotropy, show_anisotropy

    watcher = progress()
    encoders = encoders_of(encoder, source_encoder)
    supply = Supply(data, corpus=corpus, encoders=encoders, offline=offline, progress=watcher)
    settings = LabSettings(encoding=EncoderSettings(layers, device=device, offline=offline))
    figure_class()  # a missing package is reported before the work
    found = measure(
        supply, languages or TARGETS, sentences, settings, output, force=force, progress=watcher
    )
    save_anisotropy(found, output)
    show(show_anisotropy, found)
    note(f"wrote {output}: anisotropy-pairs and -iterations (.png, .svg), anisotropy.json")


@command(
    "ablation",
    "treebridge reproduce ablation --language pt --groups map level --preset small",
    to=reproduce,
    many=MANY,
)
def ablation(
    language: Annotated[str, option("Target language code.")] = "pt",
    groups: Annotated[
        list[str] | None, option("Groups of settings to vary.", panel=METHOD, show_default="all")
    ] = None,
    output: Output = Path("table1"),
    force: opt.Force = False,
    dry_run: DryRun = False,
    part: Part = "dev",
    pairs: opt.Pairs = None,
    data: Data = Path("data"),
    source_encoder: SourceEncoder = None,
    encoder: Encoders = None,
    corpus: Corpus = "ParaCrawl/v6",
    tags: Tags = "gold",
    preset: ThePreset = "default",
    epochs: opt.Epochs = None,
    seeds: Seeds = 1,
    anchor_words: opt.Anchors = CollectSettings.anchor_words,
    layers: opt.Layers = EncoderSettings.layers,
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Measure each choice by changing one setting at a time; `pairs` is the learning curve.

    Groups: level, weighting, map, blend, anchors, isotropy-from, words, aligner, symmetrize,
    senses, rounds, refine, order, pairs, tags, layers. In the folder of a table it reuses the
    table's parsers and bridges.
    """
    from treebridge.experiment.ablation import GROUPS, variants
    from treebridge.experiment.datasets import Supply
    from treebridge.experiment.lab import LabSettings
    from treebridge.experiment.reproduce import ablation as run_ablation
    from treebridge.show.ablation import save_ablation, show_ablation

    watcher = progress()
    encoders = encoders_of(encoder, source_encoder)
    supply = Supply(data, part, corpus, pairs, encoders, offline=offline, progress=watcher)
    settings = LabSettings(
        ParserSettings.preset(preset, tags=tags, **given(epochs=epochs)),
        encoding=EncoderSettings(layers, device=device, offline=offline),
    )
    bridge = BridgeSettings.preset(anchor_words=anchor_words)
    chosen = groups or list(GROUPS)
    if dry_run:
        for variant in variants(settings, pairs, chosen, bridge):
            print(f"{variant.group:14} {variant.choice}")
        return
    about = {"language": language, "seeds": list(range(1, seeds + 1)), "part": part, "pairs": pairs,
             "date": time.strftime("%Y-%m-%d"), "parser": settings.parser.config()}  # fmt: skip
    outcomes = run_ablation(
        supply, language, chosen, range(1, seeds + 1), settings, output, bridge,
        after=lambda so_far: save_ablation(so_far, output, about), force=force, progress=watcher,
    )  # fmt: skip
    show(show_ablation, outcomes)
    note(f"wrote {output}: ablation.md and .json")
