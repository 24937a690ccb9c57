"""What choosing sentences is worth: a simulated annotator, with `next` and with random sentences.

python benchmarks/annotate.py --model FOLDER [--gold FILE] [--treebank FILE] [--seeds 1 2 3]

Half of a target's dev file is the pool, the other half is scored. The annotator corrects 10, 25, 50
and 100 sentences of the pool, and the parser is refined on all of them each time:

random  sentences drawn at random
next    sentences that `next` chooses with the parser refined so far
arcs    as many words as `random` has, but only words that `next` highlights; the rest is unknown

Every figure is kept in OUTPUT, so an interrupted run continues. TREEBRIDGE_SHARED names the folder
of real data.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from common.shared import SHARED

from treebridge import NextSettings, Parser, Sentence, Treebank, next_trees
from treebridge.parse.refinement import refine_parser
from treebridge.parse.settings import RefineSettings

UD = SHARED / "data/ud-2.6"
WAYS = ("random", "next", "arcs")
Figures = dict[str, Any]


class Annotator:
    """Knows the gold trees of a pool, and which of them are annotated."""

    def __init__(self, pool: Sequence[Sentence], seed: int):
        self.gold = {f"pool-{number}": tree for number, tree in enumerate(pool, 1)}
        limits = NextSettings()
        fitting = [n for n, t in self.gold.items() if limits.shortest <= len(t) <= limits.longest]
        self.order = random.Random(seed).sample(fitting, len(fitting))

    def at_random(self, count: int) -> list[Sentence]:
        """The first sentences of a random order."""
        return [self.gold[name] for name in self.order[:count]]

    def chosen(self, parser: Parser, count: int, done: Sequence[Sentence]) -> list[Sentence]:
        """What `next` chooses from the words of the pool, with its comments."""
        with tempfile.TemporaryDirectory() as folder:
            bare, known = Path(folder) / "pool.conllu", Path(folder) / "done.conllu"
            Treebank(
                Sentence.from_words(tree.forms, comments=[f"# sent_id = {name}"])
                for name, tree in self.gold.items()
            ).write(bare)
            Treebank(done).write(known)
            return next_trees(parser, [bare], NextSettings(count), done=[known]).sentences

    def corrected(self, sentence: Sentence) -> Sentence:
        """The gold tree of a sentence."""
        return self.gold[str(sentence.comment("sent_id"))]

    def highlighted(self, sentences: Sequence[Sentence], arcs: int) -> list[Sentence]:
        """Gold annotation of highlighted words alone, until there are enough of them."""
        made = []
        for sentence in sentences:
            gold = self.corrected(sentence)
            listed = (sentence.comment("highlight deprels") or "").split()[: max(arcs, 0)]
            known = {int(word) - 1 for word in listed}
            arcs -= len(known)
            if known:
                made.append(_partly(gold, known))
        return made


def _partly(gold: Sentence, known: set[int]) -> Sentence:
    def kept(values: Sequence[Any], unknown: Any) -> list[Any]:
        return [value if i in known else unknown for i, value in enumerate(values)]

    return gold.annotate(
        heads=kept(gold.heads, None), deprels=kept(gold.deprels, "_"), upos=kept(gold.upos, "_")
    )


def known_arcs(trees: Sequence[Sentence]) -> int:
    """How many words the annotator has looked at."""
    return sum(head is not None for tree in trees for head in tree.heads)


def run(args: argparse.Namespace, seed: int, way: str, found: list[Figures]) -> None:
    """Annotate, refine and score, from the last figure that is kept."""
    gold = list(Treebank.read(args.gold))
    random.Random(seed).shuffle(gold)
    half = len(gold) // 2
    annotator, scored = Annotator(gold[:half], seed), gold[half:]
    start = Parser.load(args.model)
    treebank = Treebank.read(args.treebank) if args.treebank else None
    parser, trees = start, list[Sentence]()
    for size in [0, *args.sizes]:
        known = {"model": args.model, "seed": seed, "way": way, "trees": size}
        kept = next((one for one in found if known.items() <= one.items()), None)
        if kept and (way == "random" or size == args.sizes[-1]):
            continue  # nothing later depends on this parser
        if size and way == "random":
            trees = annotator.at_random(size)
        elif size and way == "next":
            new = annotator.chosen(parser, size - len(trees), trees)
            trees = [*trees, *map(annotator.corrected, new)]
        elif size:
            arcs = sum(map(len, annotator.at_random(size))) - known_arcs(trees)
            new = annotator.chosen(parser, 5 * size, trees)
            trees = [*trees, *annotator.highlighted(new, arcs)]
        if size:
            settings = RefineSettings(seed=seed)
            parser = refine_parser(start, settings, treebank=treebank, trees=trees).parser
        if kept is None:
            scores = parser.evaluate(scored).values
            figures = {name: round(scores[name], 2) for name in ("UPOS", "UAS", "LAS")}
            found.append({**known, "sentences": len(trees), "arcs": known_arcs(trees), **figures})
            with args.output.open("a") as lines:
                lines.write(json.dumps(found[-1]) + "\n")
            print(found[-1], flush=True)


def table(found: Sequence[Figures]) -> str:
    """Means over seeds."""
    lines = ["| trees | way | arcs | UPOS | UAS | LAS | seeds |", "|---|---|---|---|---|---|---|"]
    for size in sorted({one["trees"] for one in found}):
        for way in WAYS:
            rows = [one for one in found if (one["trees"], one["way"]) == (size, way)]
            if rows:
                arcs = f"{mean(one['arcs'] for one in rows):,.0f}"
                means = (f"{mean(r[name] for r in rows):.2f}" for name in ("UPOS", "UAS", "LAS"))
                lines.append(f"| {size} | {way} | {arcs} | {' | '.join(means)} | {len(rows)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--gold", default=str(UD / "UD_Portuguese-GSD/pt_gsd-ud-dev.conllu"))
    parser.add_argument("--treebank", help="source trees to mix in, if the model has their encoder")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 25, 50, 100])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("-o", "--output", type=Path, default=Path("annotate.jsonl"))
    args = parser.parse_args()
    lines = args.output.read_text().splitlines() if args.output.exists() else []
    found = [json.loads(line) for line in lines]
    for seed in args.seeds:
        for way in args.ways:
            run(args, seed, way, found)
    print(table([one for one in found if one["model"] == args.model]))


if __name__ == "__main__":
    main()
