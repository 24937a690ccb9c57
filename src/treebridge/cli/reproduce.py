"""`treebridge reproduce`: the paper's table and figures."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from treebridge.cli.app import app
from treebridge.cli.options import DEVICE, LAYERS, Engine, Force, Pairs, Preset, Tags
from treebridge.errors import TreebridgeError
from treebridge.seeds import check_seed

reproduce = typer.Typer(no_args_is_help=True, help="The paper's table and figures, and more.")
app.add_typer(reproduce, name="reproduce")


class ManyValues(TyperCommand):
    """A command whose list options take several values at once: --languages es pt."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat such an option before each of its values."""
        many = {"--languages", "--systems", "--encoder", "--vectors", "--dictionary", "--groups"}
        spread: list[str] = []
        option = None
        for argument in args:
            if argument.startswith("-"):
                option = argument if argument in many else None
                if option:
                    continue
            spread += [option, argument] if option else [argument]
        return super().parse_args(ctx, spread)


class Part(str, Enum):
    """Which part of a treebank is scored."""

    dev = "dev"
    test = "test"


class IsotropyFrom(str, Enum):
    """Where the target's means come from at test time."""

    bitext = "bitext"
    input = "input"


Languages = Annotated[
    list[str] | None, typer.Option(help="Targets.", show_default="es pt ro pl fi el")
]
Data = Annotated[Path, typer.Option(help="Folder of treebanks and bitexts; fetched into it.")]
Encoders = Annotated[
    list[str] | None, typer.Option("--encoder", help="Instead of the paper's: pt=FOLDER.")
]
SourceEncoder = Annotated[str | None, typer.Option(help="Of English, instead of BERT.")]
Corpus = Annotated[str, typer.Option(help="ParaCrawl/v6, or of OPUS, such as Europarl/v8.")]
Aligner = Annotated[Engine, typer.Option(help="The same for all systems.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for results and models.")]
Offline = Annotated[bool, typer.Option("--offline", help="Fetch nothing.")]


def by_language(given: list[str] | None, option: str) -> dict[str, str]:
    """`pt=FOLDER es=FOLDER` as a dictionary."""
    pairs = [item.partition("=") for item in given or ()]
    for code, equals, value in pairs:
        if not (code and equals and value):
            raise TreebridgeError(f"{option} {code}{equals}{value}: give it as pt=FOLDER")
    return {code: value for code, _, value in pairs}


def encoders_of(given: list[str] | None, source: str | None) -> dict[str, str]:
    """All encoders by language."""
    encoders = by_language(given, "--encoder")
    return {**encoders, "en": source} if source else encoders


@reproduce.command("table1", cls=ManyValues)
def table1(
    languages: Languages = None,
    systems: Annotated[
        list[str] | None, typer.Option(help="Rows.", show_default="all that need no more")
    ] = None,
    tags: Annotated[Tags, typer.Option(help="Parts of speech, as in `train`.")] = Tags.gold,
    seeds: Annotated[int, typer.Option(min=1, help="So many parsers of each kind.")] = 3,
    first_seed: Annotated[
        int, typer.Option(min=1, help="Begin here: several runs can share a folder.")
    ] = 1,
    preset: Annotated[Preset, typer.Option(help="Of the parsers.")] = Preset.default,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    pairs: Pairs = None,
    part: Annotated[Part, typer.Option(help="What is scored.")] = Part.test,
    data: Data = Path("data"),
    source_encoder: SourceEncoder = None,
    encoder: Encoders = None,
    multilingual_encoder: Annotated[
        str | None, typer.Option(help="Of the row `multilingual`, instead of mBERT cased.")
    ] = None,
    vectors: Annotated[
        list[str] | None, typer.Option(help="Word vectors: en=FILE, pt=FILE.")
    ] = None,
    dictionary: Annotated[
        list[str] | None, typer.Option(help="For the row `anchor-mean`: pt=FILE.")
    ] = None,
    corpus: Corpus = "ParaCrawl/v6",
    aligner: Aligner = Engine.hmm,
    anchor_words: Annotated[str, typer.Option(help="whole or all, as in `bridge`.")] = "whole",
    isotropy_from: Annotated[
        IsotropyFrom, typer.Option(help="input: as the authors' code, from the file scored.")
    ] = IsotropyFrom.bitext,
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Offline = False,
    output: Output = Path("table1"),
    force: Force = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
) -> None:
    """Table 1: every system in every language, our figures beside the paper's.

    Interrupt it and run the same line again: it goes on.
    """
    from treebridge.bridge.layout import CollectSettings
    from treebridge.bridge.make import MakeSettings
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.experiment.catalog import TARGETS
    from treebridge.experiment.lab import LabSettings
    from treebridge.experiment.supply import Supply
    from treebridge.parse.settings import ParserSettings
    from treebridge.show.reproduce import reproduce_table1

    supply = Supply(
        data,
        part.value,
        corpus,
        pairs,
        encoders_of(encoder, source_encoder),
        {"multilingual": multilingual_encoder} if multilingual_encoder else {},
        by_language(vectors, "--vectors"),
        by_language(dictionary, "--dictionary"),
        offline,
    )
    check_seed(first_seed + seeds - 1)
    changes = {"epochs": epochs} if epochs else {}
    settings = LabSettings(
        ParserSettings.preset(preset.value, tags=tags.value, **changes),
        MakeSettings(collect=CollectSettings(anchor_words=anchor_words), aligner=aligner.value),
        EncoderSettings(layers, device=device, offline=offline),
        isotropy_from.value,
    )
    reproduce_table1(
        supply,
        languages or TARGETS,
        systems,
        range(first_seed, first_seed + seeds),
        settings,
        output,
        preset=preset.value,
        dry_run=dry_run,
        force=force,
    )


@reproduce.command("anisotropy", cls=ManyValues)
def anisotropy(
    languages: Languages = None,
    sentences: Annotated[int, typer.Option(min=10, help="So many of each bitext.")] = 2000,
    data: Data = Path("data"),
    source_encoder: SourceEncoder = None,
    encoder: Encoders = None,
    corpus: Corpus = "ParaCrawl/v6",
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Offline = False,
    output: Output = Path("anisotropy"),
    force: Force = False,
) -> None:
    """Figure 3: how narrow the cone of vectors is, by language pair and by iteration."""
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.experiment.catalog import TARGETS
    from treebridge.experiment.lab import LabSettings
    from treebridge.experiment.supply import Supply
    from treebridge.show.anisotropy import reproduce_anisotropy

    supply = Supply(
        data,
        corpus=corpus,
        encoders=encoders_of(encoder, source_encoder),
        offline=offline,
    )
    settings = LabSettings(encoding=EncoderSettings(layers, device=device, offline=offline))
    reproduce_anisotropy(supply, languages or TARGETS, sentences, settings, output, force=force)


@reproduce.command("ablation", cls=ManyValues)
def ablation(
    language: Annotated[str, typer.Option(help="The target.")] = "pt",
    groups: Annotated[
        list[str] | None, typer.Option(help="What is varied.", show_default="everything")
    ] = None,
    tags: Annotated[Tags, typer.Option(help="Parts of speech, as in `train`.")] = Tags.gold,
    seeds: Annotated[int, typer.Option(min=1, help="So many parsers of each kind.")] = 1,
    preset: Annotated[Preset, typer.Option(help="Of the parsers.")] = Preset.default,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    pairs: Pairs = None,
    part: Annotated[Part, typer.Option(help="What is scored.")] = Part.dev,
    data: Data = Path("data"),
    source_encoder: SourceEncoder = None,
    encoder: Encoders = None,
    corpus: Corpus = "ParaCrawl/v6",
    anchor_words: Annotated[str, typer.Option(help="whole or all, as in `bridge`.")] = "whole",
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Offline = False,
    output: Output = Path("table1"),
    force: Force = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
) -> None:
    """What each choice is worth, one changed at a time; `pairs` is the learning curve.

    Groups: level, weighting, map, blend, anchors, isotropy-from, words, aligner, symmetrize,
    senses, rounds, refine, order, pairs, tags, layers. In the folder of a table it uses the
    table's parsers and bridges.
    """
    from treebridge.bridge.layout import CollectSettings
    from treebridge.bridge.make import MakeSettings
    from treebridge.encode.encoder import EncoderSettings
    from treebridge.experiment.ablation import GROUPS
    from treebridge.experiment.lab import LabSettings
    from treebridge.experiment.supply import Supply
    from treebridge.parse.settings import ParserSettings
    from treebridge.show.ablation import reproduce_ablation

    supply = Supply(
        data,
        part.value,
        corpus,
        pairs,
        encoders_of(encoder, source_encoder),
        offline=offline,
    )
    changes = {"epochs": epochs} if epochs else {}
    settings = LabSettings(
        ParserSettings.preset(preset.value, tags=tags.value, **changes),
        MakeSettings(collect=CollectSettings(anchor_words=anchor_words)),
        EncoderSettings(layers, device=device, offline=offline),
    )
    reproduce_ablation(
        supply,
        language,
        groups or list(GROUPS),
        range(1, seeds + 1),
        settings,
        output,
        dry_run=dry_run,
        force=force,
    )
