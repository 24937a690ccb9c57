"""Commands that look at what is there: inspect, demo, cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treebridge.cli.app import app, command, print_json, progress
from treebridge.cli.options import (
    METHOD,
    OUTPUT,
    Device,
    Force,
    Json,
    Layers,
    Offline,
    Pairs,
    SourceLanguage,
    TargetLanguage,
    checked_seed,
    option,
)
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError

if TYPE_CHECKING:
    from treebridge.bridge.bridge import Bridge
    from treebridge.recipes.inspect import ModelInfo


@command(
    "inspect",
    "treebridge inspect en-pt.tsv.xz",
    renamed={"--source": "--source-language", "--target": "--target-language"},
)
def inspect(
    files: Annotated[
        list[str],
        typer.Argument(help="Treebank, bitext, text (- for standard input), bridge or model."),
    ],
    kind: Annotated[
        Literal["treebank", "bitext", "text"] | None,
        option("Treat the files as this type.", "--as"),
    ] = None,
    parallel: Annotated[
        bool, option("The two files are the two sides of one bitext.", "--parallel")
    ] = False,
    pairs: Pairs = None,
    source_language: SourceLanguage = "en",
    target_language: TargetLanguage = None,
    as_json: Json = False,
    word: Annotated[
        list[str] | None,
        option("Word to look up: its senses in a bridge; with --encoder, its contexts in a bitext.",
               panel=METHOD),
    ] = None,
    encoder: Annotated[
        str | None, option("Encoder for --word: folder or hub name.", panel=METHOD)
    ] = None,
    layers: Layers = EncoderSettings.layers,
    device: Device = EncoderSettings.device,
    offline: Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Describe a treebank, bitext, text, bridge or model: sizes, lengths, labels, problems."""
    from treebridge.recipes.inspect import inspect_file, inspect_folder

    if found := inspect_folder(files[0]):
        _show_folder(found, files[0], word or [], as_json)
        return
    if word or encoder:
        if not word or encoder is None:
            raise TreebridgeError("--word and --encoder go together: which word, whose vectors?")
        settings = EncoderSettings(layers=layers, device=device, offline=offline)
        _show_words(tuple(files), word, encoder, settings, source_language, target_language, pairs,
                    as_json)  # fmt: skip
        return
    from rich.console import Console

    from treebridge.show.tables import as_dict, show

    console = Console(soft_wrap=False)
    problems: list[str] = []
    for group in [tuple(files)] if parallel else [(file,) for file in files]:
        statistics = inspect_file(
            group, kind, source_language=source_language, target_language=target_language,
            pairs=pairs, progress=progress(),
        )  # fmt: skip
        print_json(as_dict(statistics)) if as_json else show(statistics, console)
        problems += statistics.problems
    if problems:
        more = f" (and {len(problems) - 1:,} more problems)" if len(problems) > 1 else ""
        raise TreebridgeError(problems[0] + more)


def _show_folder(found: Bridge | ModelInfo, name: str, words: list[str], as_json: bool) -> None:
    from treebridge.recipes.inspect import ModelInfo
    from treebridge.show import bridge as show_bridge
    from treebridge.show import inspect as show_inspect

    if isinstance(found, ModelInfo):
        print_json(show_inspect.as_dict(found)) if as_json else show_inspect.show_model(found)
        return
    if not words:
        print_json(show_bridge.as_dict(found)) if as_json else show_bridge.show_bridge(found, name)
    for word in words:
        senses = [sense for sense in found.senses if sense["word"] == word.lower()]
        if as_json:
            print_json({"word": word, "senses": senses})
        else:
            show_bridge.show_word(word, senses, found)


def _show_words(
    files: tuple[str, ...],
    words: list[str],
    encoder: str,
    settings: EncoderSettings,
    source: str,
    target: str | None,
    pairs: int | None,
    as_json: bool,
) -> None:
    from rich.console import Console

    from treebridge.corpus.bitext import Bitext
    from treebridge.recipes.inspect import inspect_words
    from treebridge.show.contexts import as_dict, show_contexts

    bitext = Bitext(files, source_language=source, target_language=target, limit=pairs)
    console = Console()
    for contexts in inspect_words(bitext, words, encoder, settings, progress()):
        print_json(as_dict(contexts)) if as_json else show_contexts(contexts, console)


@command("demo", "treebridge demo")
def demo(
    folder: Annotated[
        Path, option("Folder for the artificial languages and the report.", "-o", "--output",
                     panel=OUTPUT)
    ] = Path("demo"),
    seed: Annotated[
        int, option("Random seed: another seed, other languages.", panel=METHOD,
                    callback=checked_seed)
    ] = 1,
    force: Force = False,
) -> None:  # fmt: skip
    """The whole story on artificial languages, offline, in a few minutes."""
    from treebridge.show.demo import run_demo

    run_demo(folder, seed, force=force, progress=progress())


cache = typer.Typer(no_args_is_help=True, help="Vectors and exported encoders kept on disk.")
app.add_typer(cache, name="cache")


@command("list", "treebridge cache list", to=cache)
def cache_list() -> None:
    """List what is in the cache, and how large it is."""
    from treebridge.show.cache import show_cache

    show_cache()


@command("clear", "treebridge cache clear", to=cache)
def cache_clear() -> None:
    """Empty the cache; everything in it can be made again."""
    from treebridge.encode.cache import clear_cache

    print(f"freed {clear_cache() / 1e6:,.1f} MB")
