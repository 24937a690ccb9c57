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
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common.lab import lab_arguments, real_lab

from treebridge.bridge.settings import BridgeSettings
from treebridge.corpus.sentence import Sentence
from treebridge.experiment.lab import rows_of
from treebridge.parse.agreement import Trial, held_out_pairs
from treebridge.parse.calibration import calibration_error, reliability
from treebridge.parse.choose import Text, choose_fit, describe_fit, profiles_of
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
    arguments.add_argument("--only-chosen", action="store_true", help="skip the other maps")
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
    # The forecast is for the words of the dev file; its trees stay unseen.
    text = Text(f"{given.language} dev", [sentence.forms for sentence in gold.sentences])
    profiles = profiles_of(gathered, trial, text)
    choice = choose_fit(gathered, parser, trial, settings.fit)
    print(f"{given.language}: {len(trial.carried):,} carried arcs, {len(gold.sentences):,} trees")
    print(
        "| map | agreement UAS / LAS | gain (95 %) | dev UAS / LAS | UPOS |\n|---|---|---|---|---|"
    )

    facts = {
        "language": given.language,
        "pairs": given.pairs,
        "seed": given.seed,
        "source_LAS": parser.scores["LAS"],
        "profiles": profiles,
    }

    def log(stage: str, name: str, projected: dict[str, Any], dev: dict[str, float]) -> None:
        if given.log:
            entry = {**facts, "stage": stage, "map": name, "projected": projected, "dev": dev}
            with given.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(entry) + "\n")

    def row(name: str, seen: dict[str, Any], dev: dict[str, float], gain: str = "") -> None:
        print(
            f"| {name} | {seen['UAS']:.2f} / {seen['LAS']:.2f} | {gain} "
            f"| {dev['UAS']:.2f} / {dev['LAS']:.2f} | {dev['UPOS']:.2f} |",
            flush=True,
        )

    for fit, entry in zip(choice.fits, choice.tried, strict=True):
        if not entry["chosen"] and given.only_chosen:
            continue
        bridged = parser.across(gathered.fit(parser.space, fit), gathered.target)
        dev, name = gold.judge(bridged), describe_fit(fit)
        if not entry["chosen"]:
            log("tried", name, entry, dev)
        gain = f"{entry['gain']:+.2f} ({entry['gain_low']:+.2f} to {entry['gain_high']:+.2f})"
        row(f"**{name}**" if entry["chosen"] else name, entry, dev, gain)
    bridge = gathered.fit(parser.space, choice.fit)
    bridge.quality["profiles"] = profiles
    bridged = parser.across(bridge, gathered.target)
    stages = {"chosen": judged(bridged, trial)}
    if given.refine:
        stages["refined"] = refine_parser(
            bridged, RefineSettings(seed=given.seed), pairs=gathered.pairs(),
            treebank=lab.trees(lab.source, "train"), teacher=parser, progress=lab.progress,
        ).parser  # fmt: skip
    for stage, one in stages.items():
        assert one.bridge is not None
        quality = one.bridge.quality
        dev = gold.judge(one)
        cold = {key: value for key, value in quality.items() if key != "calibration"}
        dev["ECE_before"] = gold.judge(replace(one, bridge=replace(one.bridge, quality=cold)))[
            "ECE"
        ]
        log(stage, describe_fit(choice.fit), quality["projected"], dev)
        row(stage, quality["projected"], dev)
        print(
            f"{stage}: forecast LAS {quality['forecast']['LAS']:.1f}, dev {dev['LAS']:.1f}; "
            f"calibration error of arcs on dev {dev['ECE_before']:.1f} % → {dev['ECE']:.1f} %",
            flush=True,
        )
        one.save(given.output / f"{stage}-{given.language}-{given.seed}")


if __name__ == "__main__":
    main()
