"""Is the map that trees choose the best one, and do agreement and forecast tell the LAS?

python benchmarks/choose.py --language es --encoder FOLDER [--pairs 20000] [--refine] [--log FILE]

Fits every candidate of `--map auto` between the English translation encoder of the real data and a
target encoder, and prints what the product sees (agreement with held-out source trees) beside what
it never sees (scores on the target's dev file). With --refine, the chosen bridge is refined and
judged again. --log appends the figures as JSON lines, which benchmarks/forecast.py reads.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common.lab import lab_arguments, real_lab

from treebridge.bridge.settings import BridgeSettings
from treebridge.corpus.sentence import Sentence
from treebridge.experiment.lab import rows_of
from treebridge.parse.agreement import Trial, held_out_pairs
from treebridge.parse.calibration import calibration_error, reliability
from treebridge.parse.choose import choose_fit, describe_fit
from treebridge.parse.judge import judged
from treebridge.parse.parser import Parser
from treebridge.parse.refinement import refine_parser
from treebridge.parse.score import CONVENTIONS, score
from treebridge.parse.settings import RefineSettings

FIGURES = ("UAS", "LAS", "UPOS")


class Gold:
    """The target's dev file, encoded."""

    def __init__(self, sentences: Sequence[Sentence], vectors: list[Any]):
        self.sentences, self.vectors = list(sentences), vectors

    def judge(self, parser: Parser) -> dict[str, float]:
        """Scores and the calibration error of arcs, in percent."""
        parsed = parser.parse_vectors(self.sentences, self.vectors, retag=True)
        found = score(self.sentences, [one.sentence for one in parsed]).values
        sure, right = [], []
        for gold, one in zip(self.sentences, parsed, strict=True):
            for word, tag in enumerate(gold.upos):
                if tag not in CONVENTIONS["paper"].left_out:
                    sure.append(one.arcs[word])
                    right.append(one.sentence.heads[word] == gold.heads[word])
        bins = reliability(np.array(sure, np.float64), np.array(right))
        return {**{name: found[name] for name in FIGURES}, "ECE": 100 * calibration_error(bins)}


def main() -> None:
    arguments = lab_arguments(__doc__ or "")
    arguments.add_argument("--refine", action="store_true")
    arguments.add_argument("--log", type=Path)
    arguments.set_defaults(tags="predicted", pairs=20_000, epochs=5)
    given = arguments.parse_args()
    lab, target = real_lab(given)
    parser = lab.parser("own", True, given.seed)
    settings = BridgeSettings()
    gathered = lab.gathered(target, "own", settings)
    pairs = held_out_pairs(gathered.pairs(), settings.collect)
    trial = Trial.prepare(pairs, parser, gathered.target)
    if trial is None:
        raise SystemExit("too few held-out pairs")
    gold = Gold(lab.trees(target), rows_of(lab.vectors(target, "own")))
    choice = choose_fit(gathered, parser, trial, settings.fit)
    print(f"{given.language}: {len(trial.carried):,} carried arcs, {len(gold.sentences):,} trees")
    print(
        "| map | agreement UAS / LAS | gain (95 %) | dev UAS / LAS | UPOS |\n|---|---|---|---|---|"
    )

    def log(stage: str, name: str, one: Parser) -> dict[str, float]:
        shown = judged(one, trial)
        assert shown.bridge is not None
        found, plain = gold.judge(shown), gold.judge(one)["ECE"]
        projected = {k: v for k, v in shown.bridge.quality["projected"].items() if k != "labels"}
        entry = {"language": given.language, "pairs": given.pairs, "seed": given.seed,
                 "stage": stage, "map": name, "projected": projected, "dev": found,
                 "ECE_before": plain, "source": parser.scores["LAS"],
                 "linked": gathered.links.total / max(1, gathered.target_words)}  # fmt: skip
        if given.log:
            with given.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(entry) + "\n")
        return {**found, "ECE_before": plain}

    for fit, entry in zip(choice.fits, choice.tried, strict=True):
        bridged = parser.across(gathered.fit(parser.space, fit), gathered.target)
        dev = log("chosen" if entry["chosen"] else "tried", describe_fit(fit), bridged)
        mark = "**" if entry["chosen"] else ""
        print(
            f"| {mark}{describe_fit(fit)}{mark} | {entry['UAS']:.2f} / {entry['LAS']:.2f} "
            f"| {entry['gain']:+.2f} ({entry['gain_low']:+.2f} to {entry['gain_high']:+.2f}) "
            f"| {dev['UAS']:.2f} / {dev['LAS']:.2f} | {dev['UPOS']:.2f} |",
            flush=True,
        )
    if given.refine:
        bridged = parser.across(gathered.fit(parser.space, choice.fit), gathered.target)
        refinement = refine_parser(
            bridged, RefineSettings(seed=given.seed), pairs=gathered.pairs(),
            treebank=lab.trees(lab.source, "train"), teacher=parser, progress=lab.progress,
        )  # fmt: skip
        plain = {k: v for k, v in refinement.parser.bridge.quality.items() if k != "calibration"}
        refined = refinement.parser
        refined.bridge.quality = plain
        dev = log("refined", describe_fit(choice.fit), refined)
        found = trial.judge(refined)
        print(
            f"| refined | {found.uas:.2f} / {found.las:.2f} | | {dev['UAS']:.2f} / "
            f"{dev['LAS']:.2f} | {dev['UPOS']:.2f} |\n"
            f"arcs' calibration error, refined: {dev['ECE_before']:.1f} % → {dev['ECE']:.1f} %"
        )


if __name__ == "__main__":
    main()
