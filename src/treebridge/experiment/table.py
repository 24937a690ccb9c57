"""Systems × languages × seeds: run what is missing, keep every result, and sum them up."""

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
from treebridge.experiment.lab import Lab, rows_of
from treebridge.experiment.systems import System
from treebridge.keys import key_of
from treebridge.parse.score import score
from treebridge.records import read_record

METRICS = ("UAS", "LAS", "UPOS", "CLAS")
# Rows whose difference is tested: senses over words, ours over the paper's best, what more does.
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
    """One system in one language with one seed."""

    key: str  # a hash of all that decided it
    system: str
    language: str
    seed: int
    scores: dict[str, float]
    words: list[int]  # of each sentence, those that count
    heads: list[int]  # of each sentence, words with the right head
    labels: list[int]  # and the right label too
    seconds: float


@dataclass
class Cell:
    """One system in one language: a result for each seed, or why there is none."""

    results: list[Result] = field(default_factory=list)
    failed: str | None = None

    def mean(self, metric: str) -> float:
        """Over seeds."""
        return statistics.fmean(result.scores[metric] for result in self.results)

    def spread(self, metric: str) -> float:
        """The standard deviation over seeds; 0 for a single one."""
        values = [result.scores[metric] for result in self.results]
        return statistics.stdev(values) if len(values) > 1 else 0.0


@dataclass
class Table:
    """What came out so far; a cell is there once it was tried."""

    systems: list[System]
    languages: list[Language]  # the source first
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    _compared: dict[tuple[Any, ...], Comparison] = field(default_factory=dict, repr=False)

    def cell(self, system: str, language: str) -> Cell:
        """The cell, empty where nothing was tried yet."""
        return self.cells.setdefault((system, language), Cell())

    def best(self, language: str, metric: str) -> float | None:
        """The highest mean of a column, to be set in bold."""
        cells = [self.cell(system.name, language) for system in self.systems]
        return max((cell.mean(metric) for cell in cells if cell.results), default=None)

    def comparisons(self) -> Iterator[Comparison]:
        """Paired bootstraps between the rows that are to be compared, in every target."""
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
    """Fill a table; what the lab's folder has of it already is taken from there.

    A cell that fails says why and stops no other. `after` is called after each language.
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
                except Exception as error:  # whatever it is, the others go on
                    cell.failed = (
                        str(error)
                        if isinstance(error, TreebridgeError)
                        else f"{type(error).__name__}: {first_line(error)}"
                    )
                    lab.progress.say(f"{place} failed: {cell.failed}")
                else:
                    cell.results.append(result)
                    figures = ", ".join(f"{m} {result.scores[m]:.2f}" for m in METRICS[:2])
                    lab.progress.say(f"{place}: {figures} ({result.seconds:.0f} s)")
            after(table)
            if language is not lab.source:
                lab.forget(language)
    return table


def _kept(path: Path) -> Result | None:
    """A result that was kept, unless something has happened to it."""
    if not path.exists():
        return None
    try:
        record = read_record(path)
        record.pop(SEAL, None)
        return Result(**record)
    except (TreebridgeError, TypeError) as error:
        warn_damaged(path, getattr(error, "problem", "it is no result"))
        return None


def find_result(lab: Lab, language: Language, system: System, seed: int, place: str) -> Result:
    """One result: read, where it was made from the same things before, else made and kept."""
    if system.encoder == "blank" and lab.settings.parser.tags != "gold":
        raise TreebridgeError(f"{system.name} has nothing but tags; it needs gold tags")
    role = system.encoder
    parts = [lab.parser_key(role, system.isotropy, seed), lab.trees_key(language)]
    if isinstance(language, Target):
        parts += [system.crossing.key(lab, language, role), lab.encoder(language, role).cache_key]
    key = key_of(system.name, *parts)
    path = lab.folder / "runs" / f"{language.code}-{system.name}-{seed}-{key[:8]}.json"
    if kept := _kept(path):
        return kept
    lab.progress.say(f"{place} …")
    start = time.perf_counter()
    parser = lab.parser(role, system.isotropy, seed)
    if isinstance(language, Target):
        parser = system.crossing.cross(lab, language, role, parser)
    gold = lab.trees(language)
    vectors = rows_of(lab.vectors(language, role))
    trees = [one.sentence for one in parser.parse_vectors(gold, vectors, retag=True)]
    result = _judge(key, system, language, seed, gold, trees, time.perf_counter() - start)
    write_conllu(trees, path.with_suffix(".conllu"))
    with write_text(path) as stream:
        json.dump(sealed(asdict(result)), stream)
    return result


def _judge(
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
