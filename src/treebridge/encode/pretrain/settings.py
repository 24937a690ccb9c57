"""All that can be chosen about pre-training."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from treebridge.errors import TreebridgeError
from treebridge.seeds import check_seed
from treebridge.settings import check_choices

Start = Literal["informed", "random"]
# From the smallest that works to far beyond what anyone trains: what lies outside is a slip.
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
    """The size of the encoder and how it is trained; what stands here suits an hour on a laptop."""

    vocabulary: int = 12_000  # pieces, special ones included
    cased: bool = True
    layers: int = 4
    hidden: int = 256
    heads: int = 4
    feed_forward: int = 1024
    length: int = 128  # pieces in a row, and the most the encoder will take at once
    batch: int = 1024  # pieces in a batch of one process; small batches take more steps an hour
    masked: float = 0.3  # the share of words to be guessed
    learning_rate: float = 7e-4
    warm_up: float = 0.02  # the share of the budget until that rate is reached
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    max_norm: float = 1.0  # of the gradient
    start: Start = "informed"  # see starts.py; or random
    minutes: float = 60.0  # of training; the rate falls to nothing when they are over
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
                f"{self.heads} heads do not share {self.hidden} dimensions in even parts; "
                f"take --heads {max(1, self.hidden // 64)}"
            )
        if self.batch < self.length:
            raise TreebridgeError(
                f"a batch of {self.batch} pieces has no room for a row of {self.length}; "
                "a batch needs at least one row"
            )
        if not 0 < self.masked < 1:
            raise TreebridgeError(f"--masked {self.masked}: a share between 0 and 1")
        if not self.tokens and not self.minutes:
            raise TreebridgeError("training needs a budget: minutes or tokens above 0")
        check_seed(self.seed)

    def config(self) -> dict[str, Any]:
        """For a file of JSON."""
        return {**asdict(self), "betas": list(self.betas)}

    def identity(self) -> dict[str, Any]:
        """What must be the same for an interrupted run to go on; its budget may be changed."""
        return {k: v for k, v in self.config().items() if k not in ("minutes", "tokens")}
