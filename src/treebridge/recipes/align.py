"""Align a bitext, score an aligner against gold links, or both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from treebridge.alignment.aligner import KIND
from treebridge.alignment.engines import load_aligner
from treebridge.alignment.links import Links
from treebridge.alignment.run import Aligned, align_pairs
from treebridge.alignment.score import GoldPair, read_gold, score
from treebridge.alignment.settings import AlignSettings
from treebridge.corpus.bitext import Bitext, Counts
from treebridge.folders import is_finished
from treebridge.progress import QUIET, Progress
from treebridge.settings import choices

FIGURES = ("precision", "recall", "aer")


@dataclass(frozen=True)
class Alignment:
    """The links of a bitext, and scores for each symmetrization if gold links were given."""

    links: Links
    aligner: str
    counts: Counts
    words: int
    seconds: float
    scores: list[dict[str, Any]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The figures as a dict for JSON."""
        return {
            "engine": self.aligner,
            "pairs": len(self.links),
            "left_out": self.counts.left_out(),
            "words": self.words,
            "links": self.links.total,
            "seconds": round(self.seconds, 2),
            "words_per_second": round(self.words / self.seconds),
            **({"scores": self.scores} if self.scores else {}),
        }


def align(
    bitext: Bitext,
    settings: AlignSettings | None = None,
    *,
    model: str | Path | None = None,
    save_model: str | Path | None = None,
    gold: str | Path | None = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress = QUIET,
) -> Alignment:
    """Align a bitext with a trained model, or train one on the bitext itself."""
    started = time.perf_counter()
    if save_model:
        is_finished(save_model, KIND, None, force=force)
    pairs = read_gold(gold) if gold else []
    aligned = align_pairs(
        bitext,
        settings or AlignSettings(),
        aligner=load_aligner(model) if model else None,
        further=[(pair.source, pair.target) for pair in pairs],
        threads=threads,
        progress=progress,
    )
    if save_model:
        aligned.aligner.save(save_model)
    return Alignment(
        aligned.links.first(aligned.pairs),
        aligned.aligner.engine,
        aligned.counts,
        aligned.corpus.tokens,
        time.perf_counter() - started,
        _scores(aligned, pairs) if pairs else [],
    )


def _scores(aligned: Aligned, gold: Sequence[GoldPair]) -> list[dict[str, Any]]:
    """Score every symmetrization on the gold pairs, with and without one-to-one filtering."""
    rows = []
    for method in choices(AlignSettings, "symmetrize"):
        links = aligned.symmetrized(method)
        for one_to_one, each in ((False, links), (True, links.one_to_one())):
            last = [each[n].tolist() for n in range(aligned.pairs, len(each))]
            result = score(last, [pair.links for pair in gold])
            rows.append(
                {
                    "links": method,
                    "one_to_one": one_to_one,
                    **{name: round(100 * getattr(result, name), 2) for name in FIGURES},
                    "gold": asdict(result),
                    "number": each.first(aligned.pairs).total,
                }
            )
    return rows
