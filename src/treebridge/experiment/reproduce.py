"""Reproduce the paper's table and figures, one function each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treebridge import __version__
from treebridge.bridge.settings import BridgeSettings
from treebridge.errors import TreebridgeError
from treebridge.experiment.ablation import Outcome, run_ablation, variants
from treebridge.experiment.anisotropy import PairOfCones, anisotropy_of_pairs
from treebridge.experiment.datasets import Need, Supply
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.experiment.refining import Refined
from treebridge.experiment.systems import System, choose_systems
from treebridge.experiment.table import Table, run_table
from treebridge.folders import work_folder
from treebridge.progress import QUIET, Progress

RESULTS = ("runs", "parsers", "anisotropy.json")  # any of these marks a results folder


@dataclass(frozen=True)
class Steps:
    """The work and data that a table needs."""

    needs: list[Need]
    systems: list[System]
    seeds: Sequence[int]
    spaces: int  # input spaces, each with one parser per seed
    taggers: int  # additional parsers that tag text
    languages: int

    @property
    def parsers(self) -> int:
        """Number of parsers to train."""
        return (self.spaces + self.taggers) * len(self.seeds)

    @property
    def results(self) -> int:
        """Number of results: cells of the table times seeds."""
        return len(self.systems) * (self.languages + 1) * len(self.seeds)


def table1_steps(
    supply: Supply,
    codes: Sequence[str],
    names: Sequence[str] | None,
    seeds: Sequence[int],
    settings: LabSettings,
) -> Steps:
    """List what `table1` would need and do, without running it."""
    systems = choose_systems(names, settings.parser.tags)
    needs = supply.needs(codes, sorted({system.encoder for system in systems}))
    spaces = {(system.encoder, system.isotropy) for system in systems}
    refined = {(s.encoder, s.isotropy) for s in systems if isinstance(s.crossing, Refined)}
    taggers = len(refined) if settings.parser.tags == "gold" else 0
    return Steps(needs, systems, seeds, len(spaces), taggers, len(codes))


def table1(
    supply: Supply,
    codes: Sequence[str],
    names: Sequence[str] | None,
    seeds: Sequence[int],
    settings: LabSettings,
    folder: Path,
    *,
    preset: str = "default",
    after: Callable[[Table], None] = lambda table: None,
    force: bool = False,
    progress: Progress = QUIET,
) -> Table:
    """Table 1 of the paper; `after` is called with the table so far after every language."""
    systems = choose_systems(names, settings.parser.tags)
    targets = [supply.target(code) for code in codes]
    work_folder(folder, "reproduce", RESULTS, force=force)
    about: dict[str, Any] = {
        "part": supply.part,
        "tags": settings.parser.tags,
        "preset": preset,
        "epochs": settings.parser.epochs,
        "seeds": list(seeds),
        "pairs": supply.pairs,
        "aligner": settings.aligner,
        "anchor_words": settings.anchor_words or "per system",
        "isotropy_from": settings.isotropy_from,
        "convention": "paper",
        "encoders": {lang.code: str(lang.encoders["own"]) for lang in (supply.source(), *targets)},
        "parser": settings.parser.config(),
        "version": __version__,
        "date": time.strftime("%Y-%m-%d"),
    }
    lab = Lab(supply.source(), settings, folder, progress)
    return run_table(lab, targets, systems, seeds, after=after, about=about)


def ablation(
    supply: Supply,
    code: str,
    groups: Sequence[str],
    seeds: Sequence[int],
    settings: LabSettings,
    folder: Path,
    bridge: BridgeSettings | None = None,
    *,
    after: Callable[[list[Outcome]], None] = lambda outcomes: None,
    force: bool = False,
    progress: Progress = QUIET,
) -> list[Outcome]:
    """Ablations; `after` is called with the outcomes so far after every variant."""
    chosen = list(variants(settings, supply.pairs, groups, bridge))
    work_folder(folder, "reproduce", RESULTS, force=force)
    return run_ablation(
        supply.source(), supply.target(code), chosen, seeds, folder, progress, after
    )


def anisotropy(
    supply: Supply,
    codes: Sequence[str],
    sentences: int,
    settings: LabSettings,
    folder: Path,
    *,
    force: bool = False,
    progress: Progress = QUIET,
) -> dict[str, PairOfCones]:
    """Figure 3 of the paper; failures are recorded, and raise an error if all pairs fail."""
    work_folder(folder, "reproduce", RESULTS, force=force)
    lab = Lab(supply.source(), settings, folder, progress)
    found = anisotropy_of_pairs(lab, [supply.target(code) for code in codes], sentences)
    if all(pair.failed for pair in found.values()):
        raise TreebridgeError(f"no language pair could be measured: {found[codes[0]].failed}")
    return found
