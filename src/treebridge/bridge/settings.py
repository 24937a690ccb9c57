"""Settings of a bridge, and presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from treebridge.alignment.settings import AlignerName, AlignSettings, Symmetrization
from treebridge.errors import TreebridgeError
from treebridge.seeds import check_seed
from treebridge.settings import check_choices

BridgePreset = Literal["default", "paper"]
AnchorWords = Literal["all", "whole"]
Level = Literal["word", "sense", "occurrence"]
Weighting = Literal["none", "sqrt", "count"]
Map = Literal["auto", "procrustes", "least-squares", "blend", "rcsls"]
Means = Literal["balanced", "occurrences"]
MAX_SENSES = 7  # of a word


@dataclass(frozen=True)
class CollectSettings:
    """Which links become occurrences."""

    anchor_words: AnchorWords = "all"  # whole: only words that are a single piece (paper)
    max_per_type: int = 10_000
    min_per_type: int = 5
    held_out: float = 0.02  # share of sentence pairs held out to evaluate the bridge
    seed: int = 0

    def __post_init__(self) -> None:
        check_choices(self)
        check_seed(self.seed)


@dataclass(frozen=True)
class FitSettings:
    """How W is fitted; `paper` normalises the anchors of each side separately, as in the paper."""

    level: Level = "sense"
    isotropy: bool = True
    weighting: Weighting = "count"  # none in the paper
    map: Map = "auto"  # chosen by trees if there is a parser to judge by, otherwise procrustes
    translation: bool = False  # add a translation to the map
    means: Means = "balanced"  # of the target: between those of types and those of occurrences
    paper: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_choices(self)
        check_seed(self.seed)
        if self.map == "rcsls" and self.level == "occurrence":
            raise TreebridgeError(
                "map 'rcsls' compares every pair of anchors; choose level word or sense"
            )
        if self.map == "rcsls" and self.translation:
            raise TreebridgeError("map 'rcsls' has no translation; choose another map")

    def plain(self) -> FitSettings:
        """The same settings with `auto` replaced by what it means without trees to judge by."""
        return replace(self, map="procrustes") if self.map == "auto" else self

    def as_dict(self) -> dict[str, Any]:
        """The settings as saved in config.json."""
        return asdict(self)


@dataclass(frozen=True)
class BridgeSettings:
    """Everything that determines a bridge besides the bitext and the encoders."""

    fit: FitSettings = field(default_factory=FitSettings)
    collect: CollectSettings = field(default_factory=CollectSettings)
    aligner: AlignerName = AlignSettings.aligner
    symmetrize: Symmetrization = AlignSettings.symmetrize
    links: str | None = None  # Pharaoh file to use instead of our aligner
    senses: int = MAX_SENSES  # maximum number of senses per word
    rounds: int = 1  # rounds of alignment; from the second on, with the bridge itself
    check_sides: bool = True  # refuse a bitext whose sides look swapped

    def __post_init__(self) -> None:
        check_choices(self)

    @classmethod
    def preset(cls, name: BridgePreset = "default", **changes: Any) -> BridgeSettings:
        """A preset with changes to fields of this class, of `fit` or of `collect`."""
        if name not in PRESETS:
            raise TreebridgeError(f"unknown preset {name!r}; choose from {', '.join(PRESETS)}")
        return PRESETS[name].changed(**changes)

    def changed(self, **changes: Any) -> BridgeSettings:
        """A copy with some fields changed; `seed` applies to both fit and collect."""
        parts: dict[str, Any] = {}
        for part in ("fit", "collect"):
            inner = getattr(self, part)
            own = {name: changes[name] for name in changes if hasattr(inner, name)}
            parts[part] = replace(inner, **own)
        rest = {name: changes[name] for name in changes if hasattr(self, name)}
        if unknown := [n for n in changes if n not in rest and not _inside(self, n)]:
            raise TypeError(f"a bridge has no setting {unknown[0]!r}")
        return replace(self, **{**parts, **rest})


def _inside(settings: BridgeSettings, name: str) -> bool:
    return hasattr(settings.fit, name) or hasattr(settings.collect, name)


PRESETS: dict[str, BridgeSettings] = {
    "default": BridgeSettings(),
    # Sections 3 and 4 of the paper, with the aligner it names.
    "paper": BridgeSettings(
        fit=FitSettings(weighting="none", map="procrustes", paper=True),
        collect=CollectSettings(anchor_words="whole"),
        aligner="fast-align",
    ),
}
