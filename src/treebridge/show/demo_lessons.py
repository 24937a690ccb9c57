"""What the scores of the demo mean, in words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from treebridge.experiment.demo import ROWS, Demo
from treebridge.experiment.table import Table
from treebridge.parse.shipped import shipped_models

PAPER = ("word", "sense", "word+in", "sense+in")


class About(NamedTuple):
    """A row in words."""

    label: str
    text: str


ABOUT = {
    "unmapped": About("no bridge", "the parser reads the other encoder's vectors as they are"),
    "word": About("paper, words", "map fitted on one anchor per word"),
    "sense": About("paper, senses", "map fitted on one anchor per sense of a word"),
    "word+in": About("paper, words, isotropic", "the same by word, with isotropic vectors"),
    "sense+in": About("paper, senses, isotropic", "the same by sense, with isotropic vectors"),
    "treebridge": About("treebridge", "our bridge: into the parser's space, map chosen by trees"),
    "refined": About("treebridge, refined", "then trained on trees projected over the bitext"),
}


class Results:
    """The scores of a demo, by row."""

    def __init__(self, demo: Demo, table: Table):
        self.demo, self.table = demo, table
        self.source, self.target = table.languages

    def las(self, row: str) -> float:
        """LAS of a row on the target."""
        return self.table.cell(row, self.target.code).mean("LAS")

    @property
    def source_las(self) -> float:
        """LAS of the source parser on its own language."""
        return self.table.cell("treebridge", self.source.code).mean("LAS")

    @property
    def choice(self) -> str | None:
        """The map that trees chose for our bridge, and why."""
        return self.demo.choice()

    def rows(self) -> Iterator[list[str]]:
        """The cells of the table."""
        for name in ROWS:
            cell = self.table.cell(name, self.target.code)
            figures = (f"{cell.mean(metric):.1f}" for metric in ("UAS", "LAS", "UPOS"))
            yield [*ABOUT[name], *figures]

    def comparisons(self) -> Iterator[str]:
        """Differences between rows, with confidence intervals."""
        for one in self.table.comparisons():
            first, second = (ABOUT[name].label for name in one.systems)
            yield (
                f"“{first}” − “{second}”: {one.difference:+.1f} LAS (95 % confidence interval "
                f"{one.low:+.1f} to {one.high:+.1f}, paired bootstrap)."
            )

    @cached_property
    def cones(self) -> dict[str, list[tuple[int, float]]]:
        """Anisotropy of both encoders, by iteration."""
        return self.demo.cones()


def lessons(results: Results) -> list[str]:
    """What the reader should take away; the first sentence is the whole story."""
    demo, source, target = results.demo, results.source.name, results.target.name
    bridged, refined = results.las("treebridge"), results.las("refined")
    points = [
        f"{target} has no treebank. With {demo.size.pairs:,} translated sentences and raw text, "
        f"treebridge parses it with an LAS of {bridged:.1f}, and {refined:.1f} after refining. "
        f"{source}, with {demo.size.trees:,} annotated sentences, has {results.source_las:.1f}.",
        f"A bridge is needed: without one the {source} parser gets {results.las('unmapped'):.1f} "
        f"LAS on {target}, because two encoders trained separately share no vector space.",
    ]
    senses = results.las("sense") - results.las("word")
    if senses > 0:
        count = len(demo.world.languages["near"].ambiguous)
        points.append(
            f"Senses matter: one anchor per sense instead of one per word gains {senses:.1f} LAS; "
            f"{count} {target} words have two senses."
        )
    if refined > bridged:
        points.append(
            f"Refining pays: training on {target} trees projected over the parallel text gains "
            f"another {refined - bridged:.1f} LAS, still without a single hand-made {target} tree."
        )
    points += [_against_paper(results)]
    scores = ", ".join(
        f"{model.card['language']} {model.best['LAS']:.1f}" for model in shipped_models().values()
    )
    real = f" LAS of the shipped models: {scores}." if scores else ""
    return [
        *points,
        f"Real languages are harder: {target} has its own words but the word order of {source}."
        f"{real}",
    ]


def _against_paper(results: Results) -> str:
    """How far our bridge is ahead of the paper's maps, and which map trees chose."""
    best = max(PAPER, key=results.las)
    ahead = results.las("treebridge") - results.las(best)
    place = f"{abs(ahead):.1f} LAS {'ahead of' if ahead >= 0 else 'behind'} the paper's best map"
    why = (
        f" It tried several maps and chose one by trees: {results.choice}."
        if results.choice
        else ""
    )
    return f"Before refining, our bridge is {place}.{why}"
