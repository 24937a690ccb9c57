"""Collecting and fitting: memory for few and for many pairs, and how busy the encoders are.

OMP_NUM_THREADS=1 python benchmarks/collect.py [--tiny DIM] [--pairs 20000 200000]

Each size runs in a process of its own: bitext and ready links in, a bridge with its senses and its
quality out. The links are on the diagonal, which costs no aligner; neither figure depends on what
is linked to what. `--tiny` takes vectors of DIM dimensions from a table of random ones, instead of
running encoders.
Memory is told twice: the peak of all that is resident, pages of files included, and of the
anonymous part alone. The share of the encoders is in processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common.shared import SHARED

from treebridge import Bitext
from treebridge.encode.encoder import Encoded, Encoder, Words

MEGABYTE = 1 << 20


class Table(Encoder):
    """Vectors that depend on a word and the one before it, from a table of random ones."""

    def __init__(self, name: str, dim: int):
        self.name, self.dim = name, dim
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.rows = rng.normal(size=(4096, self.dim)).astype(np.float32)

    @property
    def fingerprint(self) -> str:
        """Its name says it all."""
        return self.name

    def whole(self, words: Words) -> np.ndarray:
        """Words that are not long."""
        return np.array([len(word) < 10 for word in words], bool)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """Look up."""
        for words in sentences:
            own = self.rows[[zlib.crc32(word.lower().encode()) % len(self.rows) for word in words]]
            mixed = own + 0.7 * np.roll(own, 1, 0)
            mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
            yield Encoded(mixed, self.whole(words))


@dataclass
class Timed(Encoder):
    """An encoder whose processor time is added up."""

    encoder: Encoder
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.name, self.dim = self.encoder.name, self.encoder.dim

    @property
    def fingerprint(self) -> str:
        """The encoder's."""
        return self.encoder.fingerprint

    def whole(self, words: Words) -> np.ndarray:
        """The encoder's."""
        return self.encoder.whole(words)

    def encode(self, sentences: Iterable[Words]) -> Iterator[Encoded]:
        """The encoder's vectors; what runs between two of them is not its time."""
        vectors = self.encoder.encode(sentences)
        while True:
            start = time.process_time()
            encoded = next(vectors, None)
            self.seconds += time.process_time() - start
            if encoded is None:
                return
            yield encoded


def bitext_of(pairs: int) -> Bitext:
    return Bitext.read(SHARED / "data/bitext/en-pt.tsv.xz", target_language="pt", limit=pairs)


def write_diagonal(path: Path, pairs: int) -> None:
    """A Pharaoh file for the first pairs; those that the filters leave out have empty lines."""
    walk, written = iter(bitext_of(pairs)), 0
    with path.open("w", encoding="utf-8") as stream:
        for pair in walk:
            stream.write("\n" * (walk.counts.read - 1 - written))
            links = range(min(len(pair.source), len(pair.target)))
            stream.write(" ".join(f"{i}-{i}" for i in links) + "\n")
            written = walk.counts.read


def child(pairs: int, links: str, tiny: int) -> dict[str, Any]:
    """Collect and fit in this process."""
    from treebridge.bridge.make import gather
    from treebridge.bridge.settings import BridgeSettings

    names = ("en", "pt") if tiny else (SHARED / f"encoders/{n}-marian-tiny" for n in ("en", "pt"))
    source, target = (Timed(Table(str(n), tiny) if tiny else Encoder.load(n)) for n in names)
    start = time.process_time()
    settings = BridgeSettings(links=links)
    gathered = gather(bitext_of(pairs), source, target, settings)
    collecting, inside = time.process_time() - start, source.seconds + target.seconds
    bridge = gathered.bridge(None, settings.fit)
    return {
        "occurrences": bridge.quality["occurrences"],
        "anchors": bridge.quality["anchors"],
        "share": inside / collecting,
        "seconds": time.process_time() - start,
        "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE,
    }


def measure(pairs: int, links: Path, tiny: int) -> dict[str, Any]:
    """Run a child with an empty cache, and look at its anonymous memory five times a second."""
    anonymous = 0
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--child", str(pairs), str(links), str(tiny)]
        environment = {**os.environ, "TREEBRIDGE_CACHE": cache}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            while process.poll() is None:
                anonymous = max(anonymous, _anonymous(process.pid))
                time.sleep(0.2)
            answer = process.stdout.read() if process.stdout else b""
    if process.returncode:
        sys.exit(process.returncode)
    return {**json.loads(answer), "anonymous": anonymous / MEGABYTE}


def _anonymous(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:  # it has just ended
        return 0
    kilobytes = [line.split()[1] for line in text.splitlines() if line.startswith("RssAnon:")]
    return 1024 * int(kilobytes[0]) if kilobytes else 0


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        pairs, links, tiny = sys.argv[2:]
        print(json.dumps(child(int(pairs), links, int(tiny))))
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tiny", type=int, nargs="?", const=256, default=0, metavar="DIM")
    parser.add_argument("--pairs", type=int, nargs="*", default=[20_000, 200_000])
    args = parser.parse_args()
    print(
        "| pairs | occurrences | anchors | CPU s | in the encoders while collecting | peak MB "
        "| anonymous MB |\n|---|---|---|---|---|---|---|"
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        links = Path(folder) / "links"
        write_diagonal(links, max(args.pairs))
        for pairs in args.pairs:
            found.append(measure(pairs, links, args.tiny))
            print(
                f"| {pairs:,} | {found[-1]['occurrences']:,} | {found[-1]['anchors']:,} "
                f"| {found[-1]['seconds']:.0f} | {found[-1]['share']:.1%} "
                f"| {found[-1]['resident']:.0f} | {found[-1]['anonymous']:.0f} |",
                flush=True,
            )
    for what in ("resident", "anonymous"):
        print(f"{what}: last size over the first {found[-1][what] / found[0][what]:.2f}")


if __name__ == "__main__":
    main()
