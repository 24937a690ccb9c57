"""Choose a bridge by trees: fit the cheap candidates and keep the one that agrees best.

No single map is best for all encoders. Candidates differ in the target means, the kind of map and
the translation; none of them needs new vectors. A candidate replaces the plain bridge (procrustes
without a translation) only if it finds clearly more of the carried arcs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from treebridge.bridge.bridge import Bridge
from treebridge.bridge.make import Gathered
from treebridge.bridge.rounds import bridge_in_rounds
from treebridge.bridge.settings import BridgeSettings, FitSettings, Map, Means
from treebridge.parse.agreement import Agreement, Trial, held_out_pairs
from treebridge.parse.forecast import Profile
from treebridge.parse.judge import judged
from treebridge.parse.parser import Parser

# Agreement is measured on the bitext, whose means suit its own domain: on Portuguese it preferred
# them by half a point of LAS where other text lost one. Smaller gains say nothing.
MIN_GAIN = 1.0


class Text(NamedTuple):
    """Target text like what will be parsed, to forecast the LAS for."""

    name: str
    sentences: Iterable[Sequence[str]]  # words


@dataclass(frozen=True)
class Choice:
    """The chosen settings, the agreement of their bridge, and what else was tried."""

    fit: FitSettings
    agreement: Agreement
    fits: list[FitSettings]  # all candidates, the plain one first
    tried: list[dict[str, Any]]  # of each candidate: settings, agreement, gain over the plain one

    @property
    def why(self) -> str:
        """The choice in one sentence."""
        chosen = next(entry for entry in self.tried if entry["chosen"])
        what = describe_fit(self.fit)
        if chosen["gain"] == 0:
            return f"{what}: none of {len(self.tried) - 1} other maps finds clearly more arcs"
        return (
            f"{what}: finds {chosen['LAS']:.1f} % of the carried arcs, "
            f"{chosen['gain']:+.1f} against procrustes (95 % {chosen['gain_low']:+.1f} to "
            f"{chosen['gain_high']:+.1f})"
        )


def fit_by_trees(
    gathered: Gathered,
    parser: Parser,
    settings: BridgeSettings,
    *,
    judge: Parser | None = None,
    text: Text | None = None,
    sense_report: bool = True,
) -> Bridge:
    """Fit a bridge into the parser's space and judge it by trees; map `auto` is chosen by them.

    `judge` is a parser in the same space that predicts tags, for a parser that needs gold tags.
    The LAS is forecast for `text` or, without it, for text like the bitext.
    """
    judge = judge or parser
    progress = gathered.progress
    pairs = held_out_pairs(gathered.pairs(), settings.collect)
    trial = Trial.prepare(pairs, judge, gathered.target)
    fit, choice = settings.fit, None
    if fit.map == "auto" and trial is not None:
        progress.step("choosing the map by trees")
        choice = choose_fit(gathered, judge, trial, fit)
        progress.say(f"map: {choice.why}")
        fit = choice.fit
    bridge = bridge_in_rounds(
        gathered, parser.space, fit, settings.rounds, sense_report=sense_report
    )
    if trial is not None:
        progress.step("judging by trees")
        bridge.quality["profiles"] = _profiles(gathered, trial, text)
        bridge = judged(judge.across(bridge, gathered.target), trial).bridge or bridge
    if choice is not None:
        bridge.quality |= {"choice": choice.why, "tried": choice.tried}
    return bridge


def _profiles(gathered: Gathered, trial: Trial, text: Text | None) -> dict[str, Any]:
    """Profiles of the bitext and of the text to forecast for."""
    types = set(gathered.occurrences.layout.types)
    bitext = Profile.of((sentence.forms for sentence in trial.sentences), types)
    profiles: dict[str, Any] = {"bitext": bitext._asdict() if bitext else None}
    if text and (found := Profile.of(text.sentences, types)):
        profiles["text"] = {"name": text.name, **found._asdict()}
    return profiles


def candidates(settings: FitSettings) -> list[FitSettings]:
    """The plain settings first, then everything that `auto` tries."""
    plain = replace(settings, map="procrustes", translation=False, means="balanced")
    means: tuple[Means, ...] = ("balanced", "occurrences") if settings.isotropy else ("balanced",)
    maps: tuple[Map, ...] = ("procrustes", "least-squares")
    every = [
        replace(plain, map=kind, translation=translation, means=mean)
        for mean, kind, translation in product(means, maps, (False, True))
    ]
    return [plain, *(fit for fit in every if fit != plain)]


def choose_fit(gathered: Gathered, parser: Parser, trial: Trial, settings: FitSettings) -> Choice:
    """Fit and judge every candidate; the best one, or the plain one if the gain is in doubt."""
    tried: list[tuple[FitSettings, Agreement]] = []
    wanted = candidates(settings)
    for fit in gathered.progress.count(wanted, "maps"):
        bridge = gathered.fit(parser.space, fit)
        tried.append((fit, trial.judge(parser.across(bridge, gathered.target))))
    plain = tried[0][1]
    fit, best = max(tried, key=lambda one: one[1].las)
    _, low, _ = best.gain_over(plain)
    if best.las - plain.las < MIN_GAIN or low <= 0:
        fit, best = tried[0]
    entries = [_entry(one, agreement, plain, fit) for one, agreement in tried]
    return Choice(fit, best, wanted, entries)


def describe_fit(fit: FitSettings) -> str:
    """The choices of a candidate in words."""
    means = ", means of occurrences" if fit.means == "occurrences" else ""
    return f"{fit.map}{' with a translation' if fit.translation else ''}{means}"


def _entry(
    fit: FitSettings, agreement: Agreement, plain: Agreement, chosen: FitSettings
) -> dict[str, Any]:
    gain, low, high = agreement.gain_over(plain)
    return {
        "map": fit.map,
        "translation": fit.translation,
        "means": fit.means,
        "UAS": agreement.uas,
        "LAS": agreement.las,
        "UPOS": agreement.upos,
        "gain": gain,
        "gain_low": low,
        "gain_high": high,
        "chosen": fit == chosen,
    }
