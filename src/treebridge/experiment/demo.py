"""`treebridge demo`: the story from corpora to trees on languages that nobody speaks."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.statistics import bitext_statistics, treebank_statistics
from treebridge.show.tables import show

TREES, PAIRS = 2000, 5000


def run_demo(folder: Path, seed: int) -> None:
    """Make the languages, write their corpora, and show what a user of real ones would see."""
    console = Console()
    world = World(seed)
    source, near, far = (world.languages[name] for name in ("source", "near", "far"))
    console.rule("[bold]1. A source language with a treebank")
    console.print(
        f"{source.name} has {TREES:,} annotated sentences. "
        f"{near.name} (same order, other words) and {far.name} (verb-final, case suffixes, dropped "
        "pronouns) have none.\n"
    )
    treebank = folder / f"{source.code}-train.conllu"
    world.treebank("source", TREES).write(treebank)
    show(treebank_statistics(treebank), console)

    console.rule("[bold]2. Parallel text, the only bridge there is")
    for name in ("near", "far"):
        target = world.languages[name]
        path = folder / f"{source.code}-{target.code}.tsv"
        world.write_bitext(path, name, PAIRS)
        bitext = Bitext.read(path, source_language=source.code, target_language=target.code)
        show(bitext_statistics(bitext), console)
        form, senses = next(iter(target.ambiguous.items()))
        words = " or ".join(source.forms[sense] for sense in senses)
        console.print(
            f"{len(target.ambiguous)} words of {target.name} have two senses: "
            f"“{form}” is {source.name} “{words}”.\n"
        )

    console.rule("[bold]3. The same sentence, three trees")
    for name in ("source", "near", "far"):
        console.print(f"[bold]{world.languages[name].name}[/]")
        console.print(_example(world, name), highlight=False)
        console.print()
    console.print(f"Written to {folder}: look at any file there with  treebridge inspect FILE")


def _example(world: World, language: str) -> str:
    """A sentence that is neither trivial nor long, the same one in every language."""
    trees = world.treebank("source", 50, part="example")
    index = next(i for i, tree in enumerate(trees) if "advcl" in tree.deprels and len(tree) < 18)
    return world.treebank(language, index + 1, part="example")[index].draw()
