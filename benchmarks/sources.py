"""What are trees of a related language worth? `train --also`, voting and refining on top.

python benchmarks/sources.py --target pt --sources es ro --encoder es=FOLDER --encoder ro=FOLDER

English EWT is the first treebank; the dev files of the sources join it, and the dev file of the
target is scored. Every bridge has English on the other side: none joins a source and the target.
Finished steps are kept in the output folder, so the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

from common.command import treebridge
from common.shared import SHARED

UD = SHARED / "data/ud-2.6"
TREEBANKS = {"es": "Spanish-GSD", "pt": "Portuguese-GSD", "ro": "Romanian-RRT",
             "pl": "Polish-LFG", "fi": "Finnish-TDT", "el": "Greek-GDT"}  # fmt: skip
METRICS = ("UPOS", "UAS", "LAS")


def treebank(language: str) -> str:
    """The dev file of a language."""
    return str(next((UD / f"UD_{TREEBANKS[language]}").glob("*-dev.conllu")))


class Trial:
    """The steps for one target, one seed and one kind of tags; each is a command."""

    def __init__(self, given: argparse.Namespace, seed: int, tags: str):
        self.given, self.seed, self.tags = given, seed, tags
        self.folder: Path = given.output
        self.encoders = {code: str(SHARED / "encoders" / f"{code}-marian-tiny")
                         for code in ("en", "pt")}  # fmt: skip
        self.encoders |= dict(one.split("=", 1) for one in given.encoder)
        self.bridges = dict(one.split("=", 1) for one in given.bridge)

    def parser(self, *also: str, weights: str = "auto", tags: str = "") -> Path:
        """A parser of English and of further languages."""
        name = "+".join(["en", *also])
        tags = tags or self.tags
        if also and weights != "auto":
            name += f"@{weights}"
        folder = self.folder / f"{name}-{tags}-{self.seed}"
        english = UD / "UD_English-EWT"
        further = [f"--also={treebank(one)}={self.bridge(one)}" for one in also]
        if also and self.given.start and weights == "auto":
            further += ["--start", str(self.parser(tags=tags)), "--epochs", str(self.given.start)]
            folder = self.folder / f"{name}-start{self.given.start}-{tags}-{self.seed}"
        treebridge(
            "train", str(english / "en_ewt-ud-train.conllu"),
            "--dev", str(english / "en_ewt-ud-dev.conllu"),
            "--encoder", self.encoders["en"], "--preset", "small", "--tags", tags,
            "--seed", str(self.seed), *further,
            *(["--weights", weights] if also else []), "-o", str(folder),
        )  # fmt: skip
        return folder

    def bridge(self, language: str) -> Path:
        """A bridge into the English space; the first parser chooses its map, all others use it."""
        if language in self.bridges:
            return Path(self.bridges[language])
        folder = self.folder / f"bridge-{language}"
        first = Trial(self.given, 1, "predicted").parser()
        treebridge(
            "bridge", self.bitext(language), "--into", str(first), "--pairs", self.given.pairs,
            "--target-encoder", self.encoders[language], "-o", str(folder),
        )  # fmt: skip
        return folder

    def bitext(self, language: str) -> str:
        """The bitext of a language with English."""
        return str(SHARED / f"data/bitext/en-{language}.tsv.xz")

    def joined(self, language: str) -> Path:
        """The bitext of a source and the target: what both have in common with English."""
        file = self.folder / f"{language}-{self.given.target}.tsv"
        if not file.exists():
            both = self.bitext(language), self.bitext(self.given.target)
            treebridge("pivot", *both, "-o", str(file))
        return file

    def refined(self, *also: str, pivot: bool = False) -> Path:
        """A parser of these languages across the target's bridge, refined on the bitext.

        With `pivot`, on the joined bitexts of the sources and the target as well.
        """
        target = self.given.target
        model, bridge = self.parser(*also), self.bridge(target)
        folder = self.folder / f"{model.name}-{target}-{'pivot' if pivot else 'refined'}"
        further = [f"--also={treebank(one)}={self.bridge(one)}" for one in also]
        tagger = ["--tagger", str(self.parser(*also, tags="predicted"))]
        treebridge(
            "refine", "--model", str(model), "--bridge", str(bridge), "--seed", str(self.seed),
            "--bitext", self.bitext(target), "--pairs", self.given.pairs,
            "--treebank", str(UD / "UD_English-EWT/en_ewt-ud-train.conllu"), *further,
            "--tune", self.given.tune,
            *(tagger if self.tags == "gold" else []), "-o", str(folder),
            *(f"--bitext={self.joined(one)}={self.bridge(one)}" for one in also if pivot),
        )  # fmt: skip
        return folder

    def scores(self, *models: Path, crossing: bool = True) -> dict[str, float]:
        """Scores on the target's dev file; several models vote."""
        target = self.given.target
        named = [word for model in models for word in ("--model", str(model))]
        bridge = ["--bridge", str(self.bridge(target))] if crossing else []
        return dict(json.loads(treebridge("evaluate", *named, *bridge, treebank(target), "--json")))

    def row(self, name: str) -> dict[str, float]:
        """Scores of a row: `en`, `en+es`, `es alone`, `vote en es`, `refined en+es`, `pivot …`."""
        kind, _, rest = name.partition(" ")
        if kind in ("refined", "pivot"):
            model = self.refined(*rest.split("+")[1:], pivot=kind == "pivot")
            return self.scores(model, crossing=False)
        if kind == "vote":
            first, *others = rest.split(" ")
            alone = [self.parser(other, weights="0,1") for other in others]
            return self.scores(self.parser(*first.split("+")[1:]), *alone)
        if rest == "alone":
            return self.scores(self.parser(kind, weights="0,1"))
        return self.scores(self.parser(*kind.split("+")[1:], weights=self.given.weights))


def print_order(bridge: Path, target: str) -> None:
    """How near the word order of each treebank is to the target's: by links, and by gold trees."""
    from treebridge import Bridge, Treebank
    from treebridge.parse.nearness import WordOrderProfile

    carried = WordOrderProfile.of_bridge(Bridge.load(bridge))
    gold = WordOrderProfile.of_trees(Treebank.read(treebank(target)))
    assert carried is not None, "a bridge that was judged by trees"
    print(
        "| treebank | word order, carried arcs | gold trees | labels, carried arcs | gold trees |"
    )
    print("|---|---|---|---|---|")
    for file in sorted(UD.glob("*/*-dev.conllu")):
        other = WordOrderProfile.of_trees(Treebank.read(file))
        pairs = ((own.same_order(other), own.same_labels(other)) for own in (carried, gold))
        (order, labels), (gold_order, gold_labels) = pairs
        figures = (order, gold_order, labels, gold_labels)
        print(f"| {file.name[:2]} | " + " | ".join(f"{figure:.1f}" for figure in figures) + " |")


def rows_of(sources: list[str]) -> list[str]:
    """The rows for some sources, the most related first."""
    joined = ["+".join(["en", *sources[:n]]) for n in range(1, len(sources) + 1)]
    first = sources[0]
    return ["en", *joined, *(f"{one} alone" for one in sources), f"vote en {first}",
            "refined en", f"refined en+{first}", f"pivot en+{first}"]  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("-o", "--output", type=Path, default=Path("build/sources"))
    arguments.add_argument("--target", default="pt")
    arguments.add_argument("--sources", nargs="+", default=["es"])
    arguments.add_argument("--encoder", action="append", default=[], metavar="CODE=FOLDER")
    arguments.add_argument(
        "--bridge", action="append", default=[], metavar="CODE=FOLDER", help="made already"
    )
    arguments.add_argument("--tags", choices=["predicted", "gold"], default="predicted")
    arguments.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--pairs", default="20000")
    arguments.add_argument("--weights", default="auto", help="of the rows such as en+es")
    arguments.add_argument(
        "--start", type=int, help="go on from the English parser, for this many epochs"
    )
    arguments.add_argument("--tune", default="map", help="of refining; see treebridge refine")
    arguments.add_argument("--rows", nargs="+", help="such as en en+es 'refined en+es'")
    arguments.add_argument("--order", action="store_true", help="only compare word orders")
    given = arguments.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    if given.order:
        print_order(Trial(given, 1, "predicted").bridge(given.target), given.target)
        return
    print(f"{given.target}, {given.tags} tags, {given.pairs} pairs, seeds {given.seeds}")
    print("| trees | UPOS | UAS | LAS | LAS of each seed |\n|---|---|---|---|---|")
    for name in given.rows or rows_of(given.sources):
        found: list[dict[str, Any]] = [
            Trial(given, seed, given.tags).row(name) for seed in given.seeds
        ]
        means = " | ".join(
            f"{statistics.mean(s.get(metric) or 0 for s in found):.2f}" for metric in METRICS
        )
        each = ", ".join(f"{scores['LAS']:.2f}" for scores in found)
        print(f"| {name} | {means} | {each} |", flush=True)


if __name__ == "__main__":
    main()
