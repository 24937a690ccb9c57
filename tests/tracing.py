"""Keep coverage affordable: trace only the part of each test that shows something new.

Before Python 3.12, tracing slows down every line that runs, ours or not. Property-based tests are
traced for their first examples only. Tests on real data are not traced at all, so coverage does not
depend on having the data. Lines that only the rest reaches count as not covered.
"""

from __future__ import annotations

import functools
from collections.abc import Generator
from typing import Any

import pytest
from coverage import Coverage

EXAMPLES = 10  # a property has 100


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Exclude tests on real data."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker("no_cover")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Stop tracing a property after its first examples; start again after the test."""
    coverage = Coverage.current()
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if coverage is None or handle is None:
        return (yield)
    inner, seen = handle.inner_test, 0

    @functools.wraps(inner)
    def example(*args: Any, **kwargs: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == EXAMPLES + 1:
            coverage.stop()
        return inner(*args, **kwargs)

    handle.inner_test = example
    try:
        return (yield)
    finally:
        handle.inner_test = inner
        if seen > EXAMPLES:
            coverage.start()
