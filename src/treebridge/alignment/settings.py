"""Word alignment settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treebridge.settings import check_choices

AlignerName = Literal["hmm", "fast-align"]
Symmetrization = Literal[
    "intersection",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "forward",
    "reverse",
]


@dataclass(frozen=True)
class AlignSettings:
    """Which aligner to train, and how to combine its two directions."""

    aligner: AlignerName = "hmm"
    symmetrize: Symmetrization = "intersection"
    one_to_one: bool = True

    def __post_init__(self) -> None:
        check_choices(self)
