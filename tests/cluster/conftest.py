"""Two raylets, and a small bridge to make on them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accidents import two_raylets

from treebridge.bridge import senses, shards
from treebridge.bridge.make import Crew, make_bridge
from treebridge.bridge.settings import BridgeSettings, CollectSettings
from treebridge.corpus.artificial import World
from treebridge.corpus.bitext import Bitext
from treebridge.encode.encoder import Encoder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and another node, joined by this process as a user's script would."""
    pytest.importorskip("ray")
    with two_raylets() as made:
        yield made


class Job:
    """Makes the same bridge repeatedly, each time with a new cache."""

    def __init__(self, folder: Path):
        from checkpoints import make

        World(3).write_bitext(folder / "near.tsv", "near", 400)
        self.folder = folder
        self.bitext = Bitext.read(folder / "near.tsv", source_language="qaa")
        self.encoders = [
            Encoder.load(make(kind, folder / kind)) for kind in ("bert", "marian")
        ]  # real networks, because only their vectors depend on the batch
        self.settings = BridgeSettings(
            collect=CollectSettings(anchor_words="all", max_per_type=150), aligner="fast-align"
        )

    def run(self, name: str, crew: Crew | None = None) -> Any:
        """The bridge's map, with the links of the first run."""
        os.environ["TREEBRIDGE_CACHE"] = str(self.folder / name)
        links = self.folder / name / "links"
        if name != "plain" and not links.exists():
            links.parent.mkdir(exist_ok=True)
            links.symlink_to(self.folder / "plain" / "links")
        return make_bridge(self.bitext, *self.encoders, None, self.settings, crew=crew).w

    def made(self, name: str) -> dict[str, bytes]:
        """Every byte of layout, vectors and labels."""
        cache = self.folder / name
        files = [p for kind in ("occurrences", "senses") for p in (cache / kind).rglob("*")]
        return {str(p.relative_to(cache)): p.read_bytes() for p in files if p.is_file()}


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """Many small shards, computed once in this process."""
    before = os.environ.get("TREEBRIDGE_CACHE"), shards.STEP, senses.SHARD, senses.BUDGET
    shards.STEP, senses.SHARD, senses.BUDGET = 16, 1, 300
    job = Job(tmp_path_factory.mktemp("job"))
    job.map = job.run("plain")  # type: ignore[attr-defined]
    yield job
    cache, shards.STEP, senses.SHARD, senses.BUDGET = before
    if cache is None:
        del os.environ["TREEBRIDGE_CACHE"]
    else:
        os.environ["TREEBRIDGE_CACHE"] = cache
