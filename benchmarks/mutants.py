"""Would the tests notice? Random one-line mutants of the code, and the share that tests kill.

python benchmarks/mutants.py [--count 100] [--seed 1] [--rooms bridge parse align] [--jobs 2]
    [--only parse/carry.py] [--json mutants.json [--again]]

Each job has a copy of the tree; the project itself is never changed. A first run of the tests notes
which functions each of them reaches. A mutant then meets the tests of its room that reach its
function, those in the test file of its own name first, until one fails; one that needs much longer
counts as killed. Tests on real data are skipped. Compiled functions are compiled again for every
mutant of theirs, because numba does not see that a function it calls has changed.

Results go to --json as they come, and what tests reach to a file beside it: an interrupted run
continues, and --again runs only the mutants that survived, for instance after a test was added.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

from common.mutations import Mutant, find_mutants

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("bridge", "parse", "align")
PACKAGE = "src/treebridge"
COMMON = Path(__file__).resolve().parent / "common"
Result = dict[str, Any]


class Tree:
    """A copy of the project in which one mutant lives at a time."""

    def __init__(self, place: Path):
        self.place = place
        for name in ("src", "tests"):
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, place / name, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", place)

    def judge(self, mutant: Mutant, tests: Tests) -> Result:
        """Run tests on a mutant until one fails, all are over, or the time is."""
        path = self.place / PACKAGE / mutant.file
        original = path.with_suffix(".original")
        shutil.copy2(path, original)  # with its time, by which numba knows what it has compiled
        path.write_bytes(mutant.source)
        try:
            limit = 3 * tests.seconds + 60
            result = self.test(tests.of(mutant), limit, fresh=b"njit" in mutant.source)
        finally:
            original.replace(path)
        return {
            "file": mutant.file,
            "line": mutant.line,
            "kind": mutant.kind,
            "before": mutant.before,
            "after": mutant.after,
            **result,
        }

    def reach(self, room: str, known: dict[str, Any]) -> Tests:
        """Run the tests of a room, which must pass, and note what they reach.

        `known` holds what was noted before, by test file; files that are the same are not run.
        """
        parts = [*(self.place / PACKAGE).rglob("*.py"), *(self.place / "tests").rglob("*.py")]
        shared = _hash(part for part in parts if not part.stem.startswith("test_"))
        files = sorted((self.place / "tests" / room).glob("test_*.py"))
        keys = {str(path.relative_to(self.place)): _hash([path], shared) for path in files}
        if new := [file for file, key in keys.items() if key not in known]:
            result = self.test(new, extra=["-p", "reached"])
            print(f"{room}: {len(new)} files of tests, {result['seconds']} s", flush=True)
            if result["result"] != "survived":
                sys.exit(f"{result['by']} fails without any mutant")
            note = json.loads((self.place / "reached.json").read_text(encoding="utf-8"))
            for file in new:
                known[keys[file]] = {n: t for n, t in note.items() if n.partition("::")[0] == file}
        return Tests({name: t for key in keys.values() for name, t in known[key].items()})

    def test(
        self,
        tests: list[str],
        limit: float | None = None,
        *,
        fresh: bool = False,
        extra: Sequence[str] = (),
    ) -> Result:
        """What became of a run of tests: survived, killed (by which), or too slow."""
        compiled = self.place / ("numba-once" if fresh else "numba")
        if fresh:
            shutil.rmtree(compiled, ignore_errors=True)
        shutil.rmtree(self.place / "cache", ignore_errors=True)
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=no", "-rfE"]
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *extra, *tests],
            cwd=self.place,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(self.place / "src"), str(COMMON)]),
                "REACHED_WITHIN": str(self.place / PACKAGE),
                "REACHED_NOTE": str(self.place / "reached.json"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "NUMBA_CACHE_DIR": str(compiled),
                "TREEBRIDGE_CACHE": str(self.place / "cache"),
                "TREEBRIDGE_SHARED": str(self.place / "none"),
                "OMP_NUM_THREADS": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # so that what it starts ends with it
        )
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return {"result": "too slow", "by": None, "seconds": limit}
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode in (4, 5):  # called wrongly, or no tests
            raise RuntimeError(output)
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return {
            "result": "killed" if process.returncode else "survived",
            "by": failed[0].split()[1] if failed else None,
            "seconds": round(time.perf_counter() - start, 1),
        }


class Tests:
    """The tests of a room, and what each reaches."""

    def __init__(self, note: dict[str, Any]):
        self.tests = note
        self.seconds = sum(test["seconds"] for test in note.values())
        self._by_file: dict[str, list[str]] = {}
        for name in note:
            self._by_file.setdefault(name.partition("::")[0], []).append(name)

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that may notice a mutant: file by file, quick ones first.

        Tests that start processes may reach anything. So may all tests where the function is
        compiled, as calls of it cannot be seen.
        """
        chosen = {name for name, test in self.tests.items() if self._reaches(test, mutant)}
        sure = [name for name in chosen if not self.tests[name]["starts_processes"]]
        if not sure:
            chosen = set(self.tests)

        def cost(names: list[str]) -> tuple[bool, float]:
            own = f"/test_{Path(mutant.file).stem}.py" in names[0]
            return not own, sum(map(self._seconds, names))

        files = [[name for name in names if name in chosen] for names in self._by_file.values()]
        ordered = sorted(filter(None, files), key=cost)
        return [name for names in ordered for name in sorted(names, key=self._seconds)]

    def _seconds(self, name: str) -> float:
        return float(self.tests[name]["seconds"])

    @staticmethod
    def _reaches(test: dict[str, Any], mutant: Mutant) -> bool:
        if test["starts_processes"] or b"njit" in mutant.source:
            return True
        places = (place.rpartition(":") for place in test["reached"])
        lines = [int(line) for file, _, line in places if file == mutant.file]
        return any(mutant.function is None or line in mutant.function for line in lines)


def all_mutants(rooms: list[str], only: str | None) -> list[Mutant]:
    """Every mutant of the rooms, or of one file."""
    files = [p for room in rooms for p in sorted((ROOT / PACKAGE / room).rglob("*.py"))]
    names = [str(path.relative_to(ROOT / PACKAGE)) for path in files]
    if only and only not in names:
        sys.exit(f"{only} is no file of {', '.join(rooms)}")
    return [
        mutant
        for path, name in zip(files, names, strict=True)
        if only in (None, name)
        for mutant in find_mutants(path, name)
    ]


def run(mutants: list[Mutant], jobs: int, kept: Path | None, results: list[Result]) -> None:
    """Judge mutants, some at once, and add to the results."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        free: Queue[Tree] = Queue()
        for job in range(jobs):
            free.put(Tree(Path(place) / str(job)))
        tree = free.get()
        rooms = sorted({_room(mutant) for mutant in mutants})
        note = kept.with_suffix(".reached.json") if kept else Path(place) / "reached.json"
        known = json.loads(note.read_text(encoding="utf-8")) if note.exists() else {}
        tests = {}
        for room in rooms:
            tests[room] = tree.reach(room, known)
            note.write_text(json.dumps(known), encoding="utf-8")
        free.put(tree)

        def judge(mutant: Mutant) -> Result:
            tree = free.get()
            try:
                return tree.judge(mutant, tests[_room(mutant)])
            finally:
                free.put(tree)

        with ThreadPoolExecutor(jobs) as pool:
            for result in pool.map(judge, mutants):
                results.append(result)
                show(result)
                if kept:
                    kept.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def _hash(files: Iterable[Path], start: str = "") -> str:
    digest = hashlib.sha256(start.encode())
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _room(mutant: Mutant) -> str:
    return mutant.file.partition("/")[0]


def show(result: Result) -> None:
    """One mutant and what became of it."""
    print(
        f"{result['result']:8} {result['file']}:{result['line']} ({result['kind']}, "
        f"{result['seconds']} s{', by ' + result['by'] if result['by'] else ''})"
    )
    if result["result"] == "survived":
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
    chosen = random.Random(options.seed).sample(found, min(options.count, len(found)))
    results: list[Result] = []
    if options.json and options.json.exists():
        results = json.loads(options.json.read_text())
    if options.again:
        names = {_name(result) for result in results if result["result"] == "survived"}
        chosen = [mutant for mutant in found if mutant.name in names]
        results = [result for result in results if result["result"] != "survived"]
    else:
        known = {_name(result) for result in results}
        chosen = [mutant for mutant in chosen if mutant.name not in known]
    if chosen:
        run(chosen, options.jobs, options.json, results)
    survived = [result for result in results if result["result"] == "survived"]
    killed = len(results) - len(survived)
    print(f"\n{killed} of {len(results)} killed ({killed / max(1, len(results)):.0%}); survived:")
    for result in sorted(survived, key=lambda result: (result["file"], result["line"])):
        show(result)


def _name(result: Result) -> tuple[str, str, str, str]:
    return result["file"], result["kind"], result["before"], result["after"]


if __name__ == "__main__":
    main()
