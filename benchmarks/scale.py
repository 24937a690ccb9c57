"""Does a bridge cost what docs/scale.md says? Runs of growing size, a line through them.

OMP_NUM_THREADS=1 python benchmarks/scale.py [--pairs 10000 40000 160000] [--tiny] [--cap 10000]

Processor seconds of each step; how far each is from a straight line through all sizes; and what
the plan of `treebridge bridge --dry-run` expected to be encoded and kept. `--tiny` takes random
encoders of 5 × 32, so that what does not run the encoders is seen; `--cap` is the most that is kept
of a type, which at 10 000 needs a million pairs to matter.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common.shared import SHARED

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--pairs", type=int, nargs="+", default=[10_000, 40_000, 160_000])
    arguments.add_argument("--cap", type=int, default=10_000)
    arguments.add_argument("--tiny", action="store_true")
    arguments.add_argument("--bitext", default=str(SHARED / "data/bitext/en-pt.tsv.xz"))
    given = arguments.parse_args()
    if not Path(given.bitext).exists():
        print("no bitext here: name one with --bitext")
        return
    with tempfile.TemporaryDirectory() as folder:
        run(given, Path(folder))


def run(given: argparse.Namespace, folder: Path) -> None:
    from treebridge.bridge.settings import CollectSettings
    from treebridge.cluster.plan import expect
    from treebridge.cluster.sample import Sample
    from treebridge.corpus.bitext import Bitext
    from treebridge.encode.encoder import Encoder

    names = [SHARED / f"encoders/{language}-marian-tiny" for language in ("en", "pt")]
    if given.tiny:
        sys.path.insert(0, str(ROOT / "tests" / "encode"))
        from checkpoints import make

        names = [make("bert", folder / "en"), make("marian", folder / "pt")]
    encoders = [Encoder.load(name) for name in names]
    # The vocabulary of a tiny encoder is not the bitext's, so that hardly a word of it is whole.
    words = "all" if given.tiny else "whole"
    settings = CollectSettings(anchor_words=words, max_per_type=given.cap)
    sample = Sample.of(Bitext.read(given.bitext), *encoders, settings)
    table: dict[str, list[float]] = {}
    os.environ["TREEBRIDGE_CACHE"] = str(folder / "first")
    steps(Bitext.read(given.bitext, limit=1000), encoders, settings)  # what is compiled once
    for pairs in given.pairs:
        os.environ["TREEBRIDGE_CACHE"] = str(folder / str(pairs))
        seconds, encoded, vectors = steps(
            Bitext.read(given.bitext, limit=pairs), encoders, settings
        )
        expected, kept = expect(sample, pairs, settings)
        told = ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.items())
        print(
            f"{pairs:>9,} pairs: {told}; encoded {encoded:,} (expected {expected:,.0f}), "
            f"vectors {vectors:,} (expected {kept.sum():,.0f})",
            flush=True,
        )
        for name, spent in seconds.items():
            table.setdefault(name, []).append(spent)
    for name, spent in {**table, "all": list(np.sum([*table.values()], axis=0))}.items():
        slope, start = np.polyfit(given.pairs, spent, 1)
        off = np.abs(np.polyval([slope, start], given.pairs) / spent - 1).max()
        print(
            f"{name}: {1e6 * slope:.0f} µs a pair and {start:.1f} s; "
            f"no run is further than {100 * off:.0f} % from this line"
        )


def steps(bitext, encoders, settings) -> tuple[dict[str, float], int, int]:
    """Processor seconds of each step of a bridge, pairs encoded, vectors kept on each side."""
    from treebridge.bridge.make import gather
    from treebridge.bridge.settings import BridgeSettings, FitSettings
    from treebridge.progress import Progress

    seconds: dict[str, float] = {}
    now = ["", 0.0]

    class Steps(Progress):
        def step(self, what: str) -> None:
            spent = time.process_time()
            if now[0]:
                seconds[now[0]] = spent - now[1]
            now[:] = what, spent

    watch = Steps()
    gathered = gather(bitext, *encoders, BridgeSettings(collect=settings), watch)
    gathered.bridge(None, FitSettings(), sense_report=False)
    watch.step("")
    found = gathered.occurrences
    return seconds, len(set(found.where[:, 0].tolist())), len(found)


if __name__ == "__main__":
    main()
