"""Further rounds: words linked anew by their mapped vectors, and the bridge fitted again.

After SimAlign (Jalili Sabet et al. 2020) and awesome-align (Dou & Neubig 2021): two words that are
nearest to each other are linked. Such links join those of the aligner, which knows how often words
met in the whole bitext, where vectors see one sentence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from treebridge.alignment.links import Links
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.collect import collect
from treebridge.bridge.isotropy import unit
from treebridge.bridge.layout import LinkArray
from treebridge.bridge.make import Gathered, kept_links
from treebridge.bridge.settings import FitSettings
from treebridge.bridge.shards import STEP
from treebridge.bridge.space import Space
from treebridge.corpus.bitext import Pair
from treebridge.encode.cache import cache_folder
from treebridge.encode.encoder import Encoder

DISTORTION = 0.5  # of a cosine, for a word at the beginning and another at the end
LEAST = 0.3  # cosine; what is less alike is not linked


def bridge_in_rounds(
    gathered: Gathered,
    into: Space | None,
    fit: FitSettings,
    rounds: int,
    *,
    sense_report: bool = True,
) -> Bridge:
    """The bridge of the last round that found more held-out words than the one before it.

    All rounds are judged by the same pairs, with the aligner's links.
    """
    best = gathered.bridge(into, fit, sense_report=sense_report)
    held_out = gathered.held_out
    for number in range(2, rounds + 1):
        gathered.progress.step(f"round {number}: linking words by their vectors")
        gathered = next_round(gathered, best)
        gathered.held_out = held_out
        bridge = gathered.bridge(into, fit, sense_report=sense_report)
        before, after = _found(best), _found(bridge)
        gathered.progress.step(f"round {number}: P@1 {before:.2f} → {after:.2f} % held out")
        if not after > before:
            break
        best = bridge
        best.made["rounds"] = number
    return best


def next_round(gathered: Gathered, bridge: Bridge) -> Gathered:
    """Links joined by what a bridge sees, and their occurrences; kept like the first ones."""
    digest = hashlib.sha256(gathered.key.encode())
    for array in (bridge.w, bridge.target.isotropy.means, bridge.into.isotropy.means):
        digest.update(np.ascontiguousarray(array).data)
    key = digest.hexdigest()[:32]
    links = kept_links(key, lambda: relink(gathered, bridge, key))
    for part in cache_folder("links").glob(f"{key}-*"):  # the whole is kept now
        part.unlink(missing_ok=True)
    again = replace(gathered, links=links, key=key)
    again.progress.step("collecting occurrences")
    again.occurrences = collect(
        again.pairs,
        again.source,
        again.target,
        again.settings.collect,
        cache_folder("occurrences") / key,
        progress=again.progress,
        fill=again.crew.fill,
    )
    return again


def relink(gathered: Gathered, bridge: Bridge, key: str) -> Links:
    """The aligner's links, and those of mutual neighbours between words that have none.

    Encoding takes long: what is linked is kept piece by piece, and an interrupted run goes on.
    """
    walk = iter(gathered.progress.count(gathered.pairs(), "pairs"))
    found: list[LinkArray] = []
    for number, chunk in enumerate(iter(lambda: list(islice(walk, STEP)), [])):
        make = partial(_relink_some, chunk, gathered.source, gathered.target, bridge)
        found += kept_links(f"{key}-{number}", make)
    return Links.stack(found)


def _relink_some(
    chunk: Sequence[tuple[Pair, LinkArray]], source: Encoder, target: Encoder, bridge: Bridge
) -> Links:
    alike = cosines([pair for pair, _ in chunk], source, target, bridge)
    return Links.stack([
        join(links, mutual_neighbours(matrix))
        for (_, links), matrix in zip(chunk, alike, strict=True)
    ])  # fmt: skip


def cosines(
    pairs: Sequence[Pair], source: Encoder, target: Encoder, bridge: Bridge
) -> list[NDArray[np.float64]]:
    """How alike the words of each pair are in the bridge's source space: [source, target]."""
    sides = []
    for encoder, sentences, carry in (
        (source, [pair.source for pair in pairs], bridge.into.transform),
        (target, [pair.target for pair in pairs], bridge.transform),
    ):
        vectors = [encoded.vectors for encoded in encoder.encode(sentences)]
        rows = unit(carry(np.concatenate(vectors)).astype(np.float64))
        sides.append(np.split(rows, np.cumsum([len(part) for part in vectors])[:-1]))
    return [left @ right.T for left, right in zip(*sides, strict=True)]


def mutual_neighbours(
    cosines: NDArray[np.floating], distortion: float = DISTORTION, least: float = LEAST
) -> LinkArray:
    """Links between words that are each other's best: alike, and at a like place in the sentence.

    `cosines` is [source words, target words].
    """
    places = [np.arange(n) / max(1, n - 1) for n in cosines.shape]
    scores = cosines - distortion * (places[0][:, None] - places[1]) ** 2
    target = scores.argmax(1)  # the best target word of each source word
    source = np.arange(len(cosines))
    mutual = (scores.argmax(0)[target] == source) & (cosines[source, target] >= least)
    return np.stack([source[mutual], target[mutual]], 1).astype(np.int64)


def join(first: LinkArray, second: LinkArray) -> LinkArray:
    """The first links, and the second ones between words that have no first; sorted."""
    free = ~(np.isin(second[:, 0], first[:, 0]) | np.isin(second[:, 1], first[:, 1]))
    both = np.concatenate([first, second[free]])
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def _found(bridge: Bridge) -> float:
    """P@1 from target to source, with CSLS; 0 where nothing was held out."""
    return float(bridge.quality["target_to_source"].get("csls_p1", 0.0))
