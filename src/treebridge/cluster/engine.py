"""Join or start a Ray cluster and stream work through it.

Ray does the scheduling, retries and spilling. Pieces of work are tasks, not actor calls: if a
machine dies, a task moves to any other machine, while an actor and its queue wait for a free slot.
The state an actor would hold, a loaded encoder, is cached in the worker process.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from treebridge.errors import MissingExtra, TreebridgeError, first_line

RETRIES = 8  # of a piece whose worker or machine died
AHEAD = 4  # finished pieces per worker that may wait for a slower one before them
TIMEOUT = 10.0  # seconds for a cluster to answer
STORE = 256 << 20  # bytes of a local object store; Ray spills the rest to disk
T = TypeVar("T")


@dataclass(frozen=True)
class ClusterSettings:
    """Which Ray cluster to use, its storage and its number of workers."""

    address: str | None = None  # default: RAY_ADDRESS, or start a cluster on this machine
    storage: str | None = None  # folder shared by all machines, or an fsspec URL
    workers: int | None = None  # parallel tasks; default: one per GPU, or per processor


@dataclass(frozen=True)
class Workers:
    """The workers of a Ray cluster."""

    count: int
    gpus: int  # per worker
    pending: set[Any] = field(default_factory=set)  # references of unfinished tasks

    def stream(self, work: Callable[..., T], items: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield work(*item) for each item, in order, with a bounded number of tasks in flight."""
        import ray

        # max_calls=0: GPU processes are reused too, because they have loaded the encoders.
        made = ray.remote(num_cpus=1, num_gpus=self.gpus, max_retries=RETRIES, max_calls=0)
        task = made(work)
        waiting = enumerate(items)
        item = next(waiting, None)  # prepared before a worker is free
        running: dict[Any, int] = {}
        finished: dict[int, Any] = {}
        following = 0
        while item or running or finished:
            while item and len(running) < self.count and len(finished) < AHEAD * self.count:
                number, arguments = item
                reference = task.remote(*arguments)
                running[reference] = number
                self.pending.add(reference)
                item = next(waiting, None)
            if running:
                patience = 0 if following in finished else None
                done, _ = ray.wait([*running], timeout=patience, fetch_local=False)
                finished |= {running.pop(reference): reference for reference in done}
                self.pending.difference_update(done)
            if following in finished:
                yield _result(finished.pop(following))
                following += 1


@contextmanager
def ray_workers(settings: ClusterSettings) -> Iterator[Workers]:
    """Join a cluster, or run one on this machine's loopback address inside the block."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtra("Ray", "ray", "working on a cluster") from None
    joined = ray.is_initialized()
    if not joined:
        _start(settings)
    try:
        there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpus = int(there.get("GPU", 0))
        count = settings.workers or gpus or int(there.get("CPU", 1))
        workers = Workers(count, 1 if gpus else 0)
        try:
            yield workers
        finally:
            for reference in workers.pending:  # the run was interrupted
                ray.cancel(reference, force=True)
    finally:
        if not joined:
            ray.shutdown()


def _start(settings: ClusterSettings) -> None:
    import ray

    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    address = settings.address or os.environ.get("RAY_ADDRESS")
    try:
        if address:
            _check_reachable(address)
            ray.init(address=address, **quiet)
        else:
            ray.init(
                address="local",
                num_cpus=settings.workers or os.cpu_count(),
                include_dashboard=False,
                object_store_memory=STORE,
                _node_ip_address="127.0.0.1",
                # By default Ray gives its workers the lowest priority on the machine.
                _system_config={"worker_niceness": 0},
                **quiet,
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise TreebridgeError(
            f"cannot reach a Ray cluster at {address or 'this machine'} ({first_line(error)}); "
            "check it with `ray status`, or give no address to start one on this machine"
        ) from None


def _check_reachable(address: str) -> None:
    """Try to connect: Ray itself would keep trying for many minutes."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "//" not in host:
        socket.create_connection((host, int(port)), TIMEOUT).close()


def _result(reference: Any) -> Any:
    """Get the result of a piece; raise an error from a worker as if it happened here."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return ray.get(reference)
    except RayTaskError as error:
        if isinstance(error.cause, TreebridgeError):
            raise error.cause from None
        raise
    except RayError as error:
        raise TreebridgeError(
            f"a piece of work failed {RETRIES + 1} times ({first_line(error)}); a worker may need "
            "more memory: use fewer workers and run again, finished pieces are reused"
        ) from None


@lru_cache(maxsize=4)
def load_once(load: Callable[..., Any], *arguments: Any) -> Any:
    """Load something once per process, for all its pieces of work."""
    return load(*arguments)


def absolute_name(name: str) -> str:
    """An existing path made absolute, because workers start in another folder; else the name."""
    return str(Path(name).resolve()) if Path(name).exists() else name
