"""A pytest plugin that notes which functions each test reaches, and how long it takes.

REACHED_WITHIN names the folder of the functions, REACHED_NOTE the file to write: for every test the
places (`parse/carry.py:42`) where functions that it called begin. What a fixture calls counts for
each test that uses it. Compiled functions cannot be seen, nor what runs in other processes.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

WITHIN = os.environ["REACHED_WITHIN"] + os.sep

reached: dict[str, set[str]] = defaultdict(set)  # by test or fixture
seconds: dict[str, float] = defaultdict(float)
processes: set[str] = set()  # tests and fixtures that started any
used: dict[str, list[str]] = {}  # the fixtures of each test
_now = ["nothing"]


def _called(frame: FrameType, event: str, argument: Any) -> None:
    code = frame.f_code
    if code.co_filename.startswith(WITHIN):
        reached[_now[-1]].add(f"{code.co_filename.removeprefix(WITHIN)}:{code.co_firstlineno}")


def _started(event: str, arguments: Any) -> None:
    if event == "subprocess.Popen":
        processes.add(_now[-1])


@contextmanager
def _noting(name: str) -> Iterator[None]:
    _now.append(name)
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds[name] += time.perf_counter() - start
        _now.pop()


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    """Note what a fixture calls."""
    with _noting(f"{fixturedef.baseid} {fixturedef.argname}"):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test calls."""
    closure = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009
    used[item.nodeid] = [
        f"{one.baseid} {one.argname}" for every in closure.values() for one in every
    ]
    with _noting(item.nodeid):
        yield


def pytest_sessionstart() -> None:
    """Begin to watch."""
    sys.addaudithook(_started)
    threading.settrace(_called)
    sys.settrace(_called)


def pytest_sessionfinish() -> None:
    """Write the note."""
    sys.settrace(None)
    note = {}
    for test, fixtures in used.items():
        names = [test, *fixtures]
        note[test] = {
            "seconds": round(sum(seconds[name] for name in names), 3),
            "reached": sorted(set().union(*(reached[name] for name in names))),
            "starts_processes": not processes.isdisjoint(names),
        }
    Path(os.environ["REACHED_NOTE"]).write_text(json.dumps(note), encoding="utf-8")
