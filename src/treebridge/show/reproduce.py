"""`treebridge reproduce`: what people see while the paper's table is made, and after."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from treebridge import __version__
from treebridge.bridge.make import Reports
from treebridge.experiment.lab import Lab, LabSettings, Talk
from treebridge.experiment.refining import Refined
from treebridge.experiment.supply import Supply
from treebridge.experiment.systems import System, choose_systems
from treebridge.experiment.table import Table, run_table
from treebridge.folders import work_folder
from treebridge.show.progress import watch
from treebridge.show.results import save_table, show_table
from treebridge.show.train import Lines

RESULTS = ("runs", "parsers", "anisotropy.json")  # what marks a folder of results


def talk() -> Talk:
    """Lines on standard error, bars where a person is watching."""
    console = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)

    def say(text: str) -> None:
        console.print(f"{time.strftime('%H:%M:%S')} {text}")

    reports = Reports(
        pairs=watch("sentences"),
        senses=watch("groups of words"),
        step=lambda what: say(f"  {what} …"),
    )
    return Talk(say, reports, Lines)


def reproduce_table1(
    supply: Supply,
    codes: Sequence[str],
    names: Sequence[str] | None,
    seeds: Sequence[int],
    settings: LabSettings,
    folder: Path,
    *,
    preset: str,
    dry_run: bool,
    force: bool = False,
) -> Table | None:
    """Fill the table, saving it after every language; or only list what that would take."""
    systems = choose_systems(names, settings.parser.tags)
    targets = [supply.target(code) for code in codes]
    if dry_run:
        _list_steps(supply, codes, systems, seeds, settings.parser.tags)
        return None
    work_folder(folder, "reproduce", RESULTS, force=force)
    about = {
        "part": supply.part,
        "tags": settings.parser.tags,
        "preset": preset,
        "epochs": settings.parser.epochs,
        "seeds": list(seeds),
        "pairs": supply.pairs,
        "aligner": settings.bridge.aligner,
        "isotropy_from": settings.isotropy_from,
        "convention": "paper",
        "encoders": {lang.code: str(lang.encoders["own"]) for lang in (supply.source(), *targets)},
        "parser": settings.parser.config(),
        "collect": asdict(settings.collect),
        "version": __version__,
        "date": time.strftime("%Y-%m-%d"),
    }
    lab = Lab(supply.source(), settings, folder, talk())
    table = run_table(
        lab, targets, systems, seeds, after=lambda so_far: save_table(so_far, folder), about=about
    )
    show_table(table)
    print(f"written to {folder}: table1.md, .csv, .tex and .json")
    return table


def _list_steps(
    supply: Supply,
    codes: Sequence[str],
    systems: Sequence[System],
    seeds: Sequence[int],
    tags: str,
) -> None:
    console = Console(highlight=False)
    grid = Grid("needed", "where", "licence", "size", box=None, title="What is needed",
                title_justify="left", title_style="bold")  # fmt: skip
    roles = sorted({system.encoder for system in systems})
    for need in supply.needs(codes, roles):
        if need.there:
            grid.add_row(need.what, f"there: {need.path}", need.licence, "")
        else:
            size = need.size()
            address = need.remote.url if need.remote else "the Hugging Face hub"
            shown = f"{size / 1e6:,.1f} MB" if size else "unknown"
            grid.add_row(need.what, f"to fetch: {address}", need.licence, shown)
    console.print(grid)
    spaces = {(system.encoder, system.isotropy) for system in systems}
    refined = {(s.encoder, s.isotropy) for s in systems if isinstance(s.crossing, Refined)}
    taggers = len(refined) if tags == "gold" else 0
    console.print(
        f"\nSteps: {(len(spaces) + taggers) * len(seeds)} parsers ({len(spaces)} input spaces, "
        f"{f'{taggers} to tag text, ' if taggers else ''}"
        f"seeds {', '.join(map(str, seeds))}); align and collect {len(codes)} bitexts; "
        f"{len(systems) * (len(codes) + 1) * len(seeds)} results."
    )
    for system in systems:
        console.print(f"  {system.name:21} {system.about}")
