"""A bridge by `--engine ray` against the plain engine, and with accidents: the same bytes?

OMP_NUM_THREADS=1 python benchmarks/cluster.py [--pairs 20000] [--workers 2]

Collection and senses with the encoders of ../shared; links are made before. Wall clock, and
processor seconds: of this process, and of all that Ray has started from here, its own services and
the start of the workers included. Then the same on two raylets: a worker is killed while it encodes
and one while it clusters, then a whole raylet.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from common.shared import SHARED

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--pairs", type=int, default=20_000)
    arguments.add_argument("--workers", type=int, default=2)
    given = arguments.parse_args()
    if not (SHARED / "encoders").is_dir():
        print("no encoders here: they are looked for in ../shared")
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), given.pairs, given.workers)


def compare(folder: Path, pairs: int, workers: int) -> None:
    from treebridge.bridge import senses, shards
    from treebridge.bridge.make import find_links, make_bridge
    from treebridge.bridge.settings import BridgeSettings
    from treebridge.cluster.crew import ray_crew
    from treebridge.cluster.engine import ClusterSettings
    from treebridge.corpus.bitext import Bitext
    from treebridge.encode.encoder import Encoder

    sys.path.insert(0, str(ROOT / "tests" / "cluster"))
    from accidents import kill_one, two_raylets, with_accidents

    # So that there are several pieces and shards with few pairs, too.
    shards.STEP, senses.SHARD = min(shards.STEP, pairs // 8), min(senses.SHARD, pairs)
    bitext = Bitext.read(SHARED / "data/bitext/en-pt.tsv.xz", limit=pairs)
    encoders = [Encoder.load(SHARED / f"encoders/{name}-marian-tiny") for name in ("en", "pt")]
    os.environ["TREEBRIDGE_CACHE"] = str(folder / "plain")
    find_links(bitext, BridgeSettings())

    def run(name: str, crew) -> np.ndarray:
        place = folder / name
        os.environ["TREEBRIDGE_CACHE"] = str(place)
        if not (place / "links").exists():
            place.mkdir(exist_ok=True)
            (place / "links").symlink_to(folder / "plain" / "links")
        return make_bridge(bitext, *encoders, crew=crew).w

    def timed(name: str, context) -> np.ndarray:
        before, start = processor_seconds(), time.perf_counter()
        with context as crew:
            w = run(name, crew)
            spent = processor_seconds() - before
        clock = time.perf_counter() - start
        print(f"{name}: {spent:.1f} processor seconds, {clock:.1f} s by the clock", flush=True)
        return w

    plain = timed("plain", nullcontext())
    on_ray = timed("ray", ray_crew(ClusterSettings(workers=workers)))
    judge("ray", folder, plain, on_ray)
    with two_raylets() as cluster, ray_crew(ClusterSettings(workers=2)) as crew:
        lost = cluster.list_all_nodes()[-1]

        def kill() -> None:
            print(f"accidents: worker {kill_one(cluster)} is killed", flush=True)

        def lose() -> None:
            cluster.remove_node(lost, allow_graceful=False)
            print("accidents: a raylet is killed", flush=True)

        after = run("accidents", with_accidents(crew, {0: kill, 1: lose}, {0: kill}))
    judge("accidents", folder, plain, after)


def judge(name: str, folder: Path, plain: np.ndarray, w: np.ndarray) -> None:
    ours, theirs = contents(folder / "plain"), contents(folder / name)
    same = sum(ours[key] == theirs.get(key) for key in ours)
    print(
        f"{name}: {same} of {len(ours)} files have the bytes of the plain engine's, "
        f"W differs by {np.abs(w - plain).max():.1e} at most",
        flush=True,
    )


def contents(cache: Path) -> dict[str, bytes]:
    """The layout with its vectors, and the labels."""
    files = [p for kind in ("occurrences", "senses") for p in (cache / kind).rglob("*")]
    return {str(p.relative_to(cache)): p.read_bytes() for p in files if p.is_file()}


def processor_seconds() -> float:
    """Of this process and all that it has started."""
    parents, spent = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended
        parents[int(path.name)] = int(fields[1])
        spent[int(path.name)] = sum(int(field) for field in fields[11:15]) / TICKS
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(spent[pid] for pid in ours)


if __name__ == "__main__":
    main()
