"""Refining while the encoder learns too: gains, cost, and which ingredients count.

python benchmarks/tune.py --language es --source-encoder EN --encoder ES [--variants map encoder …]
    [--set tuning.rate=0.0002 epochs=4] [--trees 10 50 100] [--seeds 1 2 3]

Builds one parser and one bridge per seed, then refines with each variant on the same projected
sentences and scores on the target's dev file (convention `paper`, predicted tags); processor time
is that of refining alone, after the bitext is aligned and encoded. With --trees, the parser that
was refined on the bitext is refined on trees of one half of the dev file and scored on the other.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common.lab import lab_arguments, real_lab

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.settings import BridgeSettings
from treebridge.parse.choose import fit_by_trees
from treebridge.parse.parser import Parser
from treebridge.parse.refinement import refine_parser
from treebridge.parse.settings import ProjectSettings, RefineSettings

FIGURES = ("UAS", "LAS", "UPOS")
BASE = RefineSettings(tune="encoder")
VARIANTS: dict[str, RefineSettings] = {
    "map": replace(BASE, tune="map"),
    "encoder": BASE,
    "auto": replace(BASE, tune="auto"),
}


def main() -> None:
    arguments = lab_arguments(__doc__ or "")
    arguments.add_argument("--variants", nargs="+", default=["map", "encoder"])
    arguments.add_argument("--seeds", nargs="+", type=int, default=[1])
    arguments.add_argument("--sentences", type=int, default=ProjectSettings.sentences)
    arguments.add_argument("--set", nargs="*", default=[], help="changed settings, name=value")
    arguments.add_argument("--trees", nargs="*", type=int, default=[])
    arguments.add_argument("--log", type=Path)
    arguments.set_defaults(tags="predicted", pairs=20_000, epochs=5)
    given = arguments.parse_args()
    changes: dict[str, Any] = {
        name: json.loads(value) for name, _, value in (one.partition("=") for one in given.set)
    }
    print("| seed | variant | UAS / LAS | UPOS | agreement | CPU s |\n|---|---|---|---|---|---|")
    for seed in given.seeds:
        lab, target = real_lab(given)
        parser = lab.parser("own", True, seed)
        gathered = lab.gathered(target, "own", BridgeSettings())
        kept = given.output / f"bridge-{given.language}-{given.pairs}-{seed}"
        if not kept.exists():
            fit_by_trees(gathered, parser, BridgeSettings()).save(kept)
        bridged = parser.across(Bridge.load(kept), gathered.target)
        gold, source = lab.trees(target), lab.trees(lab.source, "train")

        def report(
            name: str, one: Parser, seconds: float, seed: int = seed, gold: Any = gold
        ) -> None:
            scores = one.evaluate(gold)
            assert one.bridge is not None
            agreement = one.bridge.quality.get("projected", {}).get("LAS", float("nan"))
            uas, las, upos = (scores[figure] for figure in FIGURES)
            print(
                f"| {seed} | {name} | {uas:.2f} / {las:.2f} | {upos:.2f} | {agreement:.2f} "
                f"| {seconds:.0f} |",
                flush=True,
            )
            if given.log:
                entry = {
                    "language": given.language, "seed": seed, "variant": name, **given_of(given),
                    **changes, "UAS": uas, "LAS": las, "UPOS": upos, "agreement": agreement,
                    "seconds": seconds,
                }  # fmt: skip
                with given.log.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(entry) + "\n")

        report("bridged", bridged, 0.0)
        if given.trees:
            settings = changed(VARIANTS["map"], seed, {})
            start = refine_parser(
                bridged, settings, pairs=gathered.pairs(), treebank=source, teacher=parser
            ).parser
            pool, scored = list(gold)[::2], list(gold)[1::2]
            drawn = np.random.default_rng(seed).permutation(len(pool))
            report("refined on the bitext", start, 0.0, gold=scored)
            for number in given.trees:
                trees = [pool[i] for i in drawn[:number]]
                for name in given.variants:
                    settings = changed(VARIANTS[name], seed, changes)
                    began = time.process_time()
                    refined = refine_parser(
                        start, settings, trees=trees, treebank=source, teacher=parser
                    )
                    seconds = time.process_time() - began
                    report(f"{number} trees, {name}", refined.parser, seconds, gold=scored)
            continue
        for name in given.variants:
            settings = changed(VARIANTS[name], seed, changes)
            project = replace(settings.project, sentences=given.sentences)
            settings = replace(settings, project=project)
            began = time.process_time()
            refined = refine_parser(
                bridged, settings, pairs=gathered.pairs(), treebank=source, teacher=parser,
                progress=lab.progress,
            )  # fmt: skip
            seconds = time.process_time() - began
            print([round(e.get("agreement", 0), 2) for e in refined.history], file=sys.stderr)
            report(name, refined.parser, seconds)


def changed(settings: RefineSettings, seed: int, changes: dict[str, Any]) -> RefineSettings:
    """The settings with other values: `epochs`, `tuning.rate`, `project.own_labels`."""
    for name, value in changes.items():
        part, _, key = name.rpartition(".")
        new = replace(getattr(settings, part), **{key: value}) if part else value
        settings = replace(settings, **{part or key: new})
    return replace(settings, seed=seed)


def given_of(given: Any) -> dict[str, Any]:
    """The options that a figure depends on."""
    return {"pairs": given.pairs, "sentences": given.sentences, "encoder": str(given.encoder)}


if __name__ == "__main__":
    main()
