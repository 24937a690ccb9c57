"""Commands that look at what is there: inspect, demo, cache."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treebridge.cli.app import app
from treebridge.cli.options import DEVICE, LAYERS, Force, Pairs, seed_option
from treebridge.errors import TreebridgeError


class Kind(str, Enum):
    """What `inspect` takes a file for."""

    treebank = "treebank"
    bitext = "bitext"
    text = "text"


@app.command()
def inspect(
    files: Annotated[
        list[str], typer.Argument(help="CoNLL-U, bitext or text; - is standard input.")
    ],
    kind: Annotated[Kind | None, typer.Option("--as", help="Take the files for this.")] = None,
    parallel: Annotated[
        bool, typer.Option("--parallel", help="The two files are the two sides of one bitext.")
    ] = False,
    source: Annotated[
        str,
        typer.Option("--source", "--source-language", help="Language of a bitext's source side."),
    ] = "en",
    target: Annotated[
        str | None,
        typer.Option("--target", "--target-language", help="Language of its target side."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Figures for machines.")] = False,
    word: Annotated[
        list[str] | None, typer.Option(help="With --encoder: how a target word's contexts group.")
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="Folder or hub name of an encoder.")] = None,
    pairs: Pairs = None,
    layers: Annotated[str, typer.Option(help=LAYERS)] = "last4",
    device: Annotated[str, typer.Option(help=DEVICE)] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """What is in a treebank, a bitext or a text: sizes, lengths, labels, filters, problems."""
    if Path(files[0]).is_dir() and (Path(files[0]) / "bridge.safetensors").exists():
        from treebridge.show.bridge import inspect_bridge

        inspect_bridge(Path(files[0]), word or [], as_json=as_json)
        return
    if word or encoder:
        from treebridge.encode.encoder import EncoderSettings
        from treebridge.show.contexts import inspect_words

        settings = EncoderSettings(layers=layers, device=device, offline=offline)
        inspect_words(tuple(files), word or [], encoder, settings, (source, target), pairs, as_json)
        return
    from treebridge.show.inspect import inspect_files

    problems = inspect_files(
        files,
        kind=kind.value if kind else None,
        parallel=parallel,
        languages=(source, target),
        pairs=pairs,
        as_json=as_json,
    )
    if problems:
        more = f" (and {len(problems) - 1:,} more problems)" if len(problems) > 1 else ""
        raise TreebridgeError(problems[0] + more)


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Where the made languages are written.")
    ] = Path("demo"),
    seed: Annotated[int, seed_option("Another seed, other languages.")] = 1,
    force: Force = False,
) -> None:
    """The whole story on artificial languages, offline."""
    from treebridge.experiment.demo import run_demo

    run_demo(folder, seed, force=force)


cache = typer.Typer(no_args_is_help=True, help="Vectors and exported encoders kept on disk.")
app.add_typer(cache, name="cache")


@cache.command("list")
def cache_list() -> None:
    """What is in the cache, and how large."""
    from treebridge.show.cache import show_cache

    show_cache()


@cache.command("clear")
def cache_clear() -> None:
    """Empty the cache; everything in it can be made again."""
    from treebridge.encode.cache import clear_cache

    print(f"freed {clear_cache() / 1e6:,.1f} MB")
