"""Which way to pre-train a small encoder gives the best trees, by zero-shot LAS.

python benchmarks/pretrain.py --into PARSER [--language es] [--tokens 2000000] [--pairs 20000]
    [--lines N] [--quick] [--only informed random …] [-o FOLDER]

Every way reads the same number of pieces of the target side of the bitext (of its first N lines);
then it is bridged into PARSER (an English parser of `treebridge train`) and scored on the target's
dev file. Processor seconds of pre-training are printed, too: what costs more a piece has less of it
in equal time. `teacher` learns from PARSER's encoder and starts from its layers, if they have the
same sizes, over as many pairs as the bridge has. --quick fits a plain bridge between words and
scores every third sentence. FOLDER keeps encoders and bridges, so that an interrupted comparison
goes on.
TREEBRIDGE_SHARED names the folder of real data.
"""

from __future__ import annotations

import argparse
import json
import lzma
import resource
from itertools import islice
from pathlib import Path

from common.command import treebridge
from common.shared import SHARED

from treebridge.corpus.conllu import read_conllu, write_conllu
from treebridge.experiment.catalog import ENTRIES

TREEBANKS = {
    code: f"UD_{entry.treebank}/{entry.stem}" for code, entry in ENTRIES.items() if code != "en"
}
QUICK = ["--level", "word", "--map", "least-squares", "--means", "occurrences"]
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
    "teacher": [],  # --teacher, with the encoder of PARSER
    "2 × 384": ["--layers", "2", "--hidden", "384", "--heads", "6", "--feed-forward", "1536"],
}


def first_lines(bitext: Path, lines: int, folder: Path) -> Path:
    """A bitext of the first lines."""
    with lzma.open(bitext, "rt", encoding="utf-8") as stream:
        text = "".join(islice(stream, lines))
    path = folder / bitext.name.removesuffix(".xz")
    path.write_text(text, encoding="utf-8")
    return path


def every_third(gold: Path, folder: Path) -> Path:
    """Every third sentence of a treebank."""
    path = folder / gold.name
    write_conllu(list(read_conllu(str(gold)))[::3], path)
    return path


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
    parser.add_argument("--lines", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("-o", "--output", type=Path, default=Path("pretrained"))
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    bitext = SHARED / "data/bitext" / f"en-{args.language}.tsv.xz"
    gold = SHARED / "data/ud-2.6" / f"{TREEBANKS[args.language]}-ud-dev.conllu"
    if args.lines:
        bitext = first_lines(bitext, args.lines, args.output)
    if args.quick:
        gold = every_third(gold, args.output)
    source = json.loads((Path(args.into) / "config.json").read_text())["space"]["encoder"]
    WAYS["teacher"] += ["--teacher", source, "--pairs", str(args.pairs)]
    print(f"{args.tokens:,} pieces of {args.language}, bridged by {args.pairs:,} pairs")
    print("| way | CPU s | masked accuracy | P@1 (CSLS) | UPOS | UAS | LAS |\n" + "|---" * 7 + "|")
    for number, (way, options) in enumerate(WAYS.items()):
        if way not in args.only:
            continue
        encoder, bridge = (args.output / f"{kind}-{number}" for kind in ("encoder", "bridge"))
        pretrain(str(bitext), encoder, args.tokens, options)
        if not bridge.exists():
            pairs = ["--pairs", str(args.pairs), "-o", str(bridge)]
            how = QUICK if args.quick else []
            into = ["--into", args.into, "--target-encoder", str(encoder)]
            treebridge("bridge", str(bitext), *into, *pairs, *how)
        crossing = ["--model", args.into, "--bridge", str(bridge)]
        scores = json.loads(treebridge("evaluate", *crossing, str(gold), "--json"))
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
