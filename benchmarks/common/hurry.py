"""A pytest plugin that ends the run when a test takes much longer than it once did.

HURRY_NOTE names a file of the seconds that tests took, by name; HURRY_LEAST are seconds that any
test may take. The signal's default action ends the process even inside a compiled loop.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

TIMES = 5  # as long: the machine may be busier than it was
LEAST = int(os.environ["HURRY_LEAST"])
SECONDS = json.loads(Path(os.environ["HURRY_NOTE"]).read_text(encoding="utf-8"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Set the alarm for a test."""
    signal.alarm(LEAST + int(TIMES * SECONDS.get(item.nodeid, 0)))
    yield
    signal.alarm(0)
