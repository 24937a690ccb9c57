"""Make a bridge on a cluster: workers encode pieces of the layout and cluster types."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from treebridge.bridge import kmeans
from treebridge.bridge.make import Crew
from treebridge.bridge.senses import Labels, Shard, label_shard
from treebridge.bridge.shards import Filled, Piece, fill_piece
from treebridge.cluster.engine import (
    ClusterSettings,
    Workers,
    absolute_name,
    load_once,
    ray_workers,
)
from treebridge.cluster.storage import Arrays, Storage, name_of
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError


@dataclass(frozen=True)
class Recipe:
    """How a worker loads an encoder, and the fingerprint to expect."""

    name: str
    settings: EncoderSettings
    fingerprint: str

    @classmethod
    def of(cls, encoder: Encoder) -> Recipe:
        """The recipe of a loaded encoder."""
        settings = getattr(encoder, "settings", EncoderSettings())
        return cls(absolute_name(encoder.name), settings, encoder.fingerprint)

    def load(self) -> Encoder:
        """Load the encoder, once per process."""
        encoder: Encoder = load_once(Encoder.load, self.name, self.settings)
        if encoder.fingerprint != self.fingerprint:
            raise TreebridgeError(
                "a worker found a different encoder here; install the same one on all machines",
                file=self.name,
            )
        return encoder


@contextmanager
def ray_crew(settings: ClusterSettings) -> Iterator[Crew]:
    """Use the workers of a Ray cluster inside the block."""
    storage = Storage(settings.storage)
    storage.check()
    with ray_workers(settings) as workers:

        def fill(pieces: Iterable[Piece], source: Encoder, target: Encoder) -> Iterator[Filled]:
            recipes = Recipe.of(source), Recipe.of(target)
            work = ((name_of(piece, recipes), piece, *recipes) for piece in pieces)
            for found in _stream_through(storage, workers, _fill, work):
                yield Filled(**found)

        def label(shards: Iterable[Shard]) -> Iterator[Labels]:
            work = ((shard_name(shard), shard) for shard in shards)
            # Clustering needs no GPU.
            for found in _stream_through(storage, replace(workers, gpus=0), _label, work):
                yield found["labels"]

        yield Crew(fill, label)


def shard_name(shard: Shard) -> str:
    """A hash of everything that determines its labels, including the clustering version."""
    return name_of(kmeans.VERSION, shard.sizes, shard.seeds, shard.most, shard.vectors)


def _stream_through(
    storage: Storage,
    workers: Workers,
    work: Callable[..., Arrays],
    items: Iterable[tuple[Any, ...]],
) -> Iterator[Arrays]:
    """Yield finished pieces in order, deleting each from the storage once it was used."""
    names: deque[str] = deque()

    def tasks() -> Iterator[tuple[Any, ...]]:
        for name, *arguments in items:
            names.append(name)
            yield work, storage, name, *arguments

    for _ in workers.stream(_kept, tasks()):
        yield storage.read(names[0])
        storage.remove([names.popleft()])


def _kept(work: Callable[..., Arrays], storage: Storage, name: str, *arguments: Any) -> None:
    """Compute and store a piece in a worker, unless an earlier run stored it."""
    if not storage.has(name):
        storage.write(name, work(*arguments))


def _fill(piece: Piece, source: Recipe, target: Recipe) -> Arrays:
    return dict(fill_piece(piece, source.load(), target.load())._asdict())


def _label(shard: Shard) -> Arrays:
    return {"labels": label_shard(shard)}
