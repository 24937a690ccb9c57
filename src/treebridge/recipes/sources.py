"""Which further treebanks would help a target language? Ranked without a target tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.make import find_links
from treebridge.bridge.settings import BridgeSettings
from treebridge.corpus.bitext import Bitext
from treebridge.corpus.conllu import Treebank
from treebridge.corpus.sentence import Sentence
from treebridge.encode.settings import EncoderSettings
from treebridge.errors import TreebridgeError
from treebridge.parse.agreement import Trial, held_out_pairs
from treebridge.parse.nearness import WordOrderProfile
from treebridge.parse.parser import Parser
from treebridge.parse.probe import Gain, probe
from treebridge.parse.refinement import source_parser
from treebridge.parse.several import Source, automatic_weights
from treebridge.progress import QUIET, Progress
from treebridge.recipes.also import Also
from treebridge.recipes.text import words_of

SENTENCES = 500  # of the target text to parse
FAR = 0.25  # the nearness of a source that is no nearer than the first treebank


@dataclass(frozen=True)
class Candidate:
    """A treebank with what speaks for it."""

    source: Source
    also: Also
    order: float  # arcs of the target that point the same way in this treebank, in percent
    labels: float  # overlap of the distributions of labels, in percent
    bridge: float | None  # carried arcs that the parser finds across the candidate's own bridge
    first_order: float | None  # the same as `order` for the first treebank, if it is known
    gain: Gain | None = None  # in carried arcs of the target, after a short lesson
    forecast: float | None = None  # LAS of the parser as it is, if the target's bridge has one

    @property
    def expected(self) -> float | None:
        """The LAS to expect with this treebank: a forecast grows as agreement does."""
        if self.gain is None or self.forecast is None:
            return None
        return min(100.0, self.forecast + max(0.0, self.gain.gain))

    @property
    def helps(self) -> bool | None:
        """Whether to use it: what was learned says so, or its word order; None if neither can."""
        if self.harms:
            return False
        nearer = None if self.first_order is None else self.order > self.first_order
        if self.gain is None:
            return nearer
        return self.gain.low > 0 or bool(nearer)

    @property
    def harms(self) -> bool:
        """Whether the parser clearly finds fewer arcs after a lesson from it."""
        return self.gain is not None and self.gain.high < 0

    @property
    def rank(self) -> tuple[bool, float, float]:
        """Word order comes before the gain.

        Carried arcs are annotated as the first treebank is, so the gain misses what a related
        language knows better: on Portuguese and Spanish, word order foretold the true gains.
        """
        return not self.harms, self.order, self.gain.gain if self.gain else 0.0


@dataclass(frozen=True)
class Ranking:
    """Candidates, the most useful first."""

    candidates: list[Candidate]
    target: str | None  # its language
    judged: bool  # by carried arcs, not only by word order


def rank_sources(
    model: str | Path,
    bridge: str | Path | None,
    candidates: Sequence[Also],
    *,
    treebank: str | Path | None = None,
    bitext: Bitext | None = None,
    text: Sequence[str] = (),
    linking: BridgeSettings | None = None,
    encoding: EncoderSettings | None = None,
    progress: Progress = QUIET,
) -> Ranking:
    """Rank further treebanks for the target of a bridge into the model's space.

    Word order ranks them. With `bitext`, that of the target, each candidate also teaches the parser
    for a minute, to see how many more carried arcs it then finds; `treebank`, the parser's own,
    keeps it from forgetting, and one that clearly does harm comes last. Labels are compared with
    those of `text` or, without it, with those that links carried over.
    """
    encoding = encoding or EncoderSettings()
    parser = Parser.load(model, encoder_settings=encoding, bridge=bridge)
    if parser.bridge is None:
        raise TreebridgeError(
            "ranking sources needs the bridge of the target language", file=str(model)
        )
    first = list(Treebank.read(treebank)) if treebank else []
    trial = None
    if bitext is not None:
        trial = _trial(parser, bitext, linking or BridgeSettings(), progress)
    progress.step("comparing treebanks")
    loaded = [(one, one.load(encoding)) for one in candidates]
    for _, source in loaded:
        source.check(parser.space)
    order = _target_order(parser.bridge)
    labels = _text_labels(parser, text, progress) if text else order
    own = order.same_order(WordOrderProfile.of_trees(first)) if first else None
    before = trial.judge(parser) if trial else None
    found = []
    for also, source in loaded:
        profile = WordOrderProfile.of_trees(source.trees)
        gain = None
        if trial is not None and before is not None:
            progress.step(f"learning from {source.name}")
            gain = probe(parser, source, trial, before, first, progress)
        found.append(Candidate(
            source, also, order.same_order(profile), labels.same_labels(profile),
            source.bridge.quality.get("projected", {}).get("LAS"), own, gain,
            parser.bridge.quality.get("forecast", {}).get("LAS"),
        ))  # fmt: skip
    found.sort(key=lambda one: one.rank, reverse=True)
    return Ranking(found, parser.language, trial is not None)


def join(
    also: Sequence[Also],
    sources: Sequence[Source],
    weights: Sequence[float] | None,
    target: Bridge | None,
    first: Sequence[Sentence],
) -> tuple[list[Source], list[float] | None]:
    """The sources to train on beside the treebank `first`, and their weights; None for automatic.

    Those that are to be chosen are used if their word order is nearer to the target's than that of
    the first treebank. If the target is known, nearer ones get more weight.
    """
    if target is None or not also:
        if not all(one.sure for one in also):
            raise TreebridgeError(
                "choosing treebanks from a folder needs the bridge of the target language"
            )
        return list(sources), None if weights is None else list(weights)
    if not first and not all(one.sure for one in also):
        raise TreebridgeError("choosing treebanks from a folder needs the first treebank too")
    if weights is not None and not all(one.sure for one in also):
        raise TreebridgeError("weights cannot be given for treebanks that are chosen from a folder")
    order = _target_order(target)
    own = order.same_order(WordOrderProfile.of_trees(first))
    chosen, near = [], []
    for one, source in zip(also, sources, strict=True):
        saved = order.same_order(WordOrderProfile.of_trees(source.trees)) - own
        if one.sure or saved > 0:
            chosen.append(source)
            # Half of the first treebank's distance saved is near.
            near.append(min(1.0, max(FAR, 2 * saved / max(100 - own, 1e-9))))
    if weights is not None:
        return chosen, list(weights)
    words = [sum(map(len, trees)) for trees in (first, *(source.trees for source in chosen))]
    return chosen, automatic_weights(words, near)


def _target_order(bridge: Bridge) -> WordOrderProfile:
    if (order := WordOrderProfile.of_bridge(bridge)) is None:
        raise TreebridgeError(
            "the target's bridge does not know the word order of its language; fit it again into "
            "a parser that predicts tags"
        )
    return order


def _trial(
    parser: Parser, bitext: Bitext, linking: BridgeSettings, progress: Progress
) -> Trial | None:
    links = find_links(bitext, linking, progress)
    held = held_out_pairs(zip(bitext, links, strict=False), linking.collect)
    return Trial.prepare(held, source_parser(parser), parser.load_encoder())


def _text_labels(parser: Parser, text: Sequence[str], progress: Progress) -> WordOrderProfile:
    """The labels of a target text, as the parser sees them."""
    words = list(islice(words_of(text, parser.language), SENTENCES))
    progress.step(f"parsing {len(words):,} sentences")
    return WordOrderProfile.of_trees(parser(words))
