"""A table of results on the terminal and as Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from treebridge.corpus.files import write_text
from treebridge.experiment.paper import PAPER
from treebridge.experiment.table import Cell, Table


def shown_metrics(table: Table) -> tuple[str, ...]:
    """UAS and LAS, and UPOS where the parser predicts tags."""
    return ("UAS", "LAS", "UPOS") if table.about.get("tags") == "predicted" else ("UAS", "LAS")


def cell_text(table: Table, system: str, language: str, bold: Callable[[str], str] = str) -> str:
    """Means and standard deviations; `bold` marks the best of a column."""
    cell = table.cell(system, language)
    if cell.failed is not None and not cell.results:
        return "failed"
    if not cell.results:
        return "…"
    parts = []
    for metric in shown_metrics(table):
        mean, best = cell.mean(metric), table.best(language, metric)
        text = f"{mean:.2f}"
        if len(cell.results) > 1:
            text += f" ±{cell.spread(metric):.2f}"
        parts.append(bold(text) if best is not None and f"{mean:.2f}" == f"{best:.2f}" else text)
    return " / ".join(parts)


def paper_text(system: str, language: str) -> str:
    """The paper's figures for a cell, or an empty string."""
    found = PAPER.get((system, language))
    return f"{found[0]:.2f} / {found[1]:.2f}" if found else ""


def failures(table: Table) -> list[str]:
    """One sentence per failed cell."""
    return [
        f"{language}, {system}: {cell.failed}"
        for (system, language), cell in table.cells.items()
        if cell.failed is not None
    ]


def to_markdown(table: Table) -> str:
    """The table in the paper's layout, with the paper's figures in a row below ours."""
    metrics = " / ".join(shown_metrics(table))
    lines = [
        f"{metrics}, {describe(table)}. Italics: the paper, on test. Bold: best in its column.",
        "",
        "| system | " + " | ".join(f"{lang.name}" for lang in table.languages) + " |",
        "|---|" + "---|" * len(table.languages),
    ]
    for system in table.systems:
        ours = [
            cell_text(table, system.name, lang.code, "**{}**".format) for lang in table.languages
        ]
        lines.append(f"| {system.name} | " + " | ".join(ours) + " |")
        paper = [paper_text(system.name, lang.code) for lang in table.languages]
        if any(paper):
            italic = [f"*{text}*" if text else "" for text in paper]
            lines.append("| *paper* | " + " | ".join(italic) + " |")
    compared = [str(one) for one in table.comparisons()]
    if compared:
        lines += ["", "Paired bootstrap over sentences, all seeds pooled:", ""]
        lines += [f"- {line}" for line in compared]
    if failed := failures(table):
        lines += ["", "Failed:", "", *(f"- {line}" for line in failed)]
    return "\n".join(lines) + "\n"


def describe(table: Table) -> str:
    """How the figures were made: part, tags, preset and seeds."""
    about = table.about
    forms = {"part": "{}", "tags": "{} tags", "preset": "preset {}"}
    parts = [form.format(about[name]) for name, form in forms.items() if name in about]
    seeds = about.get("seeds", ())
    if len(seeds) > 1:
        parts.append(f"{len(seeds)} seeds (mean ± standard deviation)")
    elif seeds:
        parts.append(f"seed {seeds[0]}")
    return ", ".join(parts) or "convention paper"


def to_csv(table: Table) -> str:
    """One line per result."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    metrics = ("UAS", "LAS", "UPOS", "CLAS")
    writer.writerow(["system", "language", "seed", *metrics, "paper UAS", "paper LAS", "failed"])
    for system in table.systems:
        for language in table.languages:
            cell = table.cell(system.name, language.code)
            paper = PAPER.get((system.name, language.code), ("", ""))
            for result in cell.results:
                figures = [f"{result.scores[m]:.4f}" for m in metrics]
                where = [system.name, language.code, result.seed]
                writer.writerow([*where, *figures, *paper, ""])
            if cell.failed is not None:
                nothing = [""] * (1 + len(metrics))
                writer.writerow([system.name, language.code, *nothing, *paper, cell.failed])
    return out.getvalue()


def to_latex(table: Table) -> str:
    """A booktabs table, with the paper's figures in italics below ours."""
    columns = "l" + "r" * len(table.languages)
    head = " & ".join(["", *(lang.name for lang in table.languages)])
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", head + r" \\", "\\midrule"]
    for system in table.systems:
        ours = [
            cell_text(table, system.name, lang.code, r"\textbf{{{}}}".format)
            .replace("±", r"$\pm$").replace("…", "--")
            for lang in table.languages
        ]  # fmt: skip
        lines.append(" & ".join([system.name, *ours]) + r" \\")
        paper = [paper_text(system.name, lang.code) for lang in table.languages]
        if any(paper):
            italic = [rf"\textit{{{text}}}" if text else "" for text in paper]
            lines.append(" & ".join([r"\quad\textit{paper}", *italic]) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def to_json(table: Table) -> str:
    """The complete table: scores by seed, the paper's figures and comparisons."""
    cells = [
        {
            "system": system.name,
            "language": language.code,
            **_figures(table.cell(system.name, language.code)),
            "paper": PAPER.get((system.name, language.code)),
        }
        for system in table.systems
        for language in table.languages
    ]
    compared = [
        {"systems": one.systems, "language": one.language, "difference": one.difference,
         "low": one.low, "high": one.high, "p": one.p}
        for one in table.comparisons()
    ]  # fmt: skip
    content = {"about": table.about, "cells": cells, "comparisons": compared}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _figures(cell: Cell) -> dict[str, object]:
    figures: dict[str, object] = {"failed": cell.failed}
    for metric in ("UAS", "LAS", "UPOS", "CLAS"):
        if cell.results:
            figures[metric] = {
                "mean": cell.mean(metric),
                "spread": cell.spread(metric),
                "seeds": {str(r.seed): r.scores[metric] for r in cell.results},
            }
    return figures


FORMATS = {"md": to_markdown, "csv": to_csv, "tex": to_latex, "json": to_json}


def save_table(table: Table, folder: Path, name: str = "table1") -> None:
    """Write the table in every format."""
    for ending, convert in FORMATS.items():
        with write_text(folder / f"{name}.{ending}") as stream:
            stream.write(convert(table))


def show_table(table: Table, console: Console | None = None) -> None:
    """Print the table, followed by comparisons and failures."""
    if console is None:
        console = Console(highlight=False, soft_wrap=True)
        # Let the terminal wrap long lines, so that no figure is cut off.
        console.width = max(console.width, 24 + 28 * len(table.languages))
    grid = Grid(title=Text(f"{' / '.join(shown_metrics(table))}, {describe(table)}", "bold"),
                title_justify="left", box=None)  # fmt: skip
    grid.add_column("system", style="cyan", no_wrap=True)
    for language in table.languages:
        grid.add_column(language.name, justify="right", no_wrap=True)
    for system in table.systems:
        cells = [
            Text.from_markup(cell_text(table, system.name, lang.code, "[bold]{}[/]".format))
            for lang in table.languages
        ]
        grid.add_row(system.name, *cells)
        paper = [paper_text(system.name, lang.code) for lang in table.languages]
        if any(paper):
            grid.add_row("  paper", *(Text(text, "dim") for text in paper))
    console.print(grid)
    for one in table.comparisons():
        console.print(str(one))
    for line in failures(table):
        console.print(Text(f"failed: {line}", "red"))
