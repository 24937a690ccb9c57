"""How each aligner is run and measured: ours in a process of its own, others as programs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

EFLOMAL = """
import sys, eflomal
pairs = [line.rstrip("\\n").split("\\t") for line in open(sys.argv[1], encoding="utf-8")]
sides = [[pair[side] + "\\n" for pair in pairs] for side in (0, 1)]
eflomal.Aligner().align(*sides, links_filename_fwd=sys.argv[2], links_filename_rev=sys.argv[3])
"""


def ours(path: Path, name: str, threads: int, output: Path) -> dict[str, Any]:
    """Fit and align in this process; both directions are written as Pharaoh files."""
    import time

    from treebridge.alignment.engines import engine
    from treebridge.alignment.indexed import index_pairs
    from treebridge.alignment.pharaoh import write_pharaoh
    from treebridge.alignment.symmetrize import symmetrize
    from treebridge.alignment.threads import Threads

    with Threads(threads) as pool, path.open(encoding="utf-8") as stream:
        small = index_pairs([(["a", "b"], ["c", "d"])] * 3)
        engine(name).fit(small, pool).choices(small, pool)  # compile, or load what was compiled
        wall, cpu = time.perf_counter(), time.process_time()
        corpus = index_pairs(tuple(side.split() for side in line.split("\t")) for line in stream)
        choices = engine(name).fit(corpus, pool).choices(corpus, pool)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for method in ("forward", "reverse"):
            links = symmetrize(corpus, choices, method, pool)
            write_pharaoh(f"{output}.{method}", links, corpus)
    return {"wall": wall, "cpu": cpu, "memory": memory}


def in_child(path: Path, name: str, threads: int, output: Path) -> dict[str, Any]:
    """Measure in a fresh process, so that the memory is its own."""
    command = [sys.executable, __file__, name, str(threads), str(path), str(output)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def theirs(commands: list[tuple[list[str], Path | None]]) -> dict[str, Any]:
    """Run other people's programs one after the other, one core each."""
    wall = cpu = memory = 0.0
    for command, output in commands:
        timed = ["/usr/bin/time", "-f", "%e %U %S %M", *command]
        with (output or Path(os.devnull)).open("wb") as stream:
            done = subprocess.run(
                timed,
                stdout=stream,
                stderr=subprocess.PIPE,
                check=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        elapsed, user, system, size = map(float, done.stderr.decode().split("\n")[-2].split())
        wall, cpu, memory = wall + elapsed, cpu + user + system, max(memory, size / 1024)
    return {"wall": wall, "cpu": cpu, "memory": memory}


if __name__ == "__main__":
    engine_name, number, words, links = sys.argv[1:]
    print(json.dumps(ours(Path(words), engine_name, int(number), Path(links))))
