"""The crew of a bridge on a cluster, which encodes pieces of the layout and clusters types."""

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
from treebridge.cluster.engine import ClusterSettings, Workers, from_anywhere, held, ray_workers
from treebridge.cluster.storage import Arrays, Storage, name_of
from treebridge.encode.encoder import Encoder
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError


@dataclass(frozen=True)
class Recipe:
    """How a worker loads an encoder, and which one it must be."""

    name: str
    settings: EncoderSettings
    fingerprint: str

    @classmethod
    def of(cls, encoder: Encoder) -> Recipe:
        """Of an encoder that is loaded here."""
        settings = getattr(encoder, "settings", EncoderSettings())
        return cls(from_anywhere(encoder.name), settings, encoder.fingerprint)

    def load(self) -> Encoder:
        """The encoder, once in a process."""
        encoder: Encoder = held(Encoder.load, self.name, self.settings)
        if encoder.fingerprint != self.fingerprint:
            raise TreebridgeError(
                "the encoder of a worker is another one than here; give all machines the same",
                file=self.name,
            )
        return encoder


@contextmanager
def ray_crew(settings: ClusterSettings) -> Iterator[Crew]:
    """Workers of a Ray cluster, for as long as the block lasts."""
    storage = Storage(settings.storage)
    storage.check()
    with ray_workers(settings) as workers:

        def fill(pieces: Iterable[Piece], source: Encoder, target: Encoder) -> Iterator[Filled]:
            recipes = Recipe.of(source), Recipe.of(target)
            work = ((name_of(piece, recipes), piece, *recipes) for piece in pieces)
            for found in _through(storage, workers, _fill, work):
                yield Filled(**found)

        def label(shards: Iterable[Shard]) -> Iterator[Labels]:
            work = ((shard_name(shard), shard) for shard in shards)
            # Clustering needs no GPU.
            for found in _through(storage, replace(workers, gpus=0), _label, work):
                yield found["labels"]

        yield Crew(fill, label)


def shard_name(shard: Shard) -> str:
    """Of all that decides its labels, the version of the clustering included."""
    return name_of(kmeans.VERSION, shard.sizes, shard.seeds, shard.most, shard.vectors)


def _through(
    storage: Storage,
    workers: Workers,
    work: Callable[..., Arrays],
    items: Iterable[tuple[Any, ...]],
) -> Iterator[Arrays]:
    """Each finished piece in order; it leaves the storage when the next is asked for."""
    names: deque[str] = deque()

    def tasks() -> Iterator[tuple[Any, ...]]:
        for name, *arguments in items:
            names.append(name)
            yield work, storage, name, *arguments

    for _ in workers.stream(_kept, tasks()):
        yield storage.read(names[0])
        storage.remove([names.popleft()])


def _kept(work: Callable[..., Arrays], storage: Storage, name: str, *arguments: Any) -> None:
    """Do a piece in a worker, unless an earlier run has finished it."""
    if not storage.has(name):
        storage.write(name, work(*arguments))


def _fill(piece: Piece, source: Recipe, target: Recipe) -> Arrays:
    return dict(fill_piece(piece, source.load(), target.load())._asdict())


def _label(shard: Shard) -> Arrays:
    return {"labels": label_shard(shard)}
