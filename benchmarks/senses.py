"""Senses: k = 1 … 7 and the elbow for many types, against scikit-learn in a loop.

OMP_NUM_THREADS=1 python benchmarks/senses.py [encoder] [bitext]

Processor time of one core. The authors' way is scikit-learn with ten restarts for every k (inside
yellowbrick, whose own cost is not counted here).
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from common.shared import SHARED
from sklearn.cluster import KMeans

from treebridge import Bitext
from treebridge.bridge.kmeans import cluster
from treebridge.bridge.senses import BUDGET, elbow
from treebridge.encode.encoder import Encoder

Blocks = list[np.ndarray]


def real_blocks(encoder: str, bitext: str, sentences: int = 4000) -> Blocks:
    """The vectors of every word that occurs 100 to 2 000 times."""
    text = [pair.target for pair in islice(Bitext.read(bitext), sentences)]
    words = defaultdict(list)
    for sentence, encoded in zip(text, Encoder.load(encoder).encode(text), strict=True):
        for word, vector in zip(sentence, encoded.vectors, strict=True):
            words[word.lower()].append(vector)
    blocks = [np.array(v[:2000], np.float32) for v in words.values() if len(v) > 100]
    return sorted(blocks, key=len)


def large_blocks(count: int = 3, n: int = 10_000, dim: int = 768) -> Blocks:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(count, 6, dim))
    noise = rng.normal(size=(count, n, dim))
    return [
        (c[rng.integers(0, 6, n)] + 1.5 * e).astype(np.float32)
        for c, e in zip(centres, noise, strict=True)
    ]


def types_per_second(work: Callable[[], list[list[float]]]) -> tuple[float, np.ndarray]:
    start = time.process_time()
    inertia = work()
    return len(inertia) / (time.process_time() - start), np.array(inertia)


def ours(blocks: Blocks) -> list[list[float]]:
    found, start = [], 0
    while start < len(blocks):
        size = max(1, BUDGET // min(2000, len(blocks[min(start + 7, len(blocks) - 1)])))
        group = blocks[start : start + size]
        found += cluster(group, range(start, start + len(group)))
        start += len(group)
    for each in found:
        elbow(each.inertia)
    return [each.inertia for each in found]


def scikit(blocks: Blocks, restarts: int) -> list[list[float]]:
    inertia = [
        [KMeans(k, n_init=restarts, random_state=0).fit(block).inertia_ for k in range(1, 8)]
        for block in blocks
    ]
    for each in inertia:
        elbow(each)
    return inertia


def compare(name: str, blocks: Blocks, every: int, ten: bool = True) -> None:
    ours(blocks[:2]), scikit(blocks[:1], 1)  # warm up
    speed, inertia = types_per_second(lambda: ours(blocks))
    sample = blocks[::every]
    one, inertia_one = types_per_second(lambda: scikit(sample, 1))
    print(f"{name}: {len(blocks)} types of {len(blocks[0])} to {len(blocks[-1])} vectors")
    print(f"  ours {speed:.1f} types/s; scikit-learn, 1 restart {one:.2f}; ratio {speed / one:.1f}")
    if ten:
        many, inertia_ten = types_per_second(lambda: scikit(sample, 10))
        ratio, ratio_one = inertia[::every] / inertia_ten, inertia_one / inertia_ten
        print(f"  scikit-learn, 10 restarts {many:.2f} types/s; ratio {speed / many:.1f}")
        print(
            f"  inertia against 10 restarts: ours {ratio.mean():.4f} (worst {ratio.max():.3f}), "
            f"1 restart {ratio_one.mean():.4f} (worst {ratio_one.max():.3f})"
        )


def main() -> None:
    torch.set_num_threads(1)
    encoder = sys.argv[1] if len(sys.argv) > 1 else str(SHARED / "encoders/pt-marian-tiny")
    bitext = sys.argv[2] if len(sys.argv) > 2 else str(SHARED / "data/bitext/en-pt.tsv.xz")
    if Path(bitext).exists():
        compare("real blocks", real_blocks(encoder, bitext), every=4)
    else:
        print("real blocks: no bitext here; give an encoder and a bitext as arguments")
    compare("10 000 × 768", large_blocks(), every=1, ten=False)


if __name__ == "__main__":
    main()
