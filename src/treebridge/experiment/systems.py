"""The rows of the table, each a named system.

A row says which encoder it uses, whether its parser's space is isotropic, and how it crosses. To
add a row, add it to SYSTEMS; a way of crossing that is not there yet is a class in `crossing.py`.

The four rows of the paper follow the paper: anchors are means of raw vectors; `+in` rows normalise
both sets of anchors by themselves (equation 3), and target vectors later with the means of the
target's anchors; their parser is trained on vectors normalised over the treebank. The other two
have no normalisation anywhere. Where the paper's authors did otherwise than the paper says, an
option of the table tells (`--isotropy-from input`, `--aligner fast-align`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treebridge.bridge.settings import BridgeSettings
from treebridge.errors import TreebridgeError
from treebridge.experiment.refining import Refined
from treebridge.experiment.transfer import AnchorMean, Crossing, Fitted, Straight, Unmapped


@dataclass(frozen=True)
class System:
    """A row; rows with the same encoder and isotropy share one source parser for each seed."""

    name: str
    about: str
    crossing: Crossing
    encoder: str = "own"  # the role of the encoders, of source and target alike
    isotropy: bool = False  # whether the parser's space is isotropic


def _paper(level: str, isotropy: bool) -> Fitted:
    return Fitted(BridgeSettings.preset("paper", level=level, isotropy=isotropy))


_ALL = (
    System("delexicalized", "tags alone (McDonald et al. 2011)", Straight(), "blank"),
    System("fasttext", "static vectors that are aligned already", Unmapped(), "vectors"),
    System(
        "fasttext-rcsls",
        "static vectors, mapped by RCSLS on linked words",
        Fitted(BridgeSettings.preset(level="word", isotropy=False, map="rcsls")),
        "vectors",
    ),
    System("multilingual-uncased", "mBERT uncased, no map", Straight(), "multilingual-uncased"),
    System("multilingual", "one multilingual encoder (mBERT cased), no map", Straight(),
           "multilingual"),
    System("unmapped", "two monolingual encoders, no map", Unmapped()),
    System("anchor-mean", "means by dictionary (Schuster et al. 2019)", AnchorMean()),
    System("word", "word-level anchors (paper)", _paper("word", False)),
    System("sense", "sense-level anchors (paper)", _paper("sense", False)),
    System("word+in", "word-level anchors, isotropy (paper)", _paper("word", True), isotropy=True),
    System("sense+in", "sense-level anchors, isotropy (paper)", _paper("sense", True),
           isotropy=True),
    System("treebridge", "ours: the bridge leads into the parser's own space",
           Fitted(), isotropy=True),
    System("self-trained", "ours, self-trained on its most confident parses",
           Refined(links=False), isotropy=True),
    System("refined", "ours, refined on trees projected over the links",
           Refined(), isotropy=True),
)  # fmt: skip
SYSTEMS = {system.name: system for system in _ALL}
# What a table has unless it is told: the paper's rows, the simplest baselines, and ours.
DEFAULT = tuple(name for name in SYSTEMS if name not in ("fasttext-rcsls", "anchor-mean"))


def choose_systems(names: Sequence[str] | None, tags: str) -> list[System]:
    """Systems by name; by default those that make sense with these tags."""
    if names is None:
        names = [name for name in DEFAULT if tags == "gold" or name != "delexicalized"]
    if unknown := [name for name in names if name not in SYSTEMS]:
        raise TreebridgeError(f"there is no system {unknown[0]!r}; there are {', '.join(SYSTEMS)}")
    return [SYSTEMS[name] for name in dict.fromkeys(names)]
