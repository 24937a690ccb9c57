"""What int8 does to vectors and to trees: LAS in fp32, torch int8 and ONNX Runtime int8.

    OMP_NUM_THREADS=1 python benchmarks/precision.py --model en en_ewt-ud-dev.conllu \
        [--across en-pt pt_gsd-ud-dev.conllu] [--sentences 500]

The parser is used as it was trained, in fp32; only its encoder computes otherwise. Times are
processor time of encoding. Scores by convention `paper`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from treebridge import Bridge, Parser, Treebank
from treebridge.encode.settings import EncoderSettings
from treebridge.parse.score import score
from treebridge.parse.shipped import find_model

KINDS = [("torch", "fp32"), ("torch", "int8"), ("onnx", "fp32"), ("onnx", "int8")]
ROW = "{:<18} {:>6} {:>6} {:>6}  {:>8} {:>8}  {:>7} {:>6}"


def compare(parser: Parser, gold: Treebank) -> None:
    """Print a row for each way to compute."""
    print(ROW.format("", "UAS", "LAS", "UPOS", "cosine", "worst", "words/s", "ratio"))
    exact: np.ndarray | None = None
    first = 0.0
    for backend, precision in KINDS:
        settings = EncoderSettings(backend=backend, precision=precision, device="cpu")
        one = replace(parser, encoder=None, encoder_settings=settings)
        encoder = one.load_encoder()
        list(encoder.encode([gold[0].forms]))  # warm up
        start = time.process_time()
        vectors = [item.vectors for item in encoder.encode(s.forms for s in gold)]
        rows = np.concatenate(vectors)
        speed = len(rows) / (time.process_time() - start)
        trees = [parsed.sentence for parsed in one.parse_vectors(gold, vectors, retag=True)]
        values = score(gold, trees, "paper", names=("gold", precision)).values
        exact, first = (rows, speed) if exact is None else (exact, first)
        cosine = (exact * rows).sum(1)
        figures = [f"{values[name]:.2f}" for name in ("UAS", "LAS", "UPOS")]
        figures += [f"{cosine.mean():.4f}", f"{cosine.min():.4f}"]
        figures += [f"{speed:,.0f}", f"{speed / first:.2f}"]
        print(ROW.format(f"{backend} {precision}", *figures), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--model", required=True, help="a parser's folder or a shipped model")
    options.add_argument("gold", nargs="?", help="gold trees of the language that the model reads")
    options.add_argument(
        "--across", nargs=2, action="append", default=[], metavar=("BRIDGE", "GOLD")
    )
    options.add_argument("--sentences", type=int, help="only the first so many")
    chosen = options.parse_args()
    parser = Parser.load(find_model(chosen.model))
    runs = [(chosen.model, parser, chosen.gold)] if chosen.gold else []
    runs += [(name, parser.across(Bridge.load(name)), gold) for name, gold in chosen.across]
    for name, one, gold in runs:
        trees = Treebank.read(gold)[: chosen.sentences]
        print(f"{name} on {gold}: {len(trees):,} sentences")
        compare(one, trees)


if __name__ == "__main__":
    main()
