"""Are swapped bitexts told from right ones? Six languages, by words and by pieces.

    python benchmarks/sides.py

The source encoder is en-marian-tiny. The target's is pt-marian-tiny, which shares its vocabulary;
for the other languages, 8 000 pieces learned from text. TREEBRIDGE_SHARED names the folder of real
data.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import islice
from typing import Any

from common.shared import SHARED

from treebridge.bridge.sides import common_words, weigh_sides
from treebridge.corpus.bitext import Bitext, Pair
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.files import read_lines
from treebridge.encode.encoder import Encoder, Words
from treebridge.encode.pretrain.vocabulary import train_vocabulary

LANGUAGES = ("es", "pt", "ro", "pl", "fi", "el")


class Vocabulary:
    """Learned pieces, without an encoder behind them."""

    def __init__(self, language: str, size: int, lines: int = 50_000):
        text = islice(read_lines(SHARED / "data/text" / f"{language}.txt.xz"), lines)
        self._tokenizer = train_vocabulary((line for _, line in text), size, cased=True)

    def pieces(self, words: Words) -> int:
        """As of an encoder."""
        cut = self._tokenizer.encode_batch(list(words), add_special_tokens=False)
        return sum(
            len(word) if "[UNK]" in one.tokens else len(one.tokens)
            for word, one in zip(words, cut, strict=True)
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--pairs", type=int, nargs="+", default=[100, 500, 2000])
    given = arguments.parse_args()
    if not (SHARED / "data/bitext").is_dir():
        sys.exit(f"no real data in {SHARED}: name its folder in TREEBRIDGE_SHARED")
    trees = Treebank.read(SHARED / "data/ud-2.6/UD_English-EWT/en_ewt-ud-train.conllu")
    known = common_words(tree.forms for tree in trees)
    source = Encoder.load(SHARED / "encoders/en-marian-tiny")
    print("            pairs  common words  times the pieces  words first  pieces alone   CPU s")
    for language in LANGUAGES:
        own = SHARED / "encoders" / f"{language}-marian-tiny"
        target: Any = Encoder.load(own) if own.is_dir() else Vocabulary(language, 8000)
        for number in given.pairs:
            bitext = Bitext.read(SHARED / "data/bitext" / f"en-{language}.tsv.xz", limit=number)
            pairs = list(bitext)
            for name, sample in (("right", pairs), ("swapped", [Pair(t, s) for s, t in pairs])):
                start = time.process_time()
                found = weigh_sides(sample, source, target, known)
                spent = time.process_time() - start
                assert found is not None
                pieces = found._replace(source_words=0.0, target_words=0.0)
                told = ["refused" if one.swapped else "taken" for one in (found, pieces)]
                print(
                    f"{language} {name:8} {number:5}  {found.source_words:5.1%} "
                    f"{found.target_words:6.1%}        {found.source_pieces:4.2f} "
                    f"{found.target_pieces:5.2f}   {told[0]:11}  {told[1]:12} {spent:6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
