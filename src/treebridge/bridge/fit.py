"""Fit a bridge on occurrences: anchors, isotropy, the map and its quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.collect import Occurrences
from treebridge.bridge.isotropy import BLOCK, Isotropy, anisotropy, unit
from treebridge.bridge.mapping import (
    ROWS,
    WEIGHTINGS,
    Matrix,
    Moments,
    Vector,
    affine,
    rcsls,
)
from treebridge.bridge.memmap import pick, release
from treebridge.bridge.quality import HeldOut, chance_level, mean_cosine, retrieval, verdict
from treebridge.bridge.senses import Anchors, anchors, sense_labels
from treebridge.bridge.settings import FitSettings
from treebridge.bridge.space import Space
from treebridge.encode.encoder import Encoder
from treebridge.errors import TreebridgeError
from treebridge.progress import QUIET, Progress


@dataclass(frozen=True)
class Prepared:
    """What maps are fitted on: anchors, normalised on both sides."""

    anchors: Anchors
    labels: NDArray[np.int8]  # the sense of each occurrence
    left: Isotropy  # of the target
    right: Isotropy  # of the source
    x: NDArray[np.float32]  # [anchors, target dim]
    y: NDArray[np.float32]  # [anchors, source dim]


def fit_bridge(
    occurrences: Occurrences,
    source: Encoder,
    target: Encoder,
    into: Space | None,
    settings: FitSettings,
    *,
    labels: NDArray[np.int8] | None = None,
    progress: Progress = QUIET,
) -> tuple[Bridge, Anchors, NDArray[np.int8]]:
    """Fit a map into a parser's space `into`, or into one fitted on these occurrences.

    `labels` gives the sense of each occurrence if already known.
    """
    prepared = prepare(occurrences, source, into, settings, labels=labels, progress=progress)
    bridge = fit_prepared(prepared, occurrences, source, target, into, settings)
    return bridge, prepared.anchors, prepared.labels


def prepare(
    occurrences: Occurrences,
    source: Encoder,
    into: Space | None,
    settings: FitSettings,
    *,
    labels: NDArray[np.int8] | None = None,
    progress: Progress = QUIET,
) -> Prepared:
    """Everything before the map: senses, isotropy and anchors. The kind of map plays no role."""
    _check(settings, source, into)
    layout = occurrences.layout
    if settings.level != "sense":
        labels = np.zeros(len(layout), np.int8)
    elif labels is None:
        labels = sense_labels(
            occurrences.target, layout.offsets, layout.types, seed=settings.seed, progress=progress
        )
    if settings.paper:
        found, left, right = _paper_anchors(occurrences, labels, settings)
        x, y = left.transform(found.target), right.transform(found.source)
        return Prepared(found, labels, left, right, x, y)
    # Neither a few very frequent words nor many rare ones should dominate the mean.
    sizes = np.diff(layout.offsets)
    balanced = np.repeat(sizes**-0.5, sizes)
    counted = balanced if settings.means == "balanced" else None
    left = _fit_isotropy(occurrences.target, settings, counted)
    right = into.isotropy if into else _fit_isotropy(occurrences.source, settings, balanced)
    found = anchors(
        occurrences.target, occurrences.source, layout.offsets, labels,
        left.transform, right.transform,
    )  # fmt: skip
    return Prepared(found, labels, left, right, _unit(found.target), _unit(found.source))


def fit_prepared(
    prepared: Prepared,
    occurrences: Occurrences,
    source: Encoder,
    target: Encoder,
    into: Space | None,
    settings: FitSettings,
) -> Bridge:
    """Fit the map of the settings on what was prepared."""
    settings = settings.plain()
    left, right, x, y = prepared.left, prepared.right, prepared.x, prepared.y
    if settings.level == "occurrence":
        moments = _occurrence_moments(occurrences, left, right, settings)
        w, b = affine(moments, settings.map, translation=settings.translation)
    else:
        w, b = _fit_map(x, y, prepared.anchors.counts, settings)
    space = into or Space.of(source, right)
    bridge = Bridge(Space.of(target, left), space, w, made=settings.as_dict(), translation=b)
    bridge.quality = {
        "occurrences": len(occurrences),
        "types": len(occurrences.layout.types),
        "anchors": len(prepared.anchors),
        "types_with_several_senses": int((np.bincount(prepared.anchors.types) > 1).sum()),
        "anchor_cosine": mean_cosine(x @ w.T.astype(np.float32) + b.astype(np.float32), y),
    }
    return bridge


def judge(bridge: Bridge, occurrences: Occurrences, held: HeldOut) -> None:
    """Measure the bridge on held-out sentence pairs and add the figures to its quality."""
    mapped = bridge.transform(held.target)
    there = bridge.into.transform(held.source)
    to_source = retrieval(mapped, held.source_words, there, held.source_words)
    quality: dict[str, Any] = {
        "anisotropy": {
            "target": anisotropy(occurrences.target),
            "target_isotropic": anisotropy(bridge.target.transform(_sample(occurrences.target))),
            "source": anisotropy(occurrences.source),
            "source_isotropic": anisotropy(bridge.into.transform(_sample(occurrences.source))),
        },
        "held_out": len(held),
        "cosine_unmapped": mean_cosine(held.target, held.source),
        "cosine": mean_cosine(mapped, there),
        "target_to_source": to_source,
        "source_to_target": retrieval(there, held.target_words, mapped, held.target_words),
        "unmapped": retrieval(held.target, held.source_words, held.source, held.source_words),
        "chance": chance_level(held.source_words) if len(held) else float("nan"),
    }
    bridge.quality |= quality
    if to_source:
        bridge.quality["verdict"] = verdict(to_source["csls_p1"], quality["chance"])


def _check(settings: FitSettings, source: Encoder, into: Space | None) -> None:
    if into is None:
        return
    into.check(source)
    if bool(len(into.isotropy.means)) != settings.isotropy:
        had = "with" if len(into.isotropy.means) else "without"
        raise TreebridgeError(
            f"the parser was trained {had} isotropy; fit the bridge {had} isotropy too"
        )


def _fit_isotropy(
    vectors: NDArray[np.floating],
    settings: FitSettings,
    weights: NDArray[np.floating] | None = None,
) -> Isotropy:
    if not settings.isotropy:
        return Isotropy.none(vectors.shape[1])
    return Isotropy.fit(vectors, weights=weights)


def _paper_anchors(
    occurrences: Occurrences, labels: NDArray[np.int8], settings: FitSettings
) -> tuple[Anchors, Isotropy, Isotropy]:
    """As in the paper: anchors are means of raw vectors, and each side is normalised separately."""
    found = anchors(occurrences.target, occurrences.source, occurrences.layout.offsets, labels)
    return found, _fit_isotropy(found.target, settings), _fit_isotropy(found.source, settings)


def _occurrence_moments(
    occurrences: Occurrences, left: Isotropy, right: Isotropy, settings: FitSettings
) -> Moments:
    """Treat every occurrence as an anchor; together those of a type weigh as much as its anchor."""
    moments = Moments(occurrences.target.shape[1], occurrences.source.shape[1])
    sizes = np.diff(occurrences.layout.offsets)
    counts = sizes.astype(np.float64)
    weights = np.repeat(WEIGHTINGS[settings.weighting](counts) / counts, sizes)
    for start in range(0, len(occurrences), BLOCK):
        here = slice(start, start + BLOCK)
        moments.add(
            left.transform(occurrences.target[here]),
            right.transform(occurrences.source[here]),
            weights[here],
        )
        release(occurrences.target)
        release(occurrences.source)
    return moments


def _fit_map(
    x: NDArray[np.float32], y: NDArray[np.float32], counts: NDArray[np.int64], settings: FitSettings
) -> tuple[Matrix, Vector]:
    if settings.map == "rcsls":
        return rcsls(x, y), np.zeros(y.shape[1])
    moments = Moments(x.shape[1], y.shape[1])
    moments.add(x, y, WEIGHTINGS[settings.weighting](counts.astype(np.float64)))
    return affine(moments, settings.map, translation=settings.translation)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    made = np.empty_like(vectors)
    for start in range(0, len(vectors), ROWS):
        made[start : start + ROWS] = unit(vectors[start : start + ROWS].astype(np.float64))
    return made


def _sample(vectors: NDArray[np.floating], n: int = 4000) -> NDArray[np.floating]:
    chosen = np.random.default_rng(1).choice(len(vectors), min(n, len(vectors)), replace=False)
    return pick(vectors, np.sort(chosen))
