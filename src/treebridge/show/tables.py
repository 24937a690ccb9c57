"""Corpus statistics on the terminal."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from treebridge.corpus.statistics import (
    BitextStatistics,
    Lengths,
    TextStatistics,
    TreebankStatistics,
)

SHOWN_PROBLEMS = 10
Statistics = TreebankStatistics | BitextStatistics | TextStatistics


def show(statistics: Statistics, console: Console) -> None:
    """Print the statistics of a corpus file."""
    if isinstance(statistics, TreebankStatistics):
        parts = _treebank(statistics)
    elif isinstance(statistics, BitextStatistics):
        parts = _bitext(statistics)
    else:
        parts = _text(statistics)
    console.print(Group(*parts, *_problems(statistics.problems), Text()))


def _treebank(s: TreebankStatistics) -> list[RenderableType]:
    unannotated = s.sentences - s.trees
    crossing = s.trees - s.projective
    figures = {
        "sentences": f"{s.sentences:,}",
        "words": f"{s.lengths.total:,}",
        "distinct words": f"{len(s.types):,}",
        **_length_rows(s.lengths),
        "multi-word tokens": f"{s.multiword_tokens:,}",
        "empty nodes": f"{s.empty_nodes:,}",
        "sentences without heads": f"{unannotated:,}",
        "trees with crossing arcs": f"{crossing:,} ({_percent(crossing, s.trees)})",
        "tags": _ranking(s.upos),
        "labels": _ranking(s.deprels),
    }
    example = [Text(f"\n{sentence.draw()}") for sentence in s.examples[:1]]
    return [_figures(f"{s.file}: treebank", figures), *example]


def _bitext(s: BitextStatistics) -> list[RenderableType]:
    counts = s.counts
    figures = {
        "pairs": f"{counts.read:,}",
        "kept": f"{counts.kept:,} ({_percent(counts.kept, counts.read)})",
        **{f"left out: {k.replace('_', ' ')}": f"{n:,}" for k, n in counts.left_out().items()},
        "source words": f"{s.source.total:,}",
        "target words": f"{s.target.total:,}",
        **{f"source {k}": v for k, v in _length_rows(s.source).items()},
        **{f"target {k}": v for k, v in _length_rows(s.target).items()},
    }
    filters = s.bitext.filters
    rules = (
        f"too long: over {filters.max_words} words on a side; unequal: one side more than "
        f"{filters.max_ratio:g} times as long; identical: not translated"
    )
    examples = Table("source", "target", box=None, header_style="dim")
    for pair in s.examples:
        examples.add_row(*(Text(side if len(side) <= 200 else side[:199] + "…") for side in pair))
    return [_figures(f"{s.file}: bitext", figures), Text(rules, "dim"), Text(), examples]


def _text(s: TextStatistics) -> list[RenderableType]:
    figures = {
        "lines": f"{s.lines:,}",
        "blank lines": f"{s.blank:,}",
        "words": f"{s.lengths.total:,}",
        **_length_rows(s.lengths),
    }
    examples = [Text(f"  {line if len(line) <= 200 else line[:199] + '…'}") for line in s.examples]
    return [_figures(f"{s.file}: text", figures), Text(), *examples]


def _figures(title: str, rows: dict[str, str]) -> Table:
    table = Table(title=Text(title, "bold"), title_justify="left", show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _length_rows(lengths: Lengths) -> dict[str, str]:
    median, most, longest = (f"{lengths.quantile(share):,}" for share in (0.5, 0.95, 1))
    row = f"mean {lengths.mean:.1f}, median {median}, 95 % ≤ {most}, longest {longest}"
    return {"lengths": row}


def _ranking(counts: Counter[str]) -> str:
    total = counts.total()
    items = [f"{key} {_percent(n, total)}" for key, n in counts.most_common(12)]
    more = f" … ({len(counts)} in total)" if len(counts) > len(items) else ""
    return ", ".join(items) + more


def _problems(problems: list[str]) -> list[RenderableType]:
    if not problems:
        return []
    shown = [Text(f"  {problem}", "red") for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        shown.append(Text(f"  … and {len(problems) - SHOWN_PROBLEMS:,} more", "red"))
    return [Text(f"\n{len(problems):,} problems:", "bold red"), *shown]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def as_dict(statistics: Statistics) -> dict[str, Any]:
    """The same figures, as printed by `--json`."""
    s = statistics
    if isinstance(s, TreebankStatistics):
        return {
            "file": s.file,
            "kind": "treebank",
            "sentences": s.sentences,
            "words": s.lengths.total,
            "types": len(s.types),
            "trees": s.trees,
            "projective": s.projective,
            "multiword_tokens": s.multiword_tokens,
            "empty_nodes": s.empty_nodes,
            "upos": dict(s.upos.most_common()),
            "deprels": dict(s.deprels.most_common()),
            "problems": s.problems,
        }
    if isinstance(s, BitextStatistics):
        counts = s.counts
        return {
            "file": s.file,
            "kind": "bitext",
            "pairs": counts.read,
            "kept": counts.kept,
            "left_out": counts.left_out(),
            "source_words": s.source.total,
            "target_words": s.target.total,
            "problems": s.problems,
        }
    return {
        "file": s.file,
        "kind": "text",
        "lines": s.lines,
        "blank": s.blank,
        "words": s.lengths.total,
        "problems": s.problems,
    }
