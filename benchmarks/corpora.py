"""Reading corpora: our CoNLL-U reader against the `conllu` package, and bitext in words per second.

python benchmarks/corpora.py [treebank.conllu] [bitext.tsv.xz]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import conllu
from common.shared import SHARED

from treebridge import Bitext
from treebridge.corpus.conllu import read_conllu


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs: the machine is noisy, the work is not."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def read_theirs(path: Path) -> int:
    with path.open(encoding="utf-8") as stream:
        return sum(
            token["head"] or 0 for sentence in conllu.parse_incr(stream) for token in sentence
        )


def read_ours(path: Path, trees: str) -> int:
    return sum(head or 0 for s in read_conllu(path, trees=trees) for head in s.heads)  # type: ignore[arg-type]


def main() -> None:
    default = SHARED / "data/ud-2.6/UD_English-EWT/en_ewt-ud-train.conllu"
    treebank = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    bitext = Path(sys.argv[2]) if len(sys.argv) > 2 else SHARED / "data/bitext/en-el.tsv.xz"
    for path in (treebank, bitext):
        if not path.exists():
            sys.exit(f"{path.name} is not here: give a treebank and a bitext as arguments")
    assert read_theirs(treebank) == read_ours(treebank, "free")
    theirs = seconds(lambda: read_theirs(treebank))
    for trees in ("free", "required"):
        ours = seconds(lambda trees=trees: read_ours(treebank, trees))  # type: ignore[misc]
        print(
            f"{treebank.name}, trees {trees}: {ours:.2f} s; the conllu package "
            f"{theirs:.2f} s; ratio {theirs / ours:.1f} (at least 5 wanted)"
        )
    pairs = iter(Bitext.read(bitext))
    start = time.perf_counter()
    words = sum(len(pair.source) + len(pair.target) for pair in pairs)
    spent = time.perf_counter() - start
    print(f"{bitext.name}: {pairs.counts}; {words / spent / 1e6:.2f}M words per second")


if __name__ == "__main__":
    main()
