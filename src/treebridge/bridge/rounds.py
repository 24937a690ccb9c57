"""Further rounds: re-align words by their mapped vectors and fit the bridge again.

As in SimAlign (Jalili Sabet et al. 2020) and awesome-align (Dou & Neubig 2021), words that are
mutual nearest neighbours are linked. These links are added to the aligner's, which come from
co-occurrence in the whole bitext, while vectors see one sentence.
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

DISTORTION = 0.5  # cosine penalty between the first word of a sentence and the last
MIN_COSINE = 0.3  # below this, words are not linked


def bridge_in_rounds(
    gathered: Gathered,
    into: Space | None,
    fit: FitSettings,
    rounds: int,
    *,
    sense_report: bool = True,
) -> Bridge:
    """Fit bridges in rounds until held-out P@1 stops improving; return the best.

    All rounds are evaluated on the same held-out pairs, with the aligner's links.
    """
    best = gathered.bridge(into, fit, sense_report=sense_report)
    held_out = gathered.held_out
    for number in range(2, rounds + 1):
        gathered.progress.step(f"round {number}: re-aligning words with the bridge")
        gathered = next_round(gathered, best)
        gathered.held_out = held_out
        bridge = gathered.bridge(into, fit, sense_report=sense_report)
        before, after = _held_out_p1(best), _held_out_p1(bridge)
        gathered.progress.step(f"round {number}: held-out P@1 {before:.2f} → {after:.2f} %")
        if not after > before:
            break
        best = bridge
        best.made["rounds"] = number
    return best


def next_round(gathered: Gathered, bridge: Bridge) -> Gathered:
    """Add links found with the bridge and collect occurrences again; both are cached."""
    digest = hashlib.sha256(gathered.key.encode())
    means = bridge.target.isotropy.means, bridge.into.isotropy.means
    for array in (bridge.w, bridge.translation, *means):
        digest.update(np.ascontiguousarray(array).data)
    key = digest.hexdigest()[:32]
    links = kept_links(key, lambda: relink(gathered, bridge, key))
    for part in cache_folder("links").glob(f"{key}-*"):  # all links are cached under `key` now
        part.unlink(missing_ok=True)
    again = replace(gathered, links=links, key=key, _prepared={})
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
    """The aligner's links, plus mutual nearest neighbours among unlinked words.

    Encoding is slow, so results are cached in chunks and an interrupted run resumes.
    """
    walk = iter(gathered.progress.count(gathered.pairs(), "pairs"))
    found: list[LinkArray] = []
    for number, chunk in enumerate(iter(lambda: list(islice(walk, STEP)), [])):
        make = partial(_relink_chunk, chunk, gathered.source, gathered.target, bridge)
        found += kept_links(f"{key}-{number}", make)
    return Links.stack(found)


def _relink_chunk(
    chunk: Sequence[tuple[Pair, LinkArray]], source: Encoder, target: Encoder, bridge: Bridge
) -> Links:
    similarities = cosines([pair for pair, _ in chunk], source, target, bridge)
    return Links.stack([
        join(links, mutual_neighbours(matrix))
        for (_, links), matrix in zip(chunk, similarities, strict=True)
    ])  # fmt: skip


def cosines(
    pairs: Sequence[Pair], source: Encoder, target: Encoder, bridge: Bridge
) -> list[NDArray[np.float64]]:
    """Cosines between the words of each pair in the source space: [source, target]."""
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
    cosines: NDArray[np.floating], distortion: float = DISTORTION, least: float = MIN_COSINE
) -> LinkArray:
    """Link words that are each other's best match, by cosine and relative position.

    `cosines` is [source words, target words].
    """
    places = [np.arange(n) / max(1, n - 1) for n in cosines.shape]
    scores = cosines - distortion * (places[0][:, None] - places[1]) ** 2
    target = scores.argmax(1)  # the best target word of each source word
    source = np.arange(len(cosines))
    mutual = (scores.argmax(0)[target] == source) & (cosines[source, target] >= least)
    return np.stack([source[mutual], target[mutual]], 1).astype(np.int64)


def join(first: LinkArray, second: LinkArray) -> LinkArray:
    """The first links, plus the second ones between words without a first link; sorted."""
    free = ~(np.isin(second[:, 0], first[:, 0]) | np.isin(second[:, 1], first[:, 1]))
    both = np.concatenate([first, second[free]])
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def _held_out_p1(bridge: Bridge) -> float:
    """Held-out P@1 from target to source with CSLS; 0 if nothing was held out."""
    return float(bridge.quality["target_to_source"].get("csls_p1", 0.0))
