"""Parsing with the encoder included, against encoder and parser each by itself.

python benchmarks/pipeline.py [dev.conllu] [--encoder FOLDER] [--rounds 3]

One core, processor time, in turns; the parser has the default sizes and random weights, which cost
what learned ones cost.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from common.shared import SHARED
from train import timed

from treebridge import Encoder, Parser, Sentence, Treebank
from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.space import Space
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.settings import ParserSettings
from treebridge.parse.vocab import Names


def new_parser(treebank: Treebank, encoder: Encoder) -> Parser:
    labels = Names.collect(label for s in treebank for label in s.deprels)
    tags = Names.collect(tag for s in treebank for tag in s.upos)
    model = Biaffine(ParserSettings(), encoder.dim, len(labels), len(tags))
    torch.nn.init.normal_(model.arc_weight, std=0.1)  # at zero all trees would be alike
    some = [item.vectors for item in encoder.encode([s.forms for s in treebank[:20]])]
    space = Space.of(encoder, Isotropy.fit(torch.cat(list(map(torch.from_numpy, some))).numpy(), 5))
    return Parser(model.eval(), space, labels, tags, encoder=encoder)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument(
        "treebank",
        nargs="?",
        default=str(SHARED / "data/ud-2.6/UD_English-EWT/en_ewt-ud-dev.conllu"),
    )
    options.add_argument("--encoder", default=str(SHARED / "encoders/en-marian-tiny"))
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    if not Path(chosen.treebank).exists():
        sys.exit(f"{chosen.treebank} is not here: give a treebank as argument")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    treebank = Treebank.read(chosen.treebank)
    encoder = Encoder.load(chosen.encoder)
    parser = new_parser(treebank, encoder)
    bare = [Sentence.from_words(s.forms) for s in treebank]
    forms = [s.forms for s in treebank]
    vectors = [item.vectors for item in encoder.encode(forms)]
    parser.parse_vectors(bare[:20], vectors[:20])  # compiled
    ways = {
        "encoder": lambda: list(encoder.encode(forms)),
        "parser": lambda: parser.parse_vectors(bare, vectors),
        "both at once": lambda: list(parser.parse(bare)),
    }
    spent = dict.fromkeys(ways, float("inf"))
    for _ in range(chosen.rounds):
        for name, way in ways.items():
            spent[name] = min(spent[name], timed(way))
    for name, seconds in spent.items():
        print(f"{name}: {seconds:.2f} s, {len(treebank) / seconds:,.0f} sentences/s")
    whole = spent["encoder"] + spent["parser"]
    print(f"both at once over the sum of each: {spent['both at once'] / whole:.2f}")


if __name__ == "__main__":
    main()
