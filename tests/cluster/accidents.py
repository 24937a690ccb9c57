"""Two raylets on this machine, and accidents; benchmarks/cluster.py uses it too."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from treebridge.bridge.make import Crew


@contextmanager
def two_raylets() -> Iterator[Any]:
    """A head and another node with one worker each, joined by this process."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    head = {**node, "include_dashboard": False, "_system_config": {"worker_niceness": 0}}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        cluster.add_node(**node)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def kill_one(cluster: Any) -> int:
    """SIGKILL a worker, preferably one that is working on a piece."""
    raylets = {node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()}
    found: dict[bytes, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent in raylets:
                found[(path / "cmdline").read_bytes().rstrip(b"\0 ")] = int(path.name)
        except OSError:
            continue  # the process has ended
    worker = found.get(b"ray::_kept") or found[b"ray::IDLE"]
    os.kill(worker, signal.SIGKILL)
    return worker


def with_accidents(crew: Crew, fill: dict[int, Callable[[], Any]], label: dict[int, Any]) -> Crew:
    """The same crew, with an accident after a number of pieces."""

    def watched(results: Iterable[Any], accidents: dict[int, Callable[[], Any]]) -> Iterator[Any]:
        for number, result in enumerate(results):
            accidents.get(number, lambda: None)()
            yield result

    return Crew(
        lambda *given: watched(crew.fill(*given), fill),
        lambda shards: watched(crew.label(shards), label),
    )
