"""Which way to pre-train a small encoder gives the best trees, by zero-shot LAS.

python benchmarks/pretrain.py --into PARSER [--language es] [--tokens 2000000] [--pairs 20000]
    [--only informed random …] [-o FOLDER]

Every way reads the same number of pieces of the target side of the bitext; then it is bridged into
PARSER (an English parser of `treebridge train`) and scored on the target's dev file. Processor
seconds of pre-training are printed, too: what costs more a piece has less of it in equal time.
FOLDER keeps the encoders and bridges, so that an interrupted comparison goes on.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import argparse
import json
import resource
from pathlib import Path

from common.command import treebridge
from common.shared import SHARED

TREEBANKS = {"es": "UD_Spanish-GSD/es_gsd", "pt": "UD_Portuguese-GSD/pt_gsd"}
WAYS = {
    "informed": [],
    "random": ["--start", "random"],
    "15 % masked": ["--masked", "0.15"],
    "40 % masked": ["--masked", "0.4"],
    "6,000 pieces": ["--vocabulary", "6000"],
    "24,000 pieces": ["--vocabulary", "24000"],
    "batches of 4,096": ["--batch", "4096"],
    "rate 1.4e-3": ["--learning-rate", "1.4e-3"],
    "uncased": ["--uncased"],
    "2 × 384": ["--layers", "2", "--hidden", "384", "--heads", "6", "--feed-forward", "1536"],
}


def pretrain(bitext: str, encoder: Path, tokens: int, options: list[str]) -> None:
    """Pre-train, unless it is there; note the processor seconds that it took."""
    if (encoder / "seconds.json").exists():
        return
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    budget = ["--tokens", str(tokens), "-o", str(encoder)]
    treebridge("pretrain", bitext, "--side", "target", *budget, *options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (encoder / "seconds.json").write_text(json.dumps(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--into", required=True)
    parser.add_argument("--language", choices=TREEBANKS, default="es")
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--only", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("-o", "--output", type=Path, default=Path("pretrained"))
    args = parser.parse_args()
    bitext = str(SHARED / "data/bitext" / f"en-{args.language}.tsv.xz")
    gold = str(SHARED / "data/ud-2.6" / f"{TREEBANKS[args.language]}-ud-dev.conllu")
    args.output.mkdir(parents=True, exist_ok=True)
    print(f"{args.tokens:,} pieces of {args.language}, bridged by {args.pairs:,} pairs")
    print("| way | CPU s | masked accuracy | P@1 (CSLS) | UPOS | UAS | LAS |\n" + "|---" * 7 + "|")
    for number, (way, options) in enumerate(WAYS.items()):
        if way not in args.only:
            continue
        encoder, bridge = (args.output / f"{kind}-{number}" for kind in ("encoder", "bridge"))
        pretrain(bitext, encoder, args.tokens, options)
        if not bridge.exists():
            pairs = ["--pairs", str(args.pairs), "-o", str(bridge)]
            treebridge("bridge", bitext, "--into", args.into, "--target", str(encoder), *pairs)
        crossing = ["--model", args.into, "--bridge", str(bridge)]
        scores = json.loads(treebridge("evaluate", *crossing, gold, "--json"))
        quality = json.loads((bridge / "config.json").read_text())["quality"]
        history = json.loads((encoder / "pretraining.json").read_text())["history"]
        seconds = json.loads((encoder / "seconds.json").read_text())
        print(
            f"| {way} | {seconds:.0f} | {history[-1]['accuracy']:.3f} "
            f"| {quality['target_to_source']['csls_p1']:.1f} "
            f"| {scores['UPOS']:.2f} | {scores['UAS']:.2f} | {scores['LAS']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
