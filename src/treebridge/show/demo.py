"""`treebridge demo`: tells the whole story while it is made, and writes it down as a page."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from treebridge.corpus.bitext import Bitext
from treebridge.corpus.statistics import bitext_statistics, treebank_statistics
from treebridge.encode.pretrain.run import Metrics
from treebridge.experiment.demo import ROWS, Demo, DemoSize
from treebridge.experiment.table import Table
from treebridge.folders import work_folder
from treebridge.keys import key_of
from treebridge.locks import hold
from treebridge.parse.parser import Parser
from treebridge.parse.settings import TagsFrom
from treebridge.parse.shipped import shipped_models
from treebridge.progress import QUIET, Progress
from treebridge.seeds import check_seed
from treebridge.show.figures import bars, lines
from treebridge.show.report import Report
from treebridge.show.results import cell_text, show_table
from treebridge.show.tables import show

TAGS: dict[TagsFrom, str] = {"gold": "gold tags", "none": "no tags"}


def run_demo(
    folder: Path,
    seed: int,
    size: DemoSize | None = None,
    *,
    force: bool = False,
    progress: Progress = QUIET,
) -> Path:
    """Tell the whole story in a folder; a second run finds what the first made."""
    check_seed(seed)
    size = size or DemoSize()
    work_folder(folder, "demo", ("lab",), key=key_of(seed, asdict(size)), force=force)
    with hold(folder / "report.html"):
        return Story(Demo(folder, seed, size, progress)).tell()


class Story:
    """What a demo prints, and the report it leaves."""

    def __init__(self, demo: Demo):
        self.demo = demo
        self.console = Console()
        self.report = Report("treebridge: the whole story on languages that nobody speaks")
        self._number = 0

    def tell(self) -> Path:
        """Run the demo and tell it; the path of the report."""
        began = time.perf_counter()
        self.corpora()
        curves = self.encoders()
        tables = self.tables()
        self.trees(tables["gold"])
        self.shipped()
        self.figures(curves, tables)
        path = self.demo.folder / "report.html"
        self.report.write(path)
        self.console.print(
            f"Report with figures: {path.absolute()}\n"
            f"Everything else is beside it; {time.perf_counter() - began:.0f} s."
        )
        return path

    def corpora(self) -> None:
        """A language with a treebank, and one without."""
        demo, size = self.demo, self.demo.size
        source, near = (demo.world.languages[name] for name in ("source", "near"))
        self._section("A language with a treebank, and one without")
        self._say(
            f"{source.name} has {size.trees:,} annotated sentences. {near.name}, with other words, "
            f"has none: only {size.pairs:,} sentences translated from {source.name}, and raw text."
        )
        demo.write_corpora()
        show(treebank_statistics(demo.treebank), self.console)
        bitext = Bitext.read(demo.bitext("near"), source_language=source.code)
        show(bitext_statistics(bitext), self.console)
        form, senses = next(iter(near.ambiguous.items()))
        words = " or ".join(source.forms[sense] for sense in senses)
        self._say(
            f"{len(near.ambiguous)} words of {near.name} have two senses: “{form}” is "
            f"{source.name} “{words}”."
        )

    def encoders(self) -> dict[str, list[Metrics]]:
        """Two small encoders, from raw text alone; how their training went."""
        self._section("Two small encoders, from raw text alone")
        curves = {}
        for name in ("source", "near"):
            language = self.demo.world.languages[name].name
            history = curves[language] = self.demo.pretrain(name)
            self._say(
                f"{language}: it guesses {history[-1]['accuracy']:.0%} of the words masked in "
                f"held-out text; by frequency alone {history[0]['accuracy']:.0%}."
            )
        return curves

    def tables(self) -> dict[str, Table]:
        """All rows with gold tags, and those that can do without, without."""
        self._section("Align, bridge, train: every row of the paper's table, and ours")
        tables: dict[str, Table] = {}
        for tags, shown in TAGS.items():
            tables[tags] = table = self.demo.table(tags)
            self.console.print()
            show_table(table, self.console)
            self.report.say(f"UAS / LAS, {shown}:")
            self.report.table(
                ["system", *(language.name for language in table.languages)],
                [
                    [row.name, *(cell_text(table, row.name, language.code, "**{}**".format)
                                 for language in table.languages)]
                    for row in table.systems
                ],
            )  # fmt: skip
            for one in table.comparisons():
                self.report.say(str(one))
        return tables

    def trees(self, table: Table) -> None:
        """A sentence of the target, parsed without a map and across the bridge."""
        self._section("One sentence, two trees")
        readings = self.demo.readings(table, ("unmapped", "treebridge"))
        for name, tree in readings.trees.items():
            caption = (
                f"{table.languages[1].name}, {name}: {readings.right(name)} of "
                f"{len(readings.gold)} heads are right"
            )
            self.console.print(f"[bold]{caption}[/]")
            drawn = tree.draw()
            self.console.print(drawn, highlight=False, markup=False)
            self.console.print()
            self.report.tree(drawn, caption)

    def shipped(self) -> None:
        """Real sentences, by the models that come with the package."""
        for model in shipped_models().values():
            self._section(f"A real language: {model.card['language']}, by a shipped model")
            self._say(" ".join(model.card["summary"].split()))
            for tree in Parser.load(model.folder)(model.card["examples"]):
                drawn = tree.draw()
                self.console.print(drawn, "\n", highlight=False, markup=False)
                self.report.tree(drawn, " ".join(tree.forms))

    def figures(self, curves: dict[str, list[Metrics]], tables: dict[str, Table]) -> None:
        """The pictures of the report."""
        self.report.heading("Figures")
        target = tables["gold"].languages[1]
        las: dict[str, dict[str, float | None]] = {
            name: {
                shown: tables[tags].cell(name, target.code).mean("LAS")
                if tables[tags].cell(name, target.code).results
                else None
                for tags, shown in TAGS.items()
            }
            for name in ROWS
        }
        self.report.figure(bars(las, "LAS"), f"{target.name}, zero-shot, by system.")
        self.report.figure(
            lines({name: [(m["tokens"], 100 * m["accuracy"]) for m in history]
                   for name, history in curves.items()}, "pieces of text", "masked accuracy, %"),
            "What the encoders learn from raw text.",
        )  # fmt: skip
        self.report.figure(
            lines(self.demo.cones(), "iterations of isotropy", "mean cosine of two random words"),
            "How narrow the cone of the vectors is, by iteration.",
        )

    def _section(self, title: str) -> None:
        self._number += 1
        self.console.rule(f"[bold]{self._number}. {title}")
        self.report.heading(f"{self._number}. {title}")

    def _say(self, text: str) -> None:
        self.console.print(f"{text}\n", highlight=False)
        self.report.say(text)
