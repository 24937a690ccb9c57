"""Run ONNX graphs: on the CPU, one thread each, so that several batches can run side by side."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from treebridge.errors import TreebridgeError, first_line
from treebridge.records import FIX

T = TypeVar("T")
U = TypeVar("U")


def open_session(path: Path) -> Any:
    """An ONNX Runtime session of a graph in a file, which may be compressed (.gz)."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # every length would keep a plan of its own
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except (OSError, EOFError, zlib.error) as error:
        raise TreebridgeError(f"cannot be read ({first_line(error)}); {FIX}", file=path) from None
    except Exception as error:  # onnxruntime's own errors have no common ancestor but this
        raise TreebridgeError(
            f"not an ONNX graph that can be run here ({first_line(error)}); {FIX}", file=path
        ) from None


def processors() -> int:
    """How many batches to run at once: OMP_NUM_THREADS, or the processors of this machine."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(work: Callable[[T], U], items: Iterable[T], at_once: int) -> Iterator[U]:
    """The results of some work on each item in order, several items at a time."""
    todo = list(items)
    if at_once == 1 or len(todo) == 1:
        yield from map(work, todo)
        return
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(work, todo)
