"""As many threads as the work is worth: small batches are slower with all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL = 256  # words or pieces; threads that wait for less than this spin for longer than it takes


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """Compute with one thread if there are few words or pieces, else with all."""
    before = torch.get_num_threads()
    if size >= SMALL or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
