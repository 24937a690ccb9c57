"""Which form of tags transfers best: English dev, and Portuguese dev across one bridge.

python benchmarks/tags.py [--every 2] [--epochs 3] [--pairs 60000] [--forms soft hard …]

The same seed, treebank and space for all; preset small. A tagger that is learned but not fed on is
not in the table: it shares nothing with the parser, whose trees are those of `none`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import torch
from common.shared import SHARED
from torch import Tensor
from torch.nn.functional import one_hot

from treebridge import Bitext, Bridge, Encoder, Parser, Treebank
from treebridge.bridge.make import make_bridge
from treebridge.parse.biaffine import Biaffine
from treebridge.parse.score import Scores, score
from treebridge.parse.settings import ParserSettings

ENGLISH = SHARED / "data/ud-2.6/UD_English-EWT"
PORTUGUESE = SHARED / "data/ud-2.6/UD_Portuguese-GSD/pt_gsd-ud-dev.conllu"
BITEXT = SHARED / "data/bitext/en-pt.tsv.xz"


def hard(model: Biaffine, tags: Tensor) -> Tensor:
    return one_hot(tags.argmax(-1), tags.shape[-1]).float() @ model.tag_vectors


def soft_with_gradient(model: Biaffine, tags: Tensor) -> Tensor:
    return tags.softmax(-1) @ model.tag_vectors


FORMS: dict[str, tuple[str, Callable[[Biaffine, Tensor], Tensor]]] = {
    "none": ("none", Biaffine.tag_input),
    "soft": ("predicted", Biaffine.tag_input),
    "soft-with-gradient": ("predicted", soft_with_gradient),
    "hard": ("predicted", hard),
    "gold": ("gold", Biaffine.tag_input),
}


def row(form: str, english: Scores, portuguese: Scores) -> str:
    cells = []
    for found in (english, portuguese):
        upos = f"{found['UPOS']:.2f}" if FORMS[form][0] == "predicted" else ""
        cells += [f"{found['UAS']:.2f} / {found['LAS']:.2f}", upos]
    return f"| {form} | " + " | ".join(cells) + " |"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--every", type=int, default=2, help="take each so-many-th sentence")
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--pairs", type=int, default=60_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    chosen = options.parse_args()
    if not BITEXT.exists():
        sys.exit(f"{BITEXT} is not here")
    torch.set_num_threads(1)
    train = list(Treebank.read(ENGLISH / "en_ewt-ud-train.conllu"))[:: chosen.every]
    dev, gold = Treebank.read(ENGLISH / "en_ewt-ud-dev.conllu"), Treebank.read(PORTUGUESE)
    source = Encoder.load(str(SHARED / "encoders/en-marian-tiny"))
    target = Encoder.load(str(SHARED / "encoders/pt-marian-tiny"))
    vectors = {
        "en": [item.vectors for item in source.encode([s.forms for s in dev])],
        "pt": [item.vectors for item in target.encode([s.forms for s in gold])],
    }
    bridge: Bridge | None = None
    print(
        "| tags | English dev | UPOS | Portuguese dev | UPOS |\n|---|---|---|---|---|", flush=True
    )
    for form in chosen.forms:
        tags, Biaffine.tag_input = FORMS[form]  # type: ignore[method-assign]
        settings = ParserSettings.preset("small", tags=tags, epochs=chosen.epochs, seed=chosen.seed)
        parser = Parser.train(train, source, dev, settings)
        if bridge is None:  # the space is the same for all forms
            pairs = Bitext.read(str(BITEXT), limit=chosen.pairs)
            bridge = make_bridge(pairs, source, target, parser.space)
        across = parser.across(bridge, target)
        found = [
            score(
                trees,
                [parsed.sentence for parsed in at_hand.parse_vectors(trees, rows, retag=True)],
            )
            for at_hand, trees, rows in (
                (parser, dev, vectors["en"]),
                (across, gold, vectors["pt"]),
            )
        ]
        print(row(form, *found), flush=True)


if __name__ == "__main__":
    main()
