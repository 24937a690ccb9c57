"""Commands that show what you have: inspect, demo, cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treebridge.cli import options as opt
from treebridge.cli.app import app, command, print_json, progress
from treebridge.cli.options import METHOD, OUTPUT, option
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
        bool, option("Read two files as the two sides of one bitext.", "--parallel")
    ] = False,
    pairs: opt.Pairs = None,
    source_language: opt.SourceLanguage = "en",
    target_language: opt.TargetLanguage = None,
    as_json: opt.Json = False,
    word: Annotated[
        list[str] | None,
        option("Word to look up: its senses in a bridge; with --encoder, its contexts in a bitext.",
               panel=METHOD),
    ] = None,
    encoder: Annotated[
        str | None, option("Encoder for --word: folder or hub name.", panel=METHOD)
    ] = None,
    layers: opt.Layers = EncoderSettings.layers,
    device: opt.Device = EncoderSettings.device,
    offline: opt.Offline = EncoderSettings.offline,
) -> None:  # fmt: skip
    """Describe a treebank, bitext, text, bridge or model: sizes, lengths, labels, problems."""
    from rich.console import Console

    from treebridge.recipes.inspect import inspect_file, inspect_folder

    if found := inspect_folder(files[0]):
        _show_folder(found, files[0], word or [], as_json)
        return
    if bool(word) != bool(encoder):
        raise TreebridgeError("--word and --encoder go together; give both")
    console = Console(soft_wrap=False)
    if word and encoder:
        from treebridge.recipes.inspect import inspect_words
        from treebridge.show import contexts as show_words

        bitext = opt.open_bitext(files, source_language, target_language, "rules", pairs, True)
        settings = EncoderSettings(layers=layers, device=device, offline=offline)
        for contexts in inspect_words(bitext, word, encoder, settings, progress()):
            if as_json:
                print_json(show_words.as_dict(contexts))
            else:
                show_words.show_contexts(contexts, console)
        return
    from treebridge.show.tables import as_dict, show

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


@command("demo", "treebridge demo")
def demo(
    folder: Annotated[
        Path, opt.output_option("Folder for the artificial languages and the report.")
    ] = Path("demo"),
    seed: Annotated[
        int, option("Random seed; each seed gives different languages.", panel=METHOD,
                    callback=opt.checked_seed)
    ] = 1,
    force: opt.Force = False,
    verbose: Annotated[
        bool, option("Log every step and epoch.", "--verbose", panel=OUTPUT)
    ] = False,
) -> None:  # fmt: skip
    """Run the whole method on artificial languages: offline, in under four minutes."""
    from treebridge.show.demo import run_demo

    run_demo(folder, seed, force=force, progress=progress(verbose=verbose))


cache = typer.Typer(no_args_is_help=True, help="Manage cached vectors and exported encoders.")
app.add_typer(cache, name="cache")


@command("list", "treebridge cache list", to=cache)
def cache_list() -> None:
    """List the contents of the cache and their sizes."""
    from treebridge.show.cache import show_cache

    show_cache()


@command("clear", "treebridge cache clear", to=cache)
def cache_clear() -> None:
    """Empty the cache; its contents are computed again when needed."""
    from treebridge.encode.cache import clear_cache

    print(f"freed {clear_cache() / 1e6:,.1f} MB")
