"""Ablations: the default system with one setting changed at a time."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from treebridge.bridge.settings import BridgeSettings
from treebridge.corpus.bitext import Bitext
from treebridge.errors import TreebridgeError
from treebridge.experiment.inputs import Source, Target
from treebridge.experiment.lab import Lab, LabSettings
from treebridge.experiment.refining import Refined
from treebridge.experiment.systems import System
from treebridge.experiment.table import Result, failure_reason, find_result
from treebridge.experiment.transfer import Crossing, Fitted
from treebridge.parse.settings import ProjectSettings, RefineSettings
from treebridge.progress import Progress

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True)
class Variant:
    """One choice in a group of alternatives, with all settings of the system."""

    group: str
    choice: str
    settings: LabSettings
    bridge: BridgeSettings
    pairs: int | None
    refine: Callable[[Fitted], Crossing] = lambda start: start  # applied after the bridge


@dataclass
class Outcome:
    """A variant's results over seeds and its bridge's quality, or the reason it failed."""

    variant: Variant
    results: list[Result] = field(default_factory=list)
    quality: dict[str, object] = field(default_factory=dict)
    failed: str | None = None

    def mean(self, metric: str) -> float:
        """Mean over seeds."""
        return statistics.fmean(result.scores[metric] for result in self.results)


def variants(
    settings: LabSettings,
    pairs: int | None,
    groups: Sequence[str],
    bridge: BridgeSettings | None = None,
) -> Iterator[Variant]:
    """The default first, then every choice of each group, including the default one."""
    default = Variant("default", "", settings, bridge or BridgeSettings(), pairs)
    yield default
    for group in groups:
        if group not in GROUPS:
            raise TreebridgeError(f"unknown group {group!r}; choose from {', '.join(GROUPS)}")
        yield from GROUPS[group](default)


def _bridges(group: str, name: str, choices: Sequence[Any]) -> Callable[[Variant], list[Variant]]:
    def make(base: Variant) -> list[Variant]:
        changed = [(choice, base.bridge.changed(**{name: choice})) for choice in choices]
        return [replace(base, group=group, choice=str(c), bridge=bridge) for c, bridge in changed]

    return make


def _settings(
    group: str, choices: Sequence[str], change: Callable[[LabSettings, Any], LabSettings]
) -> Callable[[Variant], list[Variant]]:
    def make(base: Variant) -> list[Variant]:
        return [
            replace(base, group=group, choice=c, settings=change(base.settings, c)) for c in choices
        ]

    return make


def _sizes(base: Variant) -> list[Variant]:
    sizes = [size for size in SIZES if base.pairs is None or size < base.pairs]
    chosen = [*sizes, base.pairs]  # None for all pairs
    return [replace(base, group="pairs", choice=f"{n:,}" if n else "all", pairs=n) for n in chosen]


def _blends(base: Variant) -> list[Variant]:
    """The non-orthogonal map `blend`, on senses and on single occurrences."""
    levels = ("sense", "occurrence")
    made = {level: base.bridge.changed(level=level, map="blend") for level in levels}
    return [replace(base, group="blend", choice=level, bridge=b) for level, b in made.items()]


def _refined(base: Variant) -> list[Variant]:
    """Refining, and refining with one part changed."""

    def projected(**changes: Any) -> Callable[[Fitted], Crossing]:
        return partial(Refined, refine=RefineSettings(project=ProjectSettings(**changes)))

    ways: dict[str, Callable[[Fitted], Crossing]] = {
        "self": partial(Refined, links=False),
        "links": Refined,
        "links, unlinked words masked": projected(fill=False),
        "links, projected labels only": projected(own_labels=0.0),
        "links, all sentences": projected(confident=1.0),
        "links, no source trees": partial(Refined, refine=RefineSettings(source_share=0.0)),
        "links, source word order": partial(Refined, refine=RefineSettings(reorder=False)),
        "links, frozen map": partial(Refined, refine=RefineSettings(change_map=False)),
    }
    return [replace(base, group="refine", choice=c, refine=way) for c, way in ways.items()]


def _order(base: Variant) -> list[Variant]:
    """Refining with source trees in the target's or the source's word order."""
    ways: dict[str, Callable[[Fitted], Crossing]] = {
        "target": Refined,
        "source": partial(Refined, refine=RefineSettings(reorder=False)),
    }
    return [replace(base, group="order", choice=c, refine=way) for c, way in ways.items()]


def _encoding(settings: LabSettings, layers: str) -> LabSettings:
    return replace(settings, encoding=replace(settings.encoding, layers=layers))


GROUPS: dict[str, Callable[[Variant], list[Variant]]] = {
    "level": _bridges("level", "level", ("word", "sense", "occurrence")),
    "weighting": _bridges("weighting", "weighting", ("none", "sqrt", "count")),
    "map": _bridges("map", "map", ("auto", "procrustes", "least-squares", "blend", "rcsls")),
    "anchors": _bridges("anchors", "paper", (False, True)),
    "isotropy-from": _settings(
        "isotropy-from", ("bitext", "input"), lambda s, c: replace(s, isotropy_from=c)
    ),
    "words": _bridges("words", "anchor_words", ("whole", "all")),
    "aligner": _settings("aligner", ("hmm", "fast-align"), lambda s, c: replace(s, aligner=c)),
    "symmetrize": _bridges(
        "symmetrize", "symmetrize", ("intersection", "grow-diag-final-and", "union", "forward")
    ),
    "blend": _blends,
    "senses": _bridges("senses", "senses", (4, 5, 7)),
    "rounds": _bridges("rounds", "rounds", (1, 2)),
    "refine": _refined,
    "order": _order,
    "pairs": _sizes,
    "tags": _settings(
        "tags",
        ("gold", "predicted", "none"),
        lambda s, c: replace(s, parser=replace(s.parser, tags=c)),
    ),
    # Which layer encodes most syntax depends on the encoder's training objective.
    "layers": _settings("layers", ("last1", "last2", "last4", "-5,-4,-3,-2", "last6"), _encoding),
}


def run_ablation(
    source: Source,
    target: Target,
    chosen: Sequence[Variant],
    seeds: Sequence[int],
    folder: Path,
    progress: Progress,
    after: Callable[[list[Outcome]], None] = lambda outcomes: None,
) -> list[Outcome]:
    """Run every variant with every seed; variants share what they have in common."""
    outcomes = []
    for number, variant in enumerate(chosen, 1):
        outcome = Outcome(variant)
        outcomes.append(outcome)
        name = f"{variant.group} {variant.choice}".strip()
        place = f"[{number}/{len(chosen)}] {name}"
        limited = replace(target, bitext=partial(_limited, target, variant.pairs))
        lab = Lab(source, variant.settings, folder, progress)
        system = System("treebridge", name, variant.refine(Fitted(variant.bridge)), isotropy=True)
        try:
            for seed in seeds:
                where = f"{place}, seed {seed}"
                outcome.results.append(find_result(lab, limited, system, seed, where))
            parser = lab.parser("own", True, seeds[0])
            outcome.quality = lab.bridge(limited, "own", parser, variant.bridge).quality
            progress.say(f"{place}: LAS {outcome.mean('LAS'):.2f}")
        except Exception as error:  # continue with the other variants
            outcome.failed = failure_reason(error)
            progress.say(f"{place} failed: {outcome.failed}")
        after(outcomes)
    return outcomes


def _limited(target: Target, pairs: int | None) -> Bitext:
    return replace(target.find_bitext(), limit=pairs)
