"""`treebridge parse` on a long text: time to the first tree, and memory at 20 % and at the end.

    OMP_NUM_THREADS=1 python benchmarks/parse.py --model FOLDER [--megabytes 1.5] [--text FILE]

Without a text, one is made of a few sentences with ever new numbers in them. Memory is what is
resident (VmRSS) when a fifth of the trees has come out, and with the last of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from serve import SENTENCES, memory

OFTEN = 50  # trees between two looks at the memory


def write_text(path: Path, megabytes: float) -> None:
    with path.open("w", encoding="utf-8") as stream:
        written = number = 0
        while written < megabytes * 1e6:
            sentence = SENTENCES[number % len(SENTENCES)]
            written += stream.write(f"{sentence[:-1]} {number} times.\n")
            number += 1


def watch(model: str, bridge: str | None, text: Path) -> tuple[float, float, list[float]]:
    """Seconds to the first tree and to the last, and memory all the way."""
    across = ["--bridge", bridge] if bridge else []
    command = [sys.executable, "-m", "treebridge", "parse", "--model", model, *across, str(text)]
    start = time.perf_counter()
    first, trees, seen = 0.0, 0, []
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line != b"\n":
                continue
            trees += 1
            first = first or time.perf_counter() - start
            if trees % OFTEN == 1:
                seen.append(memory(process.pid))
    if process.returncode or not seen:
        sys.exit("parse did not end well")
    return first, time.perf_counter() - start, seen


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--model", default="es")
    options.add_argument("--bridge")
    options.add_argument("--megabytes", type=float, default=1.5, help="of the text that is made")
    options.add_argument("--text", type=Path, help="a text of your own")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = chosen.text or Path(folder) / "text.txt"
        if not chosen.text:
            write_text(text, chosen.megabytes)
        size = text.stat().st_size / 1e6
        first, all_of_it, seen = watch(chosen.model, chosen.bridge, text)
    fifth, last = seen[len(seen) // 5], seen[-1]
    print(f"a text of {size:.2f} MB, about {OFTEN * len(seen):,} sentences")
    print(f"first tree after {first:.1f} s, the last after {all_of_it:.0f} s")
    print(f"memory at 20 %: {fifth:.0f} MiB, at the end {last:.0f} MiB; ratio {last / fifth:.3f}")


if __name__ == "__main__":
    main()
