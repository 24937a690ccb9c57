"""`treebridge align`: links for a bitext, a score for an aligner."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from treebridge.align.aligner import KIND, Aligner, Choices
from treebridge.align.encoded import Encoded, Encoder
from treebridge.align.engines import DEFAULT, engine, load_aligner
from treebridge.align.links import Links
from treebridge.align.pharaoh import write_pharaoh
from treebridge.align.score import GoldPair, read_gold, score
from treebridge.align.symmetrize import METHODS, symmetrize
from treebridge.align.threads import Threads
from treebridge.corpus.bitext import Bitext, Counts, Walk
from treebridge.errors import TreebridgeError
from treebridge.folders import is_finished
from treebridge.show.progress import meter, watch


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    method: str = "intersection"
    one_to_one: bool = True
    engine: str | None = None
    model: Path | None = None
    save_model: Path | None = None
    output: str | None = None
    gold: Path | None = None
    threads: int | None = None
    as_json: bool = False
    force: bool = False  # replace a model at `save_model`


def align_files(files: Sequence[str], request: Request, **settings: Any) -> None:
    """Align a bitext; write the links, or score the aligner, or both.

    `settings` are those of `Bitext`: languages, words, the number of pairs.
    """
    started = time.perf_counter()
    if request.model and request.engine:
        raise TreebridgeError("--model brings its own engine: leave --engine out")
    if request.save_model:
        is_finished(request.save_model, KIND, None, force=request.force)
    bitext = Bitext(tuple(files), **settings)
    gold = read_gold(request.gold) if request.gold else []
    aligner = load_aligner(request.model) if request.model else None
    walk = iter(bitext)
    corpus, pairs = _encode(walk, gold, aligner)
    if not len(corpus):
        raise TreebridgeError(walk.counts.why_none(), file=files[0])
    with Threads(request.threads) as threads, meter(corpus.tokens) as report:
        if aligner is None:
            aligner = engine(request.engine or DEFAULT).fit(corpus, threads, report)
        choices = aligner.choices(corpus, threads, report)
        links = symmetrize(corpus, choices, request.method, threads)
        links = links.one_to_one() if request.one_to_one else links
        scores = _scores(corpus, choices, gold, pairs, threads) if gold else []
    if request.save_model:
        aligner.save(request.save_model)
    output = request.output or (None if gold else "-")
    if output:
        write_pharaoh(output, links.first(pairs), corpus)
    spent = time.perf_counter() - started
    summary = {
        "engine": aligner.engine,
        "pairs": pairs,
        "left_out": walk.counts.left_out(),
        "words": corpus.tokens,
        "links": links.first(pairs).total,
        "seconds": round(spent, 2),
        "words_per_second": round(corpus.tokens / spent),
        **({"scores": scores} if gold else {}),
    }
    to_stdout = output != "-"
    if request.as_json:
        print(json.dumps(summary), file=sys.stdout if to_stdout else sys.stderr)
    else:
        _show(summary, walk.counts, Console(stderr=not to_stdout))


def _encode(walk: Walk, gold: list[GoldPair], aligner: Aligner | None) -> tuple[Encoded, int]:
    """The bitext with the gold pairs after it, and the number of pairs before those."""
    words = (aligner.source_words, aligner.target_words) if aligner else ()
    encoder = Encoder(*words)
    pairs = 0
    for pair in watch("pairs")(walk):
        encoder.add(pair, walk.counts.read - 1)
        pairs += 1
    for number, each in enumerate(gold):
        encoder.add((each.source, each.target), walk.counts.read + number)
    return encoder.done(walk.counts.read), pairs


def _scores(
    corpus: Encoded, choices: Choices, gold: list[GoldPair], pairs: int, threads: Threads
) -> list[dict[str, Any]]:
    """Every symmetrisation, as it is and one-to-one."""
    rows = []
    for method in METHODS:
        links = symmetrize(corpus, choices, method, threads)
        for one_to_one, each in ((False, links), (True, links.one_to_one())):
            result = score(_last(each, pairs), [pair.links for pair in gold])
            rows.append(
                {
                    "links": method,
                    "one_to_one": one_to_one,
                    **{k: round(100 * getattr(result, k), 2) for k in _FIGURES},
                    "gold": asdict(result),
                    "number": each.first(pairs).total,
                }
            )
    return rows


_FIGURES = ("precision", "recall", "aer")


def _last(links: Links, pairs: int) -> list[Any]:
    return [links[n].tolist() for n in range(pairs, len(links))]


def _show(summary: dict[str, Any], counts: Counts, console: Console) -> None:
    console.print(
        f"{summary['engine']}: {counts}; {summary['links']:,} links, "
        f"{summary['seconds']:.1f} s, {summary['words_per_second']:,} words per second",
        highlight=False,
        soft_wrap=True,
    )
    if "scores" not in summary:
        return
    table = Table("links", "", "precision", "recall", "AER", "number", box=None)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in summary["scores"]:
        figures = (f"{row[key]:.1f}" for key in _FIGURES)
        kind = "one-to-one" if row["one_to_one"] else ""
        table.add_row(row["links"], kind, *figures, f"{row['number']:,}")
    console.print(table)
