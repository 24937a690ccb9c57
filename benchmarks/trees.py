"""What a few trees of one's own are worth: a learning curve of `treebridge refine --trees`.

python benchmarks/trees.py --model FOLDER [--bridge FOLDER] [--treebank FILE] [--sizes 10 50 100]

As many sentences as the largest size says, drawn from a target's dev file, play the trees that a
user has annotated; all others are scored. The first row has none. TREEBRIDGE_SHARED names the
folder of real data.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path

from common.command import treebridge
from common.shared import SHARED

UD = SHARED / "data/ud-2.6"


def main() -> None:
    from treebridge import Treebank

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--bridge")
    parser.add_argument("--gold", default=str(UD / "UD_Portuguese-GSD/pt_gsd-ud-dev.conllu"))
    parser.add_argument("--treebank", default=str(UD / "UD_English-EWT/en_ewt-ud-train.conllu"))
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 50, 100])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    gold = list(Treebank.read(args.gold))
    random.Random(args.seed).shuffle(gold)
    largest = max(args.sizes)
    bridge = ["--bridge", args.bridge] if args.bridge else []
    with tempfile.TemporaryDirectory() as folder:
        rest, few, refined = (Path(folder) / name for name in ("rest.conllu", "few.conllu", "pt"))
        Treebank(gold[largest:]).write(rest)
        print(f"{largest} sentences to learn from, {len(gold) - largest:,} to be scored")
        print("| trees | UPOS | UAS | LAS |\n|---|---|---|---|")
        for size in [0, *args.sizes]:
            crossing = ["--model", args.model, *bridge]
            if size:
                Treebank(gold[:size]).write(few)
                learning = ["--trees", str(few), "--treebank", args.treebank, "-o", str(refined)]
                treebridge("refine", *crossing, *learning)
                crossing = ["--model", str(refined)]
            scores = json.loads(treebridge("evaluate", *crossing, str(rest), "--json"))
            figures = " | ".join(f"{scores[name]:.2f}" for name in ("UPOS", "UAS", "LAS"))
            print(f"| {size} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
