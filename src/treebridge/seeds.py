"""Which seeds there are."""

from __future__ import annotations

from treebridge.errors import TreebridgeError

# An epoch's random numbers come from the seed in the upper 24 bits of 64 and the epoch below.
LIMIT = 1 << 24


def check_seed(seed: int) -> None:
    """Refuse a seed that some random number generator on the way cannot take."""
    if not 0 <= seed < LIMIT:
        raise TreebridgeError(f"seed {seed}: choose a number from 0 to {LIMIT - 1:,}")
