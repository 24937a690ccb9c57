"""Pre-training settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from treebridge.errors import TreebridgeError
from treebridge.seeds import check_seed
from treebridge.settings import check_choices

TAUGHT_PAIRS = 30_000  # sentence pairs that a teacher uses
Start = Literal["informed", "random"]
# From the smallest value that works to far beyond common use; anything outside is a mistake.
LIMITS: dict[str, tuple[float, float]] = {
    "vocabulary": (100, 1_000_000),
    "layers": (1, 100),
    "hidden": (2, 10_000),
    "heads": (1, 1000),
    "feed_forward": (1, 100_000),
    "length": (8, 10_000),
    "batch": (8, 10_000_000),
    "learning_rate": (1e-12, 1.0),
    "minutes": (0, 1_000_000),
    "tokens": (0, 10**15),
}


@dataclass(frozen=True)
class PretrainSettings:
    """Size and training of the encoder; the defaults suit an hour on a laptop."""

    vocabulary: int = 12_000  # pieces, including special ones
    cased: bool = True
    layers: int = 4
    hidden: int = 256
    heads: int = 4
    feed_forward: int = 1024
    length: int = 128  # pieces per row, and the encoder's maximum length
    batch: int = 1024  # pieces per batch and process; small batches allow more steps per hour
    masked: float = 0.3  # share of words to mask
    learning_rate: float = 7e-4  # peak
    warm_up: float = 0.02  # share of the budget until the peak
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    max_norm: float = 1.0  # of the gradient
    start: Start = "informed"  # see initialization.py
    minutes: float = 60.0  # of training; the learning rate decays to 0
    tokens: int = 0  # pieces to train on, instead of minutes
    seed: int = 1

    def __post_init__(self) -> None:
        check_choices(self)
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if not least <= value <= most:  # nan is in no range
                wanted = f"between {least:,} and {most:,}"
                raise TreebridgeError(f"{name.replace('_', ' ')} is {value}; expected {wanted}")
        if self.hidden % self.heads or self.hidden // self.heads % 2:
            raise TreebridgeError(
                f"{self.hidden} dimensions cannot be divided into {self.heads} heads of even size; "
                f"use {max(1, self.hidden // 64)} heads"
            )
        if self.batch < self.length:
            raise TreebridgeError(
                f"a batch of {self.batch} pieces is shorter than a row of {self.length}; "
                "increase the batch or reduce the length"
            )
        if not 0 < self.masked < 1:
            raise TreebridgeError(f"masked is {self.masked}; expected a share between 0 and 1")
        if not self.tokens and not self.minutes:
            raise TreebridgeError("training needs a budget: minutes or tokens above 0")
        check_seed(self.seed)

    def config(self) -> dict[str, Any]:
        """Return the settings as JSON-serializable values."""
        return {**asdict(self), "betas": list(self.betas)}

    def identity(self) -> dict[str, Any]:
        """Return the settings that a resumed run must share; the budget may change."""
        return {k: v for k, v in self.config().items() if k not in ("minutes", "tokens")}
