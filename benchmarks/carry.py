"""Other links to carry trees over, which are not kept, and a second pass: LAS of `refined`.

OMP_NUM_THREADS=1 python benchmarks/carry.py [-o FOLDER] [--tags predicted] [--ways joined twice …]

joined: words that the aligner left alone are linked to their mutual neighbour among mapped vectors.
sure: beside that, links between words whose mapped vectors are little alike are dropped. many:
links of one word to several (grow-diag-final-and). twice: `refine --passes 2`, what was
refined fills what links leave open. FOLDER is that of `treebridge reproduce table1`: what is there
is not made again. TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from common.lab import lab_arguments, print_scores, real_lab

from treebridge.alignment.engines import engine
from treebridge.alignment.indexed import index_bitext
from treebridge.alignment.links import Links
from treebridge.alignment.symmetrize import symmetrize
from treebridge.alignment.threads import Threads
from treebridge.bridge.make import Gathered
from treebridge.bridge.rounds import cosines, join, mutual_neighbours
from treebridge.corpus.bitext import Pair
from treebridge.experiment.inputs import Target
from treebridge.experiment.lab import Lab
from treebridge.experiment.refining import Refined
from treebridge.experiment.transfer import Fitted
from treebridge.parse.parser import Parser
from treebridge.parse.project.carry import carry, choose_pairs
from treebridge.parse.project.projected import Projected
from treebridge.parse.project.projection import LinkArray
from treebridge.parse.word_order import WordOrder

LITTLE = 0.2  # cosine
Linked = tuple[Pair, LinkArray]


@dataclass(frozen=True)
class Otherwise(Refined):
    """Refined with other links; a parser that predicts tags, so that it needs no tagger."""

    way: str = "joined"

    def _learned_from(
        self, lab: Lab, target: Target, role: str, parser: Parser, bridged: Parser
    ) -> tuple[Projected, WordOrder]:
        gathered = lab.gathered(target, role)
        settings = replace(self.carry, seed=parser.settings.seed)
        if self.way == "many":
            pairs = choose_pairs(zip(gathered.bitext, many(gathered), strict=False), settings)
        else:
            pairs = choose_pairs(gathered.pairs(), settings)
            least = LITTLE if self.way == "sure" else -1.0
            pairs = list(joined(pairs, gathered, bridged, least))
        return carry(pairs, parser, bridged, settings)


def many(gathered: Gathered) -> Links:
    """Links of one word to several."""
    corpus = index_bitext(iter(gathered.bitext))
    with Threads(None) as threads:
        choices = engine(gathered.settings.aligner).fit(corpus, threads).choices(corpus, threads)
        return symmetrize(corpus, choices, "grow-diag-final-and", threads)


def joined(
    pairs: list[Linked], gathered: Gathered, bridged: Parser, least: float
) -> Iterator[Linked]:
    """The aligner's links between words that are enough alike, and mutual neighbours."""
    for start in range(0, len(pairs), 1024):
        here: Iterable[Linked] = pairs[start : start + 1024]
        matrices = cosines(
            [pair for pair, _ in here], gathered.source, gathered.target, bridged.bridge
        )
        for (pair, links), alike in zip(here, matrices, strict=True):
            sure = links[alike[links[:, 0], links[:, 1]] >= least]
            yield pair, join(sure, mutual_neighbours(alike))


def main() -> None:
    start = Fitted()
    once = Refined(start)
    ways = {
        "as it is": once,
        **{way: Otherwise(start, way=way) for way in ("joined", "sure", "many")},
        "twice": Refined(once),
    }
    arguments = lab_arguments(__doc__)
    arguments.add_argument("--ways", nargs="+", choices=list(ways), default=list(ways))
    arguments.set_defaults(tags="predicted")
    given = arguments.parse_args()
    lab, target = real_lab(given)
    for way in given.ways:
        parser = lab.parser("own", True, given.seed)
        print_scores(way, lab, target, ways[way].cross(lab, target, "own", parser))


if __name__ == "__main__":
    main()
