"""Valid seeds."""

from __future__ import annotations

from treebridge.errors import TreebridgeError

# The 64-bit seed of an epoch has the seed in its upper 24 bits and the epoch below.
LIMIT = 1 << 24


def check_seed(seed: int) -> None:
    """Refuse a seed that not all random number generators accept."""
    if not 0 <= seed < LIMIT:
        raise TreebridgeError(f"seed is {seed}; expected a number from 0 to {LIMIT - 1:,}")
