"""Measure the speed of this machine: a small run of each part of the work, in CPU time."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treebridge.bridge.isotropy import Isotropy
from treebridge.bridge.kmeans import SAMPLE, cluster
from treebridge.corpus.bitext import Pair
from treebridge.encode.encoder import Encoder

PIECES = 1.3  # per word, assumed without a tokenizer


@dataclass(frozen=True)
class Rates:
    """CPU seconds on this machine per unit of work."""

    encode: float  # per pair, both sides
    cluster: float  # per type of SAMPLE vectors
    fit: float  # per vector: isotropy and anchors
    flops: float  # per second, in a large matrix product
    memory: float  # bytes of a process with both encoders loaded
    dims: tuple[int, int]  # of source and target vectors


def measure(source: Encoder, target: Encoder, pairs: Sequence[Pair]) -> Rates:
    """Measure with the given encoders on a few pairs."""
    sides = [(source, [p.source for p in pairs]), (target, [p.target for p in pairs])]
    for encoder, sentences in sides:
        list(encoder.encode(sentences[:8]))  # warm up
    spent = sum(_seconds(lambda e=e, s=s: list(e.encode(s))) for e, s in sides)  # type: ignore[misc]
    return _rates(spent / len(pairs), (source.dim, target.dim))


def measure_bert(words: float) -> Rates:
    """Measure with two random networks the size of BERT, if no encoders are given."""
    import torch
    from transformers import BertConfig, BertModel

    network, _second = (BertModel(BertConfig()).eval() for _ in range(2))  # type: ignore[no-untyped-call]
    ids = torch.ones(8, 40, dtype=torch.long)
    with torch.inference_mode():
        network(ids)  # warm up
        spent = _seconds(lambda: network(ids))
    return _rates(spent / ids.numel() * words * PIECES, (768, 768))


def _rates(encode: float, dims: tuple[int, int]) -> Rates:
    import torch

    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(SAMPLE, dims[1])).astype(np.float32)
    cluster([vectors[:200]], [0])  # warm up
    many = np.tile(vectors, (4, 1))
    square = torch.ones(1024, 1024)
    torch.mm(square, square)
    return Rates(
        encode,
        _seconds(lambda: cluster([vectors], [0])),
        2 * _seconds(lambda: Isotropy.fit(many)) / len(many),  # both sides
        2 * 1024**3 / _seconds(lambda: torch.mm(square, square)),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0,
        dims,
    )


def _seconds(work: Callable[[], object]) -> float:
    """CPU time of a call, which other work on the machine hardly affects."""
    start = time.process_time()
    work()
    return max(time.process_time() - start, 1e-6)
