"""Which tests may notice a mutant, and whether they do; in a copy of the project."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from common.mutations import Mutant

COMMON = Path(__file__).resolve().parent
ROOT = COMMON.parents[1]
PACKAGE = "src/treebridge"
Result = dict[str, Any]
QUICK = 2.0  # seconds of a test with its fixtures; such tests come first
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=no", "-rfE"]


class Tests:
    """The tests of a room with the functions that each reaches, and how long it takes."""

    def __init__(self, note: dict[str, dict[str, Any]]):
        self.note = note
        self.seconds = {name: float(test["seconds"]) for name, test in note.items()}

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that may notice a mutant: quick ones, then the others file by file.

        All of the room where none is known to reach its function, or where the function may be
        compiled: its calls cannot be seen.
        """
        chosen = {name for name, test in self.note.items() if _reaches(test, mutant)}
        if mutant.is_compiled or not chosen:
            chosen = set(self.note)
        # What other processes reach cannot be seen either.
        chosen |= {name for name, test in self.note.items() if test["starts_processes"]}
        own = f"/test_{Path(mutant.file).stem}.py::"
        ordered = sorted(chosen, key=lambda name: (own not in name, self.seconds[name]))
        slow: dict[str, list[str]] = {}  # by file, because tests of a file share fixtures
        for name in ordered:
            if self.seconds[name] >= QUICK:
                slow.setdefault(name.partition("::")[0], []).append(name)
        files = sorted(slow.values(), key=lambda names: sum(map(self.seconds.__getitem__, names)))
        quick = [name for name in ordered if self.seconds[name] < QUICK]
        return [*quick, *chain.from_iterable(files)]


def _reaches(test: dict[str, Any], mutant: Mutant) -> bool:
    places = (place.rpartition(":") for place in test["reached"])
    lines = [int(line) for file, _, line in places if file == mutant.file]
    return any(mutant.function is None or line in mutant.function for line in lines)


class Tree:
    """A copy of the project in which one mutant lives at a time."""

    def __init__(self, place: Path):
        self.place = place
        for name in ("src", "tests"):
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, place / name, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", place)

    def reach(self, room: str, known: dict[str, Any]) -> Tests:
        """Run the tests of a room, which must pass, and note what they reach.

        `known` holds what was noted before, by a hash of the code and the test file.
        """
        code = _hash((self.place / PACKAGE).rglob("*.py"))
        files = sorted((self.place / "tests" / room).glob("test_*.py"))
        keys = {str(path.relative_to(self.place)): _hash([path], code) for path in files}
        if new := [file for file, key in keys.items() if key not in known]:
            note = self.place / "reached.json"
            within = {"REACHED_WITHIN": str(self.place / PACKAGE), "REACHED_NOTE": str(note)}
            result = self._test(new, ["-p", "reached"], within)
            print(f"{room}: {len(new)} files of tests, {result['seconds']} s", flush=True)
            if result["result"] != "survived":
                sys.exit(f"{result['by']} fails without any mutant")
            tests = json.loads(note.read_text(encoding="utf-8"))
            for file in new:
                known[keys[file]] = {n: t for n, t in tests.items() if n.startswith(f"{file}::")}
        return Tests({name: test for key in keys.values() for name, test in known[key].items()})

    def judge(self, mutant: Mutant, tests: Tests) -> Result:
        """Run tests on a mutant until one fails or takes far too long, or all have passed."""
        path = self.place / PACKAGE / mutant.file
        original, note = path.with_suffix(".original"), self.place / "seconds.json"
        shutil.copy2(path, original)  # with its time, by which numba knows what it has compiled
        path.write_bytes(mutant.source)
        note.write_text(json.dumps(tests.seconds), encoding="utf-8")
        compiling = 240 if mutant.is_compiled else 0
        least = {"HURRY_NOTE": str(note), "HURRY_LEAST": str(60 + compiling)}
        self._forget_compiled(path)
        try:
            result = self._test(tests.of(mutant), ["-p", "hurry"], least)
        finally:
            original.replace(path)
            self._forget_compiled(path)
        return {**mutant.as_dict(), **result}

    def _forget_compiled(self, path: Path) -> None:
        """Remove what numba keeps of a file and of all that import it.

        Numba itself does not see that a function that another one calls has changed.
        """
        others = {
            other.stem: other.read_text(encoding="utf-8") for other in path.parent.glob("*.py")
        }
        changed, before = {path.stem}, 0
        while len(changed) > before:
            before = len(changed)
            names = "|".join(changed)
            imports = re.compile(rf"^from treebridge\.{path.parent.name}\.({names}) import", re.M)
            changed |= {stem for stem, text in others.items() if imports.search(text)}
        for kept in (self.place / "numba").glob("*/*.nb?"):
            if kept.name.partition(".")[0] in changed:
                kept.unlink()

    def _test(self, tests: list[str], options: list[str], environment: dict[str, str]) -> Result:
        """What became of a run of tests: survived, killed (by which), or too slow."""
        shutil.rmtree(self.place / "cache", ignore_errors=True)
        log = self.place / "log"
        start = time.perf_counter()
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *OPTIONS, *options, *tests],
                cwd=self.place,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join([str(self.place / "src"), str(COMMON)]),
                    "NUMBA_CACHE_DIR": str(self.place / "numba"),
                    "TREEBRIDGE_CACHE": str(self.place / "cache"),
                    "TREEBRIDGE_SHARED": str(self.place / "none"),
                    "OMP_NUM_THREADS": "1",
                    **environment,
                },
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait()
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # it, and what its tests have started
        output = log.read_text(encoding="utf-8", errors="replace")
        if code in (4, 5):  # called wrongly, or no tests
            raise RuntimeError(output)
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return {
            "result": {0: "survived", -signal.SIGALRM: "too slow"}.get(code, "killed"),
            "by": failed[0].split()[1] if failed else None,
            "seconds": round(time.perf_counter() - start, 1),
        }


def _hash(files: Iterable[Path], start: str = "") -> str:
    digest = hashlib.sha256(start.encode())
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()
