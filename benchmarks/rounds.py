"""What a second round finds: links by mapped vectors, joined with the aligner's, on gold links.

OMP_NUM_THREADS=1 python benchmarks/rounds.py [--pairs 20000] [--bridge-pairs 2500]

The aligner learns from more pairs than the bridge, as it is by far the quicker of the two.
"""

from __future__ import annotations

import argparse
import tempfile

from common.shared import SHARED

from treebridge import Bitext
from treebridge.alignment.engines import DEFAULT, engine
from treebridge.alignment.indexed import PairIndexer
from treebridge.alignment.pharaoh import write_pharaoh
from treebridge.alignment.score import read_gold, score
from treebridge.alignment.symmetrize import symmetrize
from treebridge.alignment.threads import Threads
from treebridge.bridge.make import gather
from treebridge.bridge.rounds import cosines, join, mutual_neighbours
from treebridge.bridge.settings import BridgeSettings, CollectSettings, FitSettings
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--bridge-pairs", type=int, default=2_500)
    options = parser.parse_args()
    file = SHARED / "data/bitext/en-pt.tsv.xz"
    # Gold links are between words as they are written.
    bitext = Bitext.read(file, contractions=False, limit=options.pairs)
    gold = read_gold(SHARED / "data/gold-alignments/xlwa.en-pt.dev.tsv")
    taker = PairIndexer()
    walk = iter(bitext)
    for pair in walk:
        taker.add(pair, walk.counts.read - 1)
    pairs, read = walk.counts.kept, walk.counts.read
    for number, each in enumerate(gold):
        taker.add((each.source, each.target), read + number)
    corpus = taker.done(read)
    with Threads(None) as threads:
        choices = engine(DEFAULT).fit(corpus, threads).choices(corpus, threads)
        links = symmetrize(corpus, choices, "intersection", threads).one_to_one()
    source, target = (
        Encoder.load(SHARED / "encoders" / f"{code}-marian-tiny") for code in ("en", "pt")
    )
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file_of_links:
        write_pharaoh(file_of_links.name, links.first(pairs), corpus)
        settings = BridgeSettings(
            collect=CollectSettings(anchor_words="all"), links=file_of_links.name
        )
        few = Bitext.read(file, contractions=False, limit=options.bridge_pairs)
        gathered = gather(few, source, target, settings)
        bridge = gathered.bridge(None, FitSettings(), sense_report=False)
    found = [links[n] for n in range(pairs, len(links))]
    alike = cosines([Pair(p.source, p.target) for p in gold], source, target, bridge)
    mutual = [mutual_neighbours(matrix) for matrix in alike]
    joined = [join(*both) for both in zip(found, mutual, strict=True)]
    print("| links | precision | recall | AER |\n|---|---|---|---|")
    for name, each in (("aligner", found), ("vectors", mutual), ("both", joined)):
        result = score(each, [pair.links for pair in gold])
        figures = (100 * x for x in (result.precision, result.recall, result.aer))
        print(f"| {name} | " + " | ".join(f"{x:.1f}" for x in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
