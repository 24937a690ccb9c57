"""The whole way from a bitext to a bridge; every step is kept and not done twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treebridge.align.encoded import encode
from treebridge.align.engines import DEFAULT, engine
from treebridge.align.links import Links
from treebridge.align.pharaoh import read_pharaoh
from treebridge.align.symmetrize import symmetrize
from treebridge.align.threads import Threads
from treebridge.bridge import kmeans
from treebridge.bridge.bridge import Bridge, BridgeSettings
from treebridge.bridge.collect import Occurrences, Pairs, collect
from treebridge.bridge.dossier import describe_senses
from treebridge.bridge.fit import fit_bridge, judge
from treebridge.bridge.kmeans import MAX_K
from treebridge.bridge.layout import Chooser, CollectSettings, LinkArray
from treebridge.bridge.pieces import Fill, fill_here
from treebridge.bridge.quality import HeldOut, collect_held_out
from treebridge.bridge.senses import Label, label_here, sense_labels
from treebridge.bridge.sides import check_sides
from treebridge.bridge.space import Space
from treebridge.corpus.bitext import Bitext, Pair
from treebridge.encode.cache import cache_folder
from treebridge.encode.encoder import Encoder
from treebridge.encode.kept import keep_arrays, kept_arrays
from treebridge.errors import TreebridgeError
from treebridge.keys import digest_files, key_of


@dataclass(frozen=True)
class MakeSettings:
    """All that decides a bridge beside bitext and encoders."""

    fit: BridgeSettings = field(default_factory=BridgeSettings)
    collect: CollectSettings = field(default_factory=CollectSettings)
    aligner: str = DEFAULT
    symmetrize: str = "intersection"
    links: str | None = None  # a Pharaoh file instead of our aligner
    senses: int = MAX_K  # a word has at most so many
    rounds: int = 1  # more: words are linked anew by the bridge itself, at most so often
    check_sides: bool = True  # refuse a bitext whose sides look swapped


@dataclass(frozen=True)
class Reports:
    """Who is told how far each step is: wrappers of iterables, and the aligner's own meter."""

    pairs: Callable[[Iterable[Any]], Iterable[Any]] = iter
    senses: Callable[[Iterable[Any]], Iterable[Any]] = iter
    align: Callable[[str, float], None] = lambda stage, share: None
    step: Callable[[str], None] = lambda what: None


@dataclass(frozen=True)
class Crew:
    """Who encodes and who clusters: this process, or those that `treebridge.cluster` leads."""

    fill: Fill = fill_here
    label: Label = label_here


@dataclass
class Gathered:
    """All that a bitext gives two encoders: every bridge between them is fitted on this."""

    bitext: Bitext
    source: Encoder
    target: Encoder
    settings: MakeSettings
    reports: Reports
    links: Links
    occurrences: Occurrences
    key: str  # a hash of bitext, links, encoders and what was collected
    crew: Crew = field(default_factory=Crew)

    @property
    def pairs(self) -> Pairs:
        """A walk through the bitext with its links."""
        return _walk(self.bitext, self.links)

    @cached_property
    def held_out(self) -> HeldOut:
        """Pairs to judge by."""
        chooser = Chooser(self.source, self.target, self.settings.collect)
        return collect_held_out(self.pairs(), chooser)

    def labels(self, seed: int) -> NDArray[np.int8]:
        """The sense of every occurrence; found once, as they depend on target vectors only."""
        most = self.settings.senses
        name = key_of(self.key, seed, kmeans.VERSION, most)
        path = cache_folder("senses") / f"{name}.safetensors"
        layout = self.occurrences.layout
        kept = kept_arrays(path, {"labels": np.int8})
        if kept and len(kept["labels"]) == len(layout):
            return kept["labels"]
        labels = sense_labels(
            self.occurrences.target, layout.offsets, layout.types,
            seed=seed, most=most, watch=self.reports.senses, label=self.crew.label,
        )  # fmt: skip
        keep_arrays(path, {"labels": labels})
        return labels

    @cached_property
    def target_words(self) -> int:
        """All words of the target side."""
        return int(np.sum([len(pair.target) for pair in self.bitext]))

    def bridge(self, into: Space | None, fit: BridgeSettings, *, dossier: bool = True) -> Bridge:
        """Fit and judge; the dossier of senses, for people, takes a walk through the bitext."""
        self.reports.step("finding senses, fitting the map")
        labels = self.labels(fit.seed) if fit.level == "sense" else None
        bridge, anchors, labels = fit_bridge(
            self.occurrences, self.source, self.target, into, fit, labels=labels
        )
        self.reports.step("judging by held-out pairs")
        judge(bridge, self.occurrences, self.held_out)
        if dossier:
            bridge.senses = describe_senses(self.occurrences, labels, anchors, self.pairs())
        _describe(bridge, self)
        return bridge


def make_bridge(
    bitext: Bitext,
    source: Encoder,
    target: Encoder,
    into: Space | None = None,
    settings: MakeSettings | None = None,
    reports: Reports | None = None,
    crew: Crew | None = None,
) -> Bridge:
    """Align, collect, fit and judge."""
    settings = settings or MakeSettings()
    if into:
        into.check(source)
    from treebridge.bridge.rounds import bridge_in_rounds

    known = into.words if into else ()
    gathered = gather(bitext, source, target, settings, reports, crew, known)
    return bridge_in_rounds(gathered, into, settings.fit, settings.rounds)


def gather(
    bitext: Bitext,
    source: Encoder,
    target: Encoder,
    settings: MakeSettings | None = None,
    reports: Reports | None = None,
    crew: Crew | None = None,
    known: Collection[str] = (),
) -> Gathered:
    """Align and collect; `known` are common words of the source, by which its side is checked."""
    settings, reports, crew = settings or MakeSettings(), reports or Reports(), crew or Crew()
    key = gathered_key(bitext, source, target, settings)
    if settings.check_sides:
        check_sides(bitext, source, target, known, file=bitext.paths[0])
    reports.step("aligning words")
    links = find_links(bitext, settings, reports)
    reports.step("collecting occurrences")
    folder = cache_folder("occurrences") / key
    pairs = _walk(bitext, links)
    found = collect(
        pairs, source, target, settings.collect, folder, watch=reports.pairs, fill=crew.fill
    )
    if not len(found):
        raise TreebridgeError(
            f"no word occurs {settings.collect.min_per_type} times among {links.total:,} links of "
            f"{len(links):,} pairs; give more parallel text"
        )
    return Gathered(bitext, source, target, settings, reports, links, found, key, crew)


def gathered_key(bitext: Bitext, source: Encoder, target: Encoder, settings: MakeSettings) -> str:
    """A hash of all that decides what is gathered, known before any of it is done."""
    links, collected = _links_key(bitext, settings), asdict(settings.collect)
    return key_of(links, source.cache_key, target.cache_key, collected)


def bridge_key(
    bitext: Bitext, source: Encoder, target: Encoder, into: Space | None, settings: MakeSettings
) -> str:
    """A hash of all that decides a bridge."""
    means = hashlib.sha256(into.isotropy.means.tobytes()).hexdigest() if into else None
    gathered = gathered_key(bitext, source, target, settings)
    return key_of(gathered, asdict(settings.fit), settings.senses, settings.rounds, means)


def find_links(bitext: Bitext, settings: MakeSettings, reports: Reports) -> Links:
    """One-to-one links: read from a file, from the cache, or made by our aligner."""
    if settings.links:
        return read_pharaoh(settings.links, bitext).one_to_one()
    make = lambda: _align(bitext, settings, reports)  # noqa: E731
    return kept_links(_links_key(bitext, settings), make)


def kept_links(key: str, make: Callable[[], Links]) -> Links:
    """The links of this key from the cache; made and kept where there are none."""
    path = cache_folder("links") / f"{key}.safetensors"
    kept = kept_arrays(path, {"source": np.uint16, "target": np.uint16, "at": np.int64})
    if kept and Links(**kept).is_consistent():
        return Links(**kept)
    links = make()
    keep_arrays(path, {"source": links.source, "target": links.target, "at": links.at})
    return links


def _align(bitext: Bitext, settings: MakeSettings, reports: Reports) -> Links:
    walk = iter(bitext)
    corpus = encode(walk, reports.pairs)
    if not len(corpus):
        raise TreebridgeError(walk.counts.why_none(), file=str(bitext.paths[0]))
    with Threads(None) as threads:
        aligner = engine(settings.aligner).fit(corpus, threads, reports.align)
        choices = aligner.choices(corpus, threads, reports.align)
        return symmetrize(corpus, choices, settings.symmetrize, threads).one_to_one()


def _walk(bitext: Bitext, links: Links) -> Pairs:
    def walk() -> Iterator[tuple[Pair, LinkArray]]:
        return zip(bitext, links, strict=False)  # a limited bitext may be the longer one's start

    return walk


def _links_key(bitext: Bitext, settings: MakeSettings) -> str:
    """A hash of bitext and all that decides its links."""
    paths = [*bitext.paths, *([settings.links] if settings.links else [])]
    if "-" in map(str, paths):
        raise TreebridgeError("a bitext is walked through several times: give a file, not -")
    how = [bitext.source_language, bitext.language, bitext.engine, bitext.contractions,
           asdict(bitext.filters), bitext.limit, settings.aligner, settings.symmetrize]  # fmt: skip
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
