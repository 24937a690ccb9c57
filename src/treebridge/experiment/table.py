"""Run systems × languages × seeds, save every result and summarise them."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from treebridge.checksums import SEAL, sealed
from treebridge.corpus.conllu import write_conllu
from treebridge.corpus.files import write_text
from treebridge.corpus.sentence import Sentence
from treebridge.errors import TreebridgeError, first_line, warn_damaged
from treebridge.experiment.bootstrap import Comparison, paired_bootstrap
from treebridge.experiment.inputs import Language, Target
from treebridge.experiment.lab import Lab
from treebridge.experiment.systems import System
from treebridge.keys import key_of
from treebridge.parse.score import score
from treebridge.records import read_record

METRICS = ("UAS", "LAS", "UPOS", "CLAS")
# Pairs of rows whose difference is tested for significance.
COMPARED = (
    ("sense", "word"),
    ("sense+in", "word+in"),
    ("treebridge", "sense+in"),
    ("self-trained", "treebridge"),
    ("refined", "treebridge"),
    ("refined", "sense+in"),
)


@dataclass(frozen=True)
class Result:
    """Result of one system in one language with one seed."""

    key: str  # hash of everything that determines it
    system: str
    language: str
    seed: int
    scores: dict[str, float]
    words: list[int]  # scored words per sentence
    heads: list[int]  # words with the correct head, per sentence
    labels: list[int]  # words with the correct head and label, per sentence
    seconds: float


@dataclass
class Cell:
    """One system in one language: a result per seed, or the reason it failed."""

    results: list[Result] = field(default_factory=list)
    failed: str | None = None

    def mean(self, metric: str) -> float:
        """Mean over seeds."""
        return statistics.fmean(result.scores[metric] for result in self.results)

    def spread(self, metric: str) -> float:
        """Standard deviation over seeds; 0 for a single seed."""
        values = [result.scores[metric] for result in self.results]
        return statistics.stdev(values) if len(values) > 1 else 0.0


@dataclass
class Table:
    """All results so far, as cells by system and language."""

    systems: list[System]
    languages: list[Language]  # the source first
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    _compared: dict[tuple[Any, ...], Comparison] = field(default_factory=dict, repr=False)

    def cell(self, system: str, language: str) -> Cell:
        """The cell of a system and language, empty if not run yet."""
        return self.cells.setdefault((system, language), Cell())

    def best(self, language: str, metric: str) -> float | None:
        """The highest mean of a column."""
        cells = [self.cell(system.name, language) for system in self.systems]
        return max((cell.mean(metric) for cell in cells if cell.results), default=None)

    def comparisons(self) -> Iterator[Comparison]:
        """Paired bootstraps between the rows of COMPARED, for every target."""
        for better, worse in COMPARED:
            for language in self.languages[1:]:
                left, right = (self.cell(name, language.code) for name in (better, worse))
                seeds = {r.seed for r in left.results} & {r.seed for r in right.results}
                if not seeds:
                    continue
                key = (better, worse, language.code, *sorted(seeds))
                if key not in self._compared:
                    self._compared[key] = paired_bootstrap(
                        (better, worse),
                        language.code,
                        [r.words for r in left.results if r.seed in seeds],
                        [r.labels for r in left.results if r.seed in seeds],
                        [r.labels for r in right.results if r.seed in seeds],
                    )
                yield self._compared[key]


def run_table(
    lab: Lab,
    targets: Sequence[Target],
    systems: Sequence[System],
    seeds: Sequence[int] = (1, 2, 3),
    after: Callable[[Table], None] = lambda table: None,
    about: dict[str, Any] | None = None,
) -> Table:
    """Fill a table, reusing results saved in the lab's folder.

    A failed cell records its reason and does not stop the others. `after` is called after each
    language.
    """
    table = Table(list(systems), [lab.source, *targets], about=about or {})
    total = len(seeds) * len(table.languages) * len(systems)
    done = 0
    for seed in seeds:
        for language in table.languages:
            for system in systems:
                done += 1
                cell = table.cell(system.name, language.code)
                place = f"[{done}/{total}] {language.code} {system.name}, seed {seed}"
                if cell.failed is not None:
                    continue
                try:
                    result = find_result(lab, language, system, seed, place)
                except Exception as error:  # continue with the other cells
                    cell.failed = failure_reason(error)
                    lab.progress.say(f"{place} failed: {cell.failed}")
                else:
                    cell.results.append(result)
                    figures = ", ".join(f"{m} {result.scores[m]:.2f}" for m in METRICS[:2])
                    lab.progress.say(f"{place}: {figures} ({result.seconds:.0f} s)")
            after(table)
            if language is not lab.source:
                lab.forget(language)
    return table


def failure_reason(error: Exception) -> str:
    """The message of an error, in one line."""
    if isinstance(error, TreebridgeError):
        return str(error)
    return f"{type(error).__name__}: {first_line(error)}"


def _saved_result(path: Path) -> Result | None:
    """Load a saved result; None if it is missing or damaged."""
    if not path.exists():
        return None
    try:
        record = read_record(path)
        record.pop(SEAL, None)
        return Result(**record)
    except (TreebridgeError, TypeError) as error:
        warn_damaged(path, getattr(error, "problem", "not a result"))
        return None


def find_result(lab: Lab, language: Language, system: System, seed: int, place: str) -> Result:
    """Load the result of a system, language and seed, or compute and save it."""
    if system.encoder == "blank" and lab.settings.parser.tags != "gold":
        raise TreebridgeError(f"{system.name} sees only tags; use gold tags")
    role = system.encoder
    parts = [lab.parser_key(role, system.isotropy, seed), lab.trees_key(language)]
    if isinstance(language, Target):
        parts += [system.crossing.key(lab, language, role), lab.encoder(language, role).cache_key]
    key = key_of(system.name, *parts)
    path = lab.folder / "runs" / f"{language.code}-{system.name}-{seed}-{key[:8]}.json"
    if saved := _saved_result(path):
        return saved
    lab.progress.say(f"{place} …")
    start = time.perf_counter()
    parser = lab.parser(role, system.isotropy, seed)
    if isinstance(language, Target):
        parser = system.crossing.cross(lab, language, role, parser)
    gold = lab.trees(language)
    trees = lab.parse(parser, language, role)
    result = _score(key, system, language, seed, gold, trees, time.perf_counter() - start)
    write_conllu(trees, path.with_suffix(".conllu"))
    with write_text(path) as stream:
        json.dump(sealed(asdict(result)), stream)
    return result


def _score(
    key: str,
    system: System,
    language: Language,
    seed: int,
    gold: Sequence[Sentence],
    trees: Sequence[Sentence],
    seconds: float,
) -> Result:
    values = score(gold, trees).values
    single = [score([g], [t]).metrics for g, t in zip(gold, trees, strict=True)]
    return Result(
        key,
        system.name,
        language.code,
        seed,
        {metric: values[metric] for metric in METRICS},
        [one["UAS"].gold for one in single],
        [one["UAS"].correct for one in single],
        [one["LAS"].correct for one in single],
        seconds,
    )
