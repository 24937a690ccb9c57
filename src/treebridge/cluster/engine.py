"""Ray: joined or started, and a stream of work through it.

Scheduling, retries and spilling are Ray's. Pieces are tasks rather than calls of actors, because an
actor whose machine is gone waits for another place, and its pieces wait with it, while a task goes
to any machine that is left. What an actor would hold, a loaded encoder, the process holds.
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

RETRIES = 8  # of a piece whose worker or machine died; more than that is no accident
AHEAD = 4  # finished pieces for each worker that wait for a slow one before them
KNOCK = 10.0  # seconds for a cluster to answer
STORE = 256 << 20  # bytes of a local Ray's object store; it spills to disk beyond
T = TypeVar("T")


@dataclass(frozen=True)
class ClusterSettings:
    """Where to work."""

    address: str | None = None  # of a Ray cluster; else RAY_ADDRESS; else one is started here
    storage: str | None = None  # a folder that all machines see, or an fsspec address
    workers: int | None = None  # pieces worked on at once; else one for each processor or GPU


@dataclass(frozen=True)
class Workers:
    """A Ray cluster that takes work."""

    count: int
    gpus: int  # of each worker
    begun: set[Any] = field(default_factory=set)  # pieces that are not finished

    def stream(self, work: Callable[..., T], items: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """work(*item) for each item, in their order; few are in flight, so memory is bounded."""
        import ray

        # max_calls: a process with a GPU is kept, too, as it has loaded the encoders.
        made = ray.remote(num_cpus=1, num_gpus=self.gpus, max_retries=RETRIES, max_calls=0)
        task = made(work)
        waiting = enumerate(items)
        item = next(waiting, None)  # ready before a worker is
        running: dict[Any, int] = {}
        finished: dict[int, Any] = {}
        following = 0
        while item or running or finished:
            while item and len(running) < self.count and len(finished) < AHEAD * self.count:
                number, arguments = item
                reference = task.remote(*arguments)
                running[reference] = number
                self.begun.add(reference)
                item = next(waiting, None)
            if running:
                patience = 0 if following in finished else None
                done, _ = ray.wait([*running], timeout=patience, fetch_local=False)
                finished |= {running.pop(reference): reference for reference in done}
                self.begun.difference_update(done)
            if following in finished:
                yield _result(finished.pop(following))
                following += 1


@contextmanager
def ray_workers(settings: ClusterSettings) -> Iterator[Workers]:
    """Join a cluster, or start one on this machine's loopback address for as long as it takes."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtra("Ray", "ray", "--engine ray") from None
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
            for reference in workers.begun:  # of a run that was interrupted: nobody wants them
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
            _knock(address)
            ray.init(address=address, **quiet)
        else:
            ray.init(
                address="local",
                num_cpus=settings.workers or os.cpu_count(),
                include_dashboard=False,
                object_store_memory=STORE,
                _node_ip_address="127.0.0.1",
                # Ray would have its workers stand back behind everything else on the machine.
                _system_config={"worker_niceness": 0},
                **quiet,
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise TreebridgeError(
            f"no Ray cluster can be reached at {address or 'this machine'} ({first_line(error)}); "
            "`ray status` says whether one is up, and without --ray-address one is started here"
        ) from None


def _knock(address: str) -> None:
    """See whether anyone is there: Ray itself would go on trying for many minutes."""
    host, _, port = address.rpartition(":")
    if port.isdigit() and "//" not in host:
        socket.create_connection((host, int(port)), KNOCK).close()


def _result(reference: Any) -> Any:
    """What a piece gave; what went wrong in a worker is said as if it were here."""
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
            "more memory: take fewer --workers; the next call goes on with what is done"
        ) from None


@lru_cache(maxsize=4)
def held(load: Callable[..., Any], *arguments: Any) -> Any:
    """What was loaded once for all pieces that this process works on."""
    return load(*arguments)


def from_anywhere(name: str) -> str:
    """A name that workers understand, who start in another folder: what exists here by its path."""
    return str(Path(name).resolve()) if Path(name).exists() else name
