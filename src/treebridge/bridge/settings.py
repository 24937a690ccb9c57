"""All that can be chosen about a bridge, and named choices."""

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
Map = Literal["procrustes", "least-squares", "blend", "rcsls"]
MAX_SENSES = 7  # of a word


@dataclass(frozen=True)
class CollectSettings:
    """Which links become occurrences."""

    anchor_words: AnchorWords = "all"  # whole, as in the paper: single pieces
    max_per_type: int = 10_000
    min_per_type: int = 5
    held_out: float = 0.02  # share of the sentence pairs kept apart for judging the bridge
    seed: int = 0

    def __post_init__(self) -> None:
        check_choices(self)
        check_seed(self.seed)


@dataclass(frozen=True)
class FitSettings:
    """How W is fitted; `paper` normalises both sets of anchors by themselves, as the paper does."""

    level: Level = "sense"
    isotropy: bool = True
    weighting: Weighting = "count"  # none in the paper
    map: Map = "procrustes"
    paper: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_choices(self)
        check_seed(self.seed)
        if self.map == "rcsls" and self.level == "occurrence":
            raise TreebridgeError(
                "map 'rcsls' compares all anchors with each other; choose level word or sense"
            )

    def as_dict(self) -> dict[str, Any]:
        """For the folder's config."""
        return asdict(self)


@dataclass(frozen=True)
class BridgeSettings:
    """All that decides a bridge beside bitext and encoders."""

    fit: FitSettings = field(default_factory=FitSettings)
    collect: CollectSettings = field(default_factory=CollectSettings)
    aligner: AlignerName = AlignSettings.aligner
    symmetrize: Symmetrization = AlignSettings.symmetrize
    links: str | None = None  # a Pharaoh file instead of our aligner
    senses: int = MAX_SENSES  # most senses a word can have
    rounds: int = 1  # rounds of alignment; after the first, with the bridge itself
    check_sides: bool = True  # refuse a bitext whose sides look swapped

    def __post_init__(self) -> None:
        check_choices(self)

    @classmethod
    def preset(cls, name: BridgePreset = "default", **changes: Any) -> BridgeSettings:
        """A named choice; changes are fields of this class, of `fit` or of `collect`."""
        if name not in PRESETS:
            raise TreebridgeError(f"preset {name!r} is not known; choose from {', '.join(PRESETS)}")
        return PRESETS[name].changed(**changes)

    def changed(self, **changes: Any) -> BridgeSettings:
        """The same with some fields changed; `seed` is that of both fit and collect."""
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
    # Sections 3 and 4 of the paper, and the aligner that it names.
    "paper": BridgeSettings(
        fit=FitSettings(weighting="none", paper=True),
        collect=CollectSettings(anchor_words="whole"),
        aligner="fast-align",
    ),
}
