"""The same bytes as in one process, whatever dies along the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accidents import kill_one, with_accidents

from conftest import Run
from treebridge.cluster.crew import ray_crew
from treebridge.cluster.engine import ClusterSettings, ray_workers
from treebridge.errors import TreebridgeError


def test_interrupted_and_workers_killed(cluster: Any, job: Any) -> None:
    """Both in one test, because starting workers is slow."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    storage = job.folder / "killed" / "cluster"
    settings = ClusterSettings(storage=str(storage), workers=2)
    killed = []
    hit = lambda: killed.append(kill_one(cluster))  # noqa: E731
    with pytest.raises(KeyboardInterrupt), ray_crew(settings) as crew:
        job.run("killed", with_accidents(crew, {3: hit, 6: interrupt}, {}))
    (part,) = (job.folder / "killed" / "occurrences").glob("*.part")
    assert part.suffix == ".part" and int((part / "done").read_text()) == 6
    with ray_crew(settings) as crew:
        w = job.run("killed", with_accidents(crew, {2: hit}, {0: hit}))
    assert len(set(killed)) == 3
    assert job.made("killed") == job.made("plain")
    np.testing.assert_allclose(w, job.map, atol=1e-6)
    assert not list(storage.iterdir())  # finished and partial pieces are deleted


def test_a_piece_whose_worker_dies_is_retried(cluster: Any, tmp_path: Path) -> None:
    def work(number: int) -> int:
        mark = tmp_path / str(number)
        if number % 3 == 0 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number

    with ray_workers(ClusterSettings(workers=2)) as workers:
        assert list(workers.stream(work, ((n,) for n in range(7)))) == [n * n for n in range(7)]
    assert len(list(tmp_path.iterdir())) == 3


def test_few_pieces_are_in_flight(cluster: Any) -> None:
    asked = []

    def items() -> Iterator[tuple[int]]:
        for number in range(30):
            asked.append(number)
            yield (number,)

    with ray_workers(ClusterSettings(workers=2)) as workers:
        for number in workers.stream(lambda number: number, items()):
            assert len(asked) - number <= 2 + 2 * 4 + 2  # running, finished, and the next


def test_an_error_in_a_worker_is_raised_here(cluster: Any) -> None:
    def work() -> None:
        raise TreebridgeError("the disk is full", file="there")

    with (
        ray_workers(ClusterSettings()) as workers,
        pytest.raises(TreebridgeError, match="there: the disk is full"),
    ):
        list(workers.stream(work, [()]))


def test_parse_command(cluster: Any, here: Run, home: Path, text: str, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(text * 4)
    common = ["parse", "--model", home / "bridged", "text.txt", "--confidence"]
    plain: subprocess.CompletedProcess[str] = here(*common)
    assert plain.returncode == 0, plain.stderr
    on_ray = here(*common, "--engine", "ray", "--workers", 2)
    assert on_ray.returncode == 0, on_ray.stderr
    assert on_ray.stdout == plain.stdout and plain.stdout.count("# text") == 48


def test_bridge_command(cluster: Any, job: Any, here: Run, tmp_path: Path, monkeypatch) -> None:
    common = ["bridge", job.folder / "near.tsv", "--source", job.folder / "bert", "--target"]
    common += [job.folder / "marian", "--source-language", "qaa", "--anchor-words", "all", "--json"]
    told = []
    for name, engine in {"plain": [], "ray": ["--engine", "ray", "--storage", "kept"]}.items():
        monkeypatch.setenv("TREEBRIDGE_CACHE", str(tmp_path / name))
        done = here(*common, "-o", f"bridge-{name}", *engine)
        assert done.returncode == 0, done.stderr
        told.append(json.loads(done.stdout))
    assert told[0] == told[1]
    assert (tmp_path / "kept").is_dir() and not list((tmp_path / "kept").iterdir())
    nowhere = here(*common, "-o", "c", "--engine", "ray", "--storage", job.folder / "near.tsv")
    assert nowhere.returncode == 2 and "cannot be written" in nowhere.stderr


def test_losing_a_machine(cluster: Any, job: Any) -> None:
    """Last, because its raylet does not come back."""
    lost = cluster.list_all_nodes()[-1]
    gone = lambda: cluster.remove_node(lost, allow_graceful=False)  # noqa: E731
    with ray_crew(ClusterSettings(workers=2)) as crew:
        w = job.run("lost", with_accidents(crew, {5: gone}, {}))
    assert len(cluster.list_all_nodes()) == 1
    assert job.made("lost") == job.made("plain")
    np.testing.assert_allclose(w, job.map, atol=1e-6)
