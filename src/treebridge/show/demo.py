"""`treebridge demo`: run the method on artificial languages, and report on it."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid

from treebridge.corpus.bitext import Bitext
from treebridge.encode.pretrain.run import Metrics
from treebridge.experiment.demo import ROWS, Demo, DemoSize
from treebridge.experiment.table import Table
from treebridge.folders import work_folder
from treebridge.keys import key_of
from treebridge.locks import hold
from treebridge.parse.parser import Parser
from treebridge.parse.shipped import shipped_models
from treebridge.progress import QUIET, Progress
from treebridge.seeds import check_seed
from treebridge.show.demo_lessons import ABOUT, Results, lessons
from treebridge.show.figures import bars, lines
from treebridge.show.report import Report
from treebridge.show.words import minutes


def run_demo(
    folder: Path,
    seed: int,
    size: DemoSize | None = None,
    *,
    force: bool = False,
    progress: Progress = QUIET,
) -> Path:
    """Run the demo in a folder and write a report; a second run reuses the first one's results."""
    check_seed(seed)
    size = size or DemoSize()
    work_folder(folder, "demo", ("lab",), key=key_of(seed, asdict(size)), force=force)
    with hold(folder / "report.html"):
        return Story(Demo(folder, seed, size, progress)).tell()


class Story:
    """Prints the demo on the terminal and writes its report."""

    def __init__(self, demo: Demo):
        self.demo = demo
        self.console = Console(highlight=False)
        self.source, self.target = (demo.world.languages[name] for name in ("source", "near"))
        self.report = Report(f"treebridge: a parser for {self.target.name}, without a treebank")
        self._number = 0

    def tell(self) -> Path:
        """Run the demo; the path of the report."""
        began = time.perf_counter()
        self._print_data()
        curves = self._pretrain()
        table = self._score()
        results = Results(self.demo, table)
        points = lessons(results)
        self._report_scores(results, points)
        self._trees(table)
        self._shipped()
        self._background(curves, results)
        self._next()
        path = self.demo.folder / "report.html"
        self.report.write(path)
        self._section("What to take away")
        for point in points:
            self.console.print(f"• {point}")
        self.console.print(f"\nReport with figures: {path.absolute()}", soft_wrap=True)
        self.console.print(f"Total time: {minutes(time.perf_counter() - began)}\n")
        self.console.print(f"What to do next:\n\n{self._commands()}", soft_wrap=True)
        return path

    def _print_data(self) -> None:
        self._section("A language with a treebank, and one without")
        self.demo.write_corpora()
        self.console.print(self._data())
        tree = self.demo.world.treebank("source", 1)[0]
        self.console.print(f"\nA {self.source.name} tree:\n")
        self.console.print(tree.draw(), markup=False)
        pair = next(iter(Bitext.read(self.demo.bitext, source_language=self.source.code)))
        self.console.print(
            f"\nA sentence pair: {' '.join(pair.source)}  →  {' '.join(pair.target)}"
        )

    def _data(self) -> str:
        form, senses = next(iter(self.target.ambiguous.items()))
        words = " or ".join(f"“{self.source.forms[sense]}”" for sense in senses)
        return (
            f"{self.source.name} and {self.target.name} are artificial languages. "
            f"{self.source.name} has {self.demo.size.trees:,} annotated sentences. "
            f"{self.target.name} has no trees at all, only raw text and {self.demo.size.pairs:,} "
            f"sentences translated from {self.source.name}. {len(self.target.ambiguous)} of its "
            f"words are ambiguous: “{form}” means {words}."
        )

    def _pretrain(self) -> dict[str, list[Metrics]]:
        self._section("A small encoder for each language, from raw text alone")
        curves = {}
        for name, language in (("source", self.source), ("near", self.target)):
            self.console.print(f"Pre-training a small BERT for {language.name} …")
            history = curves[language.name] = self.demo.pretrain(name)
            self.console.print(
                f"It predicts {history[-1]['accuracy']:.0%} of masked words in held-out text "
                f"({history[0]['accuracy']:.0%} before training)."
            )
        return curves

    def _score(self) -> Table:
        self._section(f"Parsing {self.target.name}")
        self.console.print(
            f"Training parsers on {self.source.name}, bridging them to {self.target.name} and "
            "scoring …\n"
        )
        return self.demo.table()

    def _report_scores(self, results: Results, points: list[str]) -> None:
        """The figure first, then the table; the same table on the terminal."""
        head = ["system", "what it is", "UAS", "LAS", "UPOS"]
        grid = Grid(*head, box=None)
        for column in grid.columns[2:]:
            column.justify = "right"
        for row in results.rows():
            grid.add_row(*row)
        self.console.print(grid)
        reference = f"{self.source.name}, with its treebank"
        las: dict[str, dict[str, float | None]] = {
            ABOUT[name].label: {"LAS": results.las(name)} for name in ROWS
        }
        las[reference] = {"LAS": results.source_las}
        self.report.say(points[0])
        ours = [ABOUT[name].label for name in ("treebridge", "refined")]
        self.report.figure(
            bars(las, accent=ours),
            f"Labelled attachment score (LAS, percent) on {self.target.name}; the last bar, on "
            f"{self.source.name}, is what a treebank gives.",
        )
        self.report.heading("What to take away")
        self.report.points(points[1:])
        self.report.heading("All systems")
        self.report.table(head, [[f"**{row[0]}**", *row[1:]] for row in results.rows()])
        self.report.say(
            f"Scores on {self.demo.size.scored} {self.target.name} sentences, one seed. Only words "
            "are given. UAS: words with the correct head; LAS: with the correct head and label; "
            "UPOS: with the correct part of speech. Unlike in the paper, words of several subword "
            "pieces are anchors in all rows. Differences in LAS:"
        )
        self.report.points(list(results.comparisons()))
        self.report.heading("The data")
        self.report.say(self._data())

    def _trees(self, table: Table) -> None:
        """The tree of a target sentence without a bridge and across it."""
        self._section(f"One {self.target.name} sentence, two trees")
        self.report.heading(f"One {self.target.name} sentence, two trees")
        readings = self.demo.readings(table, ("unmapped", "treebridge"))
        for name, tree in readings.trees.items():
            caption = (
                f"{ABOUT[name].label}: {readings.correct(name)} of {len(readings.gold)} heads are "
                "correct"
            )
            self.console.print(f"[bold]{caption}[/]")
            self.console.print(tree.draw(), "\n", markup=False)
            self.report.figure(tree.draw(format="svg"), caption)
        chosen = (
            "Of the sentences with 7 to 14 words, this one gains most from the bridge, not refined."
        )
        self.console.print(chosen)
        self.report.say(chosen)

    def _shipped(self) -> None:
        """One sentence of each real language that a model is shipped for."""
        models = shipped_models().values()
        if not models:
            return
        title = "Real languages, parsed by the models in the package"
        self._section(title)
        self.report.heading(title)
        for model in models:
            card, best = model.card, model.best
            about = (
                f"{card['language']}: LAS {best['LAS']:.1f} on {best['file']}, "
                f"tags {best['tags']}; made without a {card['language']} tree."
            )
            self.console.print(about)
            for tree in Parser.load(model.folder)(card["examples"][:1]):
                self.console.print(tree.draw(), "\n", markup=False)
                self.report.figure(tree.draw(format="svg"), about)

    def _background(self, curves: dict[str, list[Metrics]], results: Results) -> None:
        self.report.heading("Behind the scenes")
        self.report.figure(
            lines({name: [(m["tokens"], 100 * m["accuracy"]) for m in history]
                   for name, history in curves.items()}, "pieces of text", "masked accuracy, %"),
            "How well the encoders predict masked words, by amount of text.",
        )  # fmt: skip
        self.report.figure(
            lines(results.cones, "iterations of normalization", "mean cosine of two random words"),
            "Anisotropy of the encoders, by iteration of normalization.",
        )

    def _next(self) -> None:
        self.report.heading("What to do next")
        self.report.commands(self._commands())

    def _commands(self) -> str:
        """Commands to try after the demo."""
        demo, models = self.demo, shipped_models()
        parts = [
            f"# build the parser for {self.target.name} yourself\n"
            f"treebridge build --treebank {demo.treebank} --bitext {demo.bitext} \\\n"
            f"    --source-encoder {demo.encoder('source')} "
            f"--target-encoder {demo.encoder('near')} \\\n"
            f"    --source-language {self.source.code} --preset small --refine -o "
            f"{self.target.name.lower()}"
        ]
        for name, model in list(models.items())[:1]:
            parts += [
                f"# parse {model.card['language']} with the shipped model, or in the browser\n"
                f'treebridge parse --model {name} "{model.card["examples"][0]}" --format text\n'
                "treebridge serve"
            ]
        parts += ["# build a parser for your own language: docs/tutorial.md"]
        return "\n".join(parts)

    def _section(self, title: str) -> None:
        self._number += 1
        self.console.print()
        self.console.rule(f"[bold]{self._number}. {title}")
        self.console.print()
