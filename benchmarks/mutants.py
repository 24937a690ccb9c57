"""Would the tests notice? Random one-line mutants of the code, and the share that tests kill.

python benchmarks/mutants.py [--count 100] [--seed 1] [--rooms bridge parse alignment] [--jobs 2]
    [--only parse/carry.py] [--json mutants.json [--again]]

Each job has a copy of the tree; the project itself is never changed. A first run of the tests notes
which functions each of them reaches. A mutant then meets the tests of its room that reach its
function, those in the test file of its own name first, until one fails; a test that takes far
longer than before counts as failed. Tests on real data are skipped.

Results go to --json as they come, and what tests reach to a file beside it: an interrupted run
continues, and --again runs only the mutants that survived, for instance after a test was added.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

from common.judging import PACKAGE, ROOT, Result, Tests, Tree
from common.mutations import Mutant, find_mutants

ROOMS = ("bridge", "parse", "alignment")


def all_mutants(rooms: list[str], only: str | None) -> list[Mutant]:
    """Every mutant of the rooms, or of one file."""
    files = [path for room in rooms for path in sorted((ROOT / PACKAGE / room).rglob("*.py"))]
    names = {str(path.relative_to(ROOT / PACKAGE)): path for path in files}
    if only and only not in names:
        sys.exit(f"{only} is no file of {', '.join(rooms)}")
    chosen = [only] if only else names
    return [mutant for name in chosen for mutant in find_mutants(names[name], name)]


def run(mutants: list[Mutant], jobs: int, kept: Path | None, results: list[Result]) -> None:
    """Judge mutants, some at once, and add to the results."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as place, ThreadPoolExecutor(jobs) as pool:
        free: Queue[Tree] = Queue()
        for job in range(jobs):
            free.put(Tree(Path(place) / str(job)))
        note = (kept or Path(place) / "mutants").with_suffix(".reached.json")
        known = json.loads(note.read_text(encoding="utf-8")) if note.exists() else {}

        def reach(room: str) -> Tests:
            with _one_of(free) as tree:
                return tree.reach(room, known)

        tests = {}
        rooms = sorted({_room(mutant) for mutant in mutants})
        for room, found in zip(rooms, pool.map(reach, rooms), strict=True):
            tests[room] = found
            note.write_text(json.dumps(known), encoding="utf-8")

        def judge(mutant: Mutant) -> Result:
            with _one_of(free) as tree:
                return tree.judge(mutant, tests[_room(mutant)])

        for done in as_completed([pool.submit(judge, mutant) for mutant in mutants]):
            results.append(result := done.result())
            show(result)
            if kept:
                text = json.dumps(results, indent=1, ensure_ascii=False)
                kept.write_text(text + "\n", encoding="utf-8")


@contextmanager
def _one_of(free: Queue[Tree]) -> Iterator[Tree]:
    tree = free.get()
    try:
        yield tree
    finally:
        free.put(tree)


def _room(mutant: Mutant) -> str:
    return mutant.file.partition("/")[0]


def show(result: Result) -> None:
    """One mutant and what became of it."""
    by = f", by {result['by']}" if result["by"] else ""
    place = f"{result['file']}:{result['line']}"
    print(f"{result['result']:8} {place} ({result['kind']}, {result['seconds']} s{by})")
    if result["result"] != "killed":
        print(f"    - {result['before']}\n    + {result['after']}")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100, help="Number of mutants (default 100).")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--jobs", type=int, default=2, help="Mutants at once (default 2).")
    parser.add_argument("--only", metavar="FILE", help="One file, such as parse/carry.py.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="Keep the results here.")
    parser.add_argument("--again", action="store_true", help="Only those that survived.")
    options = parser.parse_args()
    found = all_mutants(options.rooms, options.only)
    results: list[Result] = []
    if options.json and options.json.exists():
        results = json.loads(options.json.read_text(encoding="utf-8"))
    if options.again:
        names = {_name(result) for result in results if result["result"] == "survived"}
        chosen = [mutant for mutant in found if mutant.name in names]
        again = {mutant.name for mutant in chosen}
        results = [result for result in results if _name(result) not in again]
    else:
        known = {_name(result) for result in results}
        drawn = random.Random(options.seed).sample(found, min(options.count, len(found)))
        chosen = [mutant for mutant in drawn if mutant.name not in known]
    if chosen:
        run(chosen, options.jobs, options.json, results)
    survived = [result for result in results if result["result"] == "survived"]
    killed = len(results) - len(survived)
    print(f"\n{killed} of {len(results)} killed ({killed / max(1, len(results)):.0%}); survived:")
    for result in sorted(survived, key=lambda result: (result["file"], result["line"])):
        show(result)


def _name(result: Result) -> tuple[str, ...]:
    return tuple(result[key] for key in ("file", "kind", "before", "after"))


if __name__ == "__main__":
    main()
