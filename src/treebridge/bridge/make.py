"""From a bitext to a bridge; the result of every step is cached."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treebridge.alignment.links import Links
from treebridge.alignment.pharaoh import read_pharaoh
from treebridge.alignment.run import align
from treebridge.alignment.settings import AlignSettings
from treebridge.bridge import kmeans
from treebridge.bridge.bridge import Bridge
from treebridge.bridge.collect import Occurrences, Pairs, collect
from treebridge.bridge.fit import Prepared, fit_prepared, judge, prepare
from treebridge.bridge.layout import Chooser, LinkArray
from treebridge.bridge.quality import HeldOut, collect_held_out
from treebridge.bridge.sense_report import describe_senses
from treebridge.bridge.senses import Label, label_here, sense_labels
from treebridge.bridge.settings import BridgeSettings, FitSettings
from treebridge.bridge.shards import Fill, fill_here
from treebridge.bridge.sides import check_sides
from treebridge.bridge.space import Space
from treebridge.corpus.bitext import Bitext, Pair
from treebridge.encode.cache import cache_folder
from treebridge.encode.encoder import Encoder
from treebridge.encode.kept import keep_arrays, kept_arrays
from treebridge.errors import TreebridgeError
from treebridge.keys import digest_files, key_of
from treebridge.progress import QUIET, Progress


@dataclass(frozen=True)
class Crew:
    """The functions that encode and cluster: in this process, or on a cluster."""

    fill: Fill = fill_here
    label: Label = label_here


@dataclass
class Gathered:
    """Links and occurrences of a bitext under two encoders: the input to fitting a bridge."""

    bitext: Bitext
    source: Encoder
    target: Encoder
    settings: BridgeSettings
    progress: Progress
    links: Links
    occurrences: Occurrences
    key: str  # a hash of bitext, links, encoders and collect settings
    crew: Crew = field(default_factory=Crew)
    _prepared: dict[str, Prepared] = field(default_factory=dict)

    @property
    def pairs(self) -> Pairs:
        """A function that starts a pass over the bitext with its links."""
        return _walk(self.bitext, self.links)

    @cached_property
    def held_out(self) -> HeldOut:
        """Held-out pairs for evaluation."""
        chooser = Chooser(self.source, self.target, self.settings.collect)
        return collect_held_out(self.pairs(), chooser)

    def labels(self, seed: int) -> NDArray[np.int8]:
        """The sense of every occurrence, cached: it depends on target vectors only."""
        most = self.settings.senses
        name = key_of(self.key, seed, kmeans.VERSION, most)
        path = cache_folder("senses") / f"{name}.safetensors"
        layout = self.occurrences.layout
        kept = kept_arrays(path, {"labels": np.int8})
        if kept and len(kept["labels"]) == len(layout):
            return kept["labels"]
        labels = sense_labels(
            self.occurrences.target, layout.offsets, layout.types,
            seed=seed, most=most, progress=self.progress, label=self.crew.label,
        )  # fmt: skip
        keep_arrays(path, {"labels": labels})
        return labels

    @cached_property
    def target_words(self) -> int:
        """Number of words on the target side."""
        return int(np.sum([len(pair.target) for pair in self.bitext]))

    def prepared(self, into: Space | None, fit: FitSettings) -> Prepared:
        """What maps are fitted on; shared by settings that differ in the map only."""
        shared = replace(fit, map="auto", translation=False, weighting="none")
        name = key_of(asdict(shared), into and _means_key(into))
        if name not in self._prepared:
            labels = self.labels(fit.seed) if fit.level == "sense" else None
            self._prepared[name] = prepare(self.occurrences, self.source, into, fit, labels=labels)
        return self._prepared[name]

    def fit(self, into: Space | None, fit: FitSettings) -> Bridge:
        """Fit a bridge without evaluating it."""
        prepared = self.prepared(into, fit)
        return fit_prepared(prepared, self.occurrences, self.source, self.target, into, fit)

    def bridge(self, into: Space | None, fit: FitSettings, *, sense_report: bool = True) -> Bridge:
        """Fit and evaluate a bridge; `sense_report` takes another pass over the bitext."""
        self.progress.step("finding senses, fitting the map")
        bridge = self.fit(into, fit)
        self.progress.step("evaluating on held-out pairs")
        judge(bridge, self.occurrences, self.held_out)
        if sense_report:
            found = self.prepared(into, fit)
            bridge.senses = describe_senses(
                self.occurrences, found.labels, found.anchors, self.pairs()
            )
        _describe(bridge, self)
        return bridge


def make_bridge(
    bitext: Bitext,
    source: Encoder,
    target: Encoder,
    into: Space | None = None,
    settings: BridgeSettings | None = None,
    progress: Progress = QUIET,
    crew: Crew | None = None,
) -> Bridge:
    """Align, collect, fit and evaluate."""
    settings = settings or BridgeSettings()
    if into:
        into.check(source)
    from treebridge.bridge.rounds import bridge_in_rounds

    known = into.words if into else ()
    gathered = gather(bitext, source, target, settings, progress, crew, known)
    return bridge_in_rounds(gathered, into, settings.fit, settings.rounds)


def gather(
    bitext: Bitext,
    source: Encoder,
    target: Encoder,
    settings: BridgeSettings | None = None,
    progress: Progress = QUIET,
    crew: Crew | None = None,
    known: Collection[str] = (),
) -> Gathered:
    """Align and collect; `known` are common source words, used to detect swapped sides."""
    settings, crew = settings or BridgeSettings(), crew or Crew()
    key = gathered_key(bitext, source, target, settings)
    if settings.check_sides:
        check_sides(bitext, source, target, known, file=bitext.paths[0])
    progress.step("aligning words")
    links = find_links(bitext, settings, progress)
    progress.step("collecting occurrences")
    folder = cache_folder("occurrences") / key
    pairs = _walk(bitext, links)
    found = collect(
        pairs, source, target, settings.collect, folder, progress=progress, fill=crew.fill
    )
    if not len(found):
        raise TreebridgeError(
            f"no word occurs {settings.collect.min_per_type} times among the {links.total:,} links "
            f"of {len(links):,} pairs; give more parallel text"
        )
    return Gathered(bitext, source, target, settings, progress, links, found, key, crew)


def gathered_key(bitext: Bitext, source: Encoder, target: Encoder, settings: BridgeSettings) -> str:
    """A hash of everything that determines what `gather` returns, without gathering it."""
    links, collected = _links_key(bitext, settings), asdict(settings.collect)
    return key_of(links, source.cache_key, target.cache_key, collected)


def bridge_key(
    bitext: Bitext, source: Encoder, target: Encoder, into: Space | None, settings: BridgeSettings
) -> str:
    """A hash of everything that determines a bridge."""
    means = into and _means_key(into)
    gathered = gathered_key(bitext, source, target, settings)
    return key_of(gathered, asdict(settings.fit), settings.senses, settings.rounds, means)


def _means_key(space: Space) -> str:
    return hashlib.sha256(space.isotropy.means.tobytes()).hexdigest()


def find_links(bitext: Bitext, settings: BridgeSettings, progress: Progress = QUIET) -> Links:
    """One-to-one links: from a file, from the cache, or from our aligner."""
    if settings.links:
        return read_pharaoh(settings.links, bitext).one_to_one()
    how = AlignSettings(settings.aligner, settings.symmetrize)
    return kept_links(_links_key(bitext, settings), lambda: align(bitext, how, progress=progress))


def kept_links(key: str, make: Callable[[], Links]) -> Links:
    """Load links from the cache, or make and cache them."""
    path = cache_folder("links") / f"{key}.safetensors"
    kept = kept_arrays(path, {"source": np.uint16, "target": np.uint16, "at": np.int64})
    if kept:
        links = Links(kept["source"], kept["target"], kept["at"])
        if links.is_consistent():
            return links
    links = make()
    keep_arrays(path, {"source": links.source, "target": links.target, "at": links.at})
    return links


def _walk(bitext: Bitext, links: Links) -> Pairs:
    def walk() -> Iterator[tuple[Pair, LinkArray]]:
        return zip(bitext, links, strict=False)  # links may cover more pairs than a limited bitext

    return walk


def _links_key(bitext: Bitext, settings: BridgeSettings) -> str:
    """A hash of the bitext and everything that determines its links."""
    paths = [*bitext.paths, *([settings.links] if settings.links else [])]
    if "-" in map(str, paths):
        raise TreebridgeError("a bitext is read several times; give a file, not standard input (-)")
    how = [bitext.source_language, bitext.language, bitext.rules, asdict(bitext.filters),
           bitext.limit, settings.aligner, settings.symmetrize]  # fmt: skip
    return key_of(digest_files(paths), how)


def _describe(bridge: Bridge, gathered: Gathered) -> None:
    bitext, links, settings = gathered.bitext, gathered.links, gathered.settings
    bridge.made |= {
        "bitext": " + ".join(Path(path).name for path in bitext.paths),
        "target_language": bitext.language,
        "pairs": len(links),
        "links_from": (settings.links and Path(settings.links).name) or settings.aligner,
        "symmetrize": settings.symmetrize,
        **{f"collect_{key}": value for key, value in asdict(settings.collect).items()},
    }
    bridge.quality = {
        "links": links.total,
        "linked_target_words": links.total / max(1, gathered.target_words),
        **bridge.quality,
    }
